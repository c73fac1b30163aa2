package diff

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/lumigl"
)

// The functions in this file convert the parts of a document other than properties to values of the form used in files,
// so that all parts are compared in the same way.

// header returns an object with the top-level fields other than the vertices.
func header(doc lumigl.Document) lumigl.Value {
	var h lumigl.ObjectBuilder
	if tag := lumigl.TagOf(doc); tag != lumigl.DefaultTag {
		h.Set("ref", lumigl.TextOf(tag))
	}
	if s, ok := doc.(*lumigl.Snapshot); ok {
		h.Set("package", textOf(s.Package))
		h.Set("args", s.Args)
		h.Set("lineage", textOf(s.Lineage))
		if s.Serial != 0 {
			serial, _ := lumigl.NumberOf(strconv.FormatUint(s.Serial, 10))
			h.Set("serial", serial)
		}
		h.Set("pending", pendingValue(&s.Pending))
	}
	for _, f := range doc.Base().Fields {
		h.Set(f.Key, f.Value)
	}
	return h.Object()
}

// pendingValue returns the pending work as in a file, or the absent value if there is none.
func pendingValue(p *lumigl.Pending) lumigl.Value {
	var deletes, operations []lumigl.Value
	for _, r := range p.Deletes {
		deletes = append(deletes, pendingResource("", r))
	}
	for _, o := range p.Operations {
		operations = append(operations, pendingResource(o.Kind, o.Resource))
	}
	var lists lumigl.ObjectBuilder
	if len(deletes) > 0 {
		lists.Set("deletes", lumigl.ListOf(deletes...))
	}
	if len(operations) > 0 {
		lists.Set("operations", lumigl.ListOf(operations...))
	}
	if lists.Len() == 0 {
		return lumigl.Value{}
	}
	return lists.Object()
}

func pendingResource(operation lumigl.OperationKind, r *lumigl.Vertex) lumigl.Value {
	var all lumigl.ObjectBuilder
	all.Set("operation", textOf(string(operation)))
	all.Set("urn", textOf(r.Key()))
	all.SetAll(resourceValue(r))
	return all.Object()
}

// resourceValue returns the contents of a resource except its source position.
func resourceValue(r *lumigl.Vertex) lumigl.Value {
	return lumigl.ObjectOf(
		lumigl.Member{Key: "type", Value: textOf(string(r.Type))},
		lumigl.Member{Key: "id", Value: textOf(r.ID)},
		lumigl.Member{Key: "options", Value: r.Options},
		lumigl.Member{Key: "properties", Value: bag(r.Properties)},
		lumigl.Member{Key: "extensions", Value: r.Extensions},
	)
}

// bag returns properties, or {} if they are absent.
func bag(properties lumigl.Value) lumigl.Value {
	if !properties.Exists() {
		return lumigl.ObjectOf()
	}
	return properties
}

// textOf returns a string, or the absent value if s is empty.
func textOf(s string) lumigl.Value {
	if s == "" {
		return lumigl.Value{}
	}
	return lumigl.TextOf(s)
}

// sortedMembers returns the members of an object sorted by key.
func sortedMembers(v lumigl.Value) []lumigl.Member {
	all := make([]lumigl.Member, 0, v.Len())
	for key, value := range v.Members() {
		all = append(all, lumigl.Member{Key: key, Value: value})
	}
	sortMembers(all)
	return all
}

func sortMembers(all []lumigl.Member) {
	byKey := func(a, b lumigl.Member) int { return cmp.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(all, byKey) {
		slices.SortStableFunc(all, byKey)
	}
}
