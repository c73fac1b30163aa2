package diff

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/lumigl"
)

// This file makes values of what documents have beside properties, so that all of it is compared alike. They look as in
// a file.

// header is what stands beside the vertices.
func header(doc lumigl.Document) lumigl.Value {
	var h members
	g := doc.Base()
	if tag := lumigl.TagOf(doc); tag != lumigl.DefaultTag {
		h.text("ref", tag)
	}
	if s, ok := doc.(*lumigl.Snapshot); ok {
		h.text("package", s.Package)
		h.add("args", s.Args)
		h.text("lineage", s.Lineage)
		if s.Serial != 0 {
			serial, _ := lumigl.NumberOf(strconv.FormatUint(s.Serial, 10))
			h.add("serial", serial)
		}
		h.add("pending", pendingValue(&s.Pending))
	}
	for _, f := range g.Fields {
		h.add(f.Key, f.Value)
	}
	return lumigl.ObjectOf(h...)
}

func pendingValue(p *lumigl.Pending) lumigl.Value {
	var lists members
	if len(p.Deletes) > 0 {
		deletes := make([]lumigl.Value, 0, len(p.Deletes))
		for _, r := range p.Deletes {
			deletes = append(deletes, lumigl.ObjectOf(pendingResource(nil, r)...))
		}
		lists.add("deletes", lumigl.ListOf(deletes...))
	}
	if len(p.Operations) > 0 {
		operations := make([]lumigl.Value, 0, len(p.Operations))
		for _, o := range p.Operations {
			var head members
			head.text("operation", string(o.Kind))
			operations = append(operations, lumigl.ObjectOf(pendingResource(head, o.Resource)...))
		}
		lists.add("operations", lumigl.ListOf(operations...))
	}
	if len(lists) == 0 {
		return lumigl.Value{}
	}
	return lumigl.ObjectOf(lists...)
}

func pendingResource(head members, r *lumigl.Vertex) members {
	head.text("urn", r.Key())
	for key, v := range resourceValue(r).Members() {
		head.add(key, v)
	}
	return head
}

// resourceValue is what a resource has.
func resourceValue(r *lumigl.Vertex) lumigl.Value {
	var all members
	all.text("type", string(r.Type))
	all.text("id", r.ID)
	all.add("properties", bag(r.Properties))
	all.add("extensions", r.Extensions)
	return lumigl.ObjectOf(all...)
}

// bag is a bag of properties, which is an object even if it is not there.
func bag(properties lumigl.Value) lumigl.Value {
	if !properties.Exists() {
		return lumigl.ObjectOf()
	}
	return properties
}

// members collects those of an object, without the ones that say nothing.
type members []lumigl.Member

func (m *members) add(key string, v lumigl.Value) {
	if v.Exists() {
		*m = append(*m, lumigl.Member{Key: key, Value: v})
	}
}

func (m *members) text(key, s string) { m.add(key, textOf(s)) }

// textOf is a string, or absent if that is empty.
func textOf(s string) lumigl.Value {
	if s == "" {
		return lumigl.Value{}
	}
	return lumigl.TextOf(s)
}

// sortedMembers are an object's by key.
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
