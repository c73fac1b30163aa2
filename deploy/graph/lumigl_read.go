package graph

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// FromLumiGL reads a graph written by [Graph.LumiGL]. Unknown fields and vertices are ignored. The error joins one
// error for each invalid vertex or field. Use [Graph.Check] to check the invariants.
func FromLumiGL(doc *lumigl.Graph) (*Graph, error) {
	r := reader{resources: map[*lumigl.Vertex]*Resource{}, versions: map[*lumigl.Vertex]VersionID{}}
	for v := range doc.Vertices() {
		if v.Properties.Get("urn").Exists() {
			r.resources[v] = r.resource(v.Key(), v.Properties)
			if v.Key() != keyWithID(r.resources[v]) {
				r.checkKey(v, r.resources[v].Key())
			}
		} else if v.Properties.Get("module").Exists() {
			module, _ := v.Properties.Get("module").Text()
			deployment, _ := v.Properties.Get("deployment").Int()
			r.versions[v] = VersionID{module, Deployment(deployment)}
		}
	}
	var root rootVertex
	if v := doc.Vertex("root"); v != nil {
		r.read("root", v.Properties, reflect.ValueOf(&root).Elem())
	} else {
		r.refuse("root", "is missing")
	}
	g := &Graph{
		Environment: root.Environment, Lineage: root.Lineage,
		newest: map[string]VersionID{}, versions: map[string][]*Version{}, pending: map[string][]Pending{},
	}
	for v := range doc.Vertices() {
		if id, ok := r.versions[v]; ok {
			g.versions[id.Module] = append(g.versions[id.Module], r.version(v, root.Environment))
		}
	}
	if len(r.problems) > 0 {
		return nil, errors.Join(r.problems...)
	}
	for _, all := range g.versions {
		slices.SortFunc(all, func(a, b *Version) int { return cmp.Compare(a.Deployment, b.Deployment) })
	}
	for _, id := range root.Modules {
		g.newest[id.Module] = id
	}
	for _, p := range root.Pending {
		module := packageOf(p.Resource.URN)
		g.pending[module] = append(g.pending[module], p)
	}
	return g, nil
}

// ResourceFromLumiGL reads a resource written by [Resource.LumiGL]. The error joins one error for each invalid field.
func ResourceFromLumiGL(v lumigl.Value) (*Resource, error) {
	var r reader
	resource := r.resource("resource", v)
	return resource, errors.Join(r.problems...)
}

type reader struct {
	resources map[*lumigl.Vertex]*Resource
	versions  map[*lumigl.Vertex]VersionID
	problems  []error
}

// refuse records a problem at a path such as "a::1.uses[0].to".
func (r *reader) refuse(at, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s %s", at, fmt.Sprintf(format, args...)))
}

func (r *reader) resource(at string, properties lumigl.Value) *Resource {
	var resource Resource
	r.read(at, properties, reflect.ValueOf(&resource).Elem())
	if p, err := resource.URN.Parts(); err != nil || p.Type == lumigl.ModuleType {
		r.refuse(at+".urn", "must be a resource URN")
	}
	return &resource
}

func (r *reader) version(vertex *lumigl.Vertex, environment string) *Version {
	var read versionVertex
	r.read(vertex.Key(), vertex.Properties, reflect.ValueOf(&read).Elem())
	v := &read.Version
	if _, err := moduleURN(environment, v.Module); err != nil {
		r.refuse(vertex.Key(), "is not a valid version: %v", err)
	}
	r.checkKey(vertex, v.String())
	v.omitted = read.Count
	v.resources, v.byURN = read.Resources, map[urn.URN]*Resource{}
	for _, held := range v.resources {
		if held == nil { // already reported by read
			continue
		}
		if packageOf(held.URN) != v.Module || v.byURN[held.URN] != nil {
			r.refuse(vertex.Key(), "cannot contain %s: it belongs to another module, or its URN is a duplicate", held.Key())
		}
		v.byURN[held.URN] = held
	}
	slices.SortFunc(v.Uses, compareUses)
	slices.SortFunc(v.Provides, compareProvided)
	return v
}

// checkKey records an error if a vertex's key does not match its fields. This check makes keys unique.
func (r *reader) checkKey(v *lumigl.Vertex, key string) {
	if v.Key() != key {
		r.refuse(v.Key(), "must have the key %s to match its fields", key)
	}
}

// read decodes a LumiGL value into x. References and types are required; other fields keep their zero value if absent.
func (r *reader) read(at string, v lumigl.Value, x reflect.Value) {
	to, _, _ := v.Target()
	want, ok := "", true
	switch p := x.Addr().Interface().(type) {
	case *VersionID:
		want = "a reference to a version"
		*p, ok = r.versions[to]
	case **Resource:
		want = "a reference to a resource"
		*p, ok = r.resources[to]
	case *Type:
		want = "a type"
		r.read(at, v, reflect.ValueOf(&p.Form).Elem())
		ok = v.Exists()
	case *lumigl.Value:
		want = "a value that refers only to URNs"
		*p = v.Retarget(func(to *lumigl.Vertex) *lumigl.Vertex {
			if to.Type != "" { // already carries only a URN
				return to
			}
			resource, err := lumigl.NewResource(to.URN())
			ok = ok && err == nil
			return resource
		})
	case *[]byte:
		want = "a hexadecimal string"
		text, isText := v.Text()
		seed, err := hex.DecodeString(text)
		if ok = isText == v.Exists() && err == nil; isText {
			*p = seed
		}
	default:
		if v.Exists() {
			want, ok = r.readKind(at, v, x)
		}
	}
	if !ok {
		r.refuse(at, "must be %s", want)
	}
}

// readKind decodes v into x according to x's kind. It returns a description of the expected value and whether v matches
// it.
func (r *reader) readKind(at string, v lumigl.Value, x reflect.Value) (want string, ok bool) {
	switch x.Kind() {
	case reflect.String:
		text, ok := v.Text()
		x.SetString(text)
		return "a string", ok
	case reflect.Bool:
		set, ok := v.Bool()
		x.SetBool(set)
		return "a boolean", ok
	case reflect.Slice:
		x.Set(reflect.MakeSlice(x.Type(), v.Len(), v.Len()))
		for i, element := range v.Elements() {
			r.read(fmt.Sprintf("%s[%d]", at, i), element, x.Index(i))
		}
		return "a list", v.Kind() == lumigl.List
	case reflect.Struct:
		for key, field := range fieldsOf(x) {
			r.read(at+"."+key, v.Get(key), field)
		}
		return "an object", v.Kind() == lumigl.Object
	default:
		n, ok := v.Int()
		x.SetInt(n)
		return "an integer", ok
	}
}
