package graph

import (
	"encoding/hex"
	"iter"
	"reflect"
	"strings"
	"sync"

	"github.com/lumi-idl/lumi/lumigl"
)

// The properties of a LumiGL vertex are the non-zero exported fields of rootVertex, versionVertex, or [Resource], keyed
// by lowercase field name.
type (
	rootVertex struct {
		Environment, Lineage string
		Modules              []VersionID // the newest versions
		Pending              []Pending
	}
	versionVertex struct {
		Version
		Resources []*Resource
		Count     int // number of resources omitted from an outline
	}
)

// LumiGL returns the graph as a general LumiGL graph. The vertex "root" lists the newest versions under "modules". Each
// version and resource has a vertex with the key [VersionID.String] or [Resource.Key]. The key of a pending resource
// ends with its ID. Secrets are included in plain text.
//
// References in stored values point to empty vertices with a URN as their key, since the resource with that URN depends
// on the version.
func (g *Graph) LumiGL() *lumigl.Graph {
	w := writer{&lumigl.Graph{}}
	w.vertex("root")
	g.unshared(&Graph{}, w.put)
	w.put("root", g.root())
	return w.doc
}

func (g *Graph) root() rootVertex {
	root := rootVertex{Environment: g.Environment, Lineage: g.Lineage}
	for _, module := range g.Modules() {
		if id, ok := g.newest[module]; ok {
			root.Modules = append(root.Modules, id)
		}
		root.Pending = append(root.Pending, g.pending[module]...)
	}
	return root
}

type writer struct{ doc *lumigl.Graph }

// put adds the properties of a vertex unless they are already set.
func (w writer) put(key string, x any) {
	if v := w.vertex(key); !v.Properties.Exists() {
		v.Properties = w.value(x)
	}
}

// keyWithID returns the key of a pending resource. The ID is needed because a retried deployment may have created two
// resources with the same key. The first one is pending.
func keyWithID(r *Resource) string { return r.Key() + ":" + r.ID }

// vertex returns the vertex with the given key, adding it if necessary.
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
		return lumigl.ReferenceTo(w.vertex(x.Key()))
	case Pending:
		to := w.vertex(keyWithID(x.Resource))
		entry := object(field("resource", lumigl.ReferenceTo(to)), field("configuration", w.value(x.Configuration)))
		if x.Held {
			entry = entry.With("held", lumigl.BoolOf(true))
		}
		return entry
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

// fieldsOf returns the exported fields of a struct, including embedded ones, by LumiGL key.
func fieldsOf(x reflect.Value) iter.Seq2[string, reflect.Value] {
	fields, found := fieldsByType.Load(x.Type())
	if !found {
		var all []keyedField
		for _, f := range reflect.VisibleFields(x.Type()) {
			if f.IsExported() && !f.Anonymous {
				all = append(all, keyedField{strings.ToLower(f.Name), f.Index})
			}
		}
		fields, _ = fieldsByType.LoadOrStore(x.Type(), all)
	}
	return func(yield func(string, reflect.Value) bool) {
		for _, f := range fields.([]keyedField) {
			if !yield(f.key, x.FieldByIndex(f.index)) {
				return
			}
		}
	}
}

type keyedField struct {
	key   string
	index []int
}

// fieldsByType caches the result of fieldsOf by type, since reflection dominates its cost.
var fieldsByType sync.Map
