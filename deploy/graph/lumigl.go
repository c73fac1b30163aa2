package graph

import (
	"encoding/hex"
	"iter"
	"reflect"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// The properties of a vertex in LumiGL are the exported fields of one of these types or of [Resource], by name in lower
// case. What is zero is left out.
type (
	rootVertex struct {
		Environment, Lineage string
		Modules              []VersionID // the newest versions
		Pending              []Pending
	}
	versionVertex struct {
		Version
		Resources []*Resource
	}
)

// LumiGL returns the graph as a general LumiGL graph: "root", whose "modules" has the newest version of each module; a
// vertex for each version and each resource, keyed as [VersionID.String] and [Resource.Key] return it. Secrets are in it
// as they are in the graph.
//
// References in stored values lead to empty vertices whose keys are URNs: which resource has the URN depends on the
// version.
func (g *Graph) LumiGL() *lumigl.Graph {
	w := writer{&lumigl.Graph{}, map[string]*Resource{}}
	root := rootVertex{Environment: g.Environment, Lineage: g.Lineage}
	w.vertex("root")
	for _, module := range g.Modules() {
		for _, v := range g.versions[module] {
			w.vertex(v.String()).Properties = w.value(versionVertex{*v, v.resources})
			for _, r := range v.resources {
				w.resource(r).Properties = w.value(*r)
			}
		}
		for _, p := range g.pending[module] {
			w.resource(p.Resource).Properties = w.value(*p.Resource)
			root.Pending = append(root.Pending, p)
		}
		if id, ok := g.newest[module]; ok {
			root.Modules = append(root.Modules, id)
		}
	}
	w.vertex("root").Properties = w.value(root)
	return w.doc
}

// writer writes a graph to a document.
type writer struct {
	doc *lumigl.Graph
	// resources has those that are written, by the keys of their vertices.
	resources map[string]*Resource
}

// resource returns the vertex of a resource. A deployment that was retried may have created two with one key, of which the
// first is pending. That has its ID after the key.
func (w writer) resource(r *Resource) *lumigl.Vertex {
	key := r.Key()
	if first := w.resources[key]; first != nil && first != r {
		key = keyWithID(r)
	}
	w.resources[key] = r
	return w.vertex(key)
}

func keyWithID(r *Resource) string { return r.Key() + ":" + r.ID }

// vertex returns the vertex with a key. It adds the vertex if there is none.
func (w writer) vertex(key string) *lumigl.Vertex {
	if v, err := w.doc.Add(key); err == nil {
		return v
	}
	return w.doc.Vertex(key)
}

// value returns the LumiGL form of a Go value.
func (w writer) value(x any) lumigl.Value {
	switch x := x.(type) {
	case VersionID:
		return lumigl.ReferenceTo(w.vertex(x.String()))
	case *Resource:
		return lumigl.ReferenceTo(w.resource(x))
	case Type:
		return w.value(x.Form)
	case lumigl.Value:
		return x.Retarget(func(to *lumigl.Vertex) *lumigl.Vertex { return w.vertex(to.Key()) })
	case []byte:
		return lumigl.TextOf(hex.EncodeToString(x))
	}
	switch x := reflect.ValueOf(x); x.Kind() {
	case reflect.String:
		return lumigl.TextOf(x.String())
	case reflect.Bool:
		return lumigl.BoolOf(x.Bool())
	case reflect.Slice:
		var elements []lumigl.Value
		for i := range x.Len() {
			elements = append(elements, w.value(x.Index(i).Interface()))
		}
		return lumigl.ListOf(elements...)
	case reflect.Struct:
		var members lumigl.ObjectBuilder
		for key, field := range fieldsOf(x) {
			if !field.IsZero() {
				members.Set(key, w.value(field.Interface()))
			}
		}
		return members.Object()
	default:
		return lumigl.IntOf(x.Int())
	}
}

// fieldsOf returns the exported fields of a struct and of those embedded in it, by their keys in LumiGL.
func fieldsOf(x reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for _, f := range reflect.VisibleFields(x.Type()) {
			if f.IsExported() && !f.Anonymous && !yield(strings.ToLower(f.Name), x.FieldByIndex(f.Index)) {
				return
			}
		}
	}
}
