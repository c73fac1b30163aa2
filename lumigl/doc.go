// Package lumigl parses, validates, edits, and formats LumiGL, Lumi's JSON format for desired state, snapshots, and
// other graphs of objects.
//
// A LumiGL file is a strict JSON object in one of two forms. A [Graph] has a section "vertices", which maps ids to
// property objects. Properties may contain any JSON and references to any vertex:
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
// A [Snapshot] has a section "resources" instead, keyed by URN. A resource has a type, properties, and, once it exists,
// the id assigned by its provider. Snapshots have no cycles, and resources follow their dependencies, so a file can be
// loaded in one pass.
//
// The object {"#ref": id} is a reference to another vertex, and {"#ref": id, "property": name} is a reference to one of
// its properties. If the data itself contains a key "#ref", the top-level field "ref" names a different key for
// references.
//
// # Reading
//
// [ParseGraph], [ParseSnapshot], and [Parse], which accepts either form, reject an invalid file with an
// *[InvalidError]. It lists every [Fault] in text order with its line, column, and JSON pointer. A fault has a [Fix] if
// there is only one way to fix it.
//
// # Building
//
// [Graph.Add] and [Snapshot.Add] add vertices. A vertex's properties are a [Value]. [ObjectOf] returns an object with
// the given members, [ObjectBuilder] builds one key by key, and [Value.With] changes a single key. [Graph.Clone] copies
// a graph, [Graph.Rename] changes a key and all references to it, and [Graph.Remove] removes vertices.
//
// # Walking
//
// An [Index] holds the dependencies and dependents of each vertex. It sorts vertices topologically, finds the vertices
// that are ready to be processed, and walks the graph in parallel: dependencies first or, for deletions, dependents
// first.
//
// # Writing
//
// [Append] writes the canonical text. Output is deterministic, and a canonical file survives a round trip unchanged.
// Snapshots are sorted topologically and then by URN, with sorted object keys; general graphs keep the order of
// vertices and keys. Numbers keep all their digits.
//
// docs/lumigl.md specifies the format.
package lumigl
