// Package lumigl parses, validates, edits and formats LumiGL, Lumi's JSON format for desired state, snapshots and other
// graphs of objects.
//
// A LumiGL file is a strict JSON object in one of two forms. A [Graph] has a section "vertices": bags of properties,
// each keyed by an id, that may hold anything and refer to each other in any way:
//
//	{
//	  "vertices": {
//	    "a": {
//	      "children": [
//	        { "#ref": "b" }
//	      ]
//	    },
//	    "b": {}
//	  }
//	}
//
// A [Snapshot] has a section "resources" instead, keyed by URN. A resource has a type, properties and, once it exists, the
// id that its provider gave it. Snapshots have no cycles, and every resource comes after those that it refers to, so that
// a file can be loaded in one pass.
//
// The object {"#ref": id} is a reference to another vertex, and {"#ref": id, "property": name} one to a property of it
// that is known once it exists. Where data has a key "#ref" of its own, a file names another one in "ref".
//
// # Reading
//
// [ParseGraph], [ParseSnapshot] and [Parse], which takes either, accept valid files only. The error for others is an
// *[InvalidError] with every [Fault] in the order of the text, each with its line, column and JSON pointer. A fault that
// can be fixed in one way only has a [Fix].
//
// # Building
//
// [Graph.Add] and [Snapshot.Add] make vertices, whose properties are a [Value]: [ObjectOf] makes one of members that are
// at hand, an [ObjectBuilder] one whose keys come one after another, and [Value.With] changes a key of one.
// [Graph.Clone] copies a graph, [Graph.Rename] changes a key and all references to it, and [Graph.Remove] removes vertices.
//
// # Walking
//
// An [Index] knows what each vertex depends on and what depends on it, sorts vertices topologically, finds those that are
// ready, and walks the graph in parallel, dependencies first or, for deletion, dependents first.
//
// # Writing
//
// [Append] writes the canonical text: the same graph gives the same bytes, and a canonical file that is read and
// written again stays as it is. Snapshots are in topological order, then by URN, with the keys of objects sorted; the
// vertices of general graphs, and the keys in them, stay as they came. Numbers keep all their digits.
//
// The format comes from the design note on graphs. Where that leaves something open, docs/lumigl.md decides.
package lumigl
