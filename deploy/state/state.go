// Package state encodes and decodes the engine's stored data, which is LumiGL text with sealed secrets.
//
//	codec := state.Codec{Key: key}
//	g, err := codec.Graph(environment, vertices)                 // the resource graph
//	put, gone, err := codec.Changes(g, after)                    // rows changed by a transition
//
// All values of a vertex are sealed as a single object, so that a sealed secret is valid only in its original place.
// Without the encryption key, a Codec decodes secrets as unknown values and can encode only data without secrets.
package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Codec encodes and decodes data with a key, which may be nil. Its methods return a *[secret.KeyError] if the key is
// missing or wrong. Other errors identify the damaged text.
type Codec struct{ Key *secret.Key }

// open opens a value sealed for the given place. Without a key, it replaces secrets with unknown values.
func (c Codec) open(place urn.URN, v lumigl.Value) (lumigl.Value, error) {
	if c.Key == nil {
		return secret.Hide(v), nil
	}
	return c.Key.Open(place, v)
}

// Most resources have checked properties equal to their inputs. They are stored with "checked" set to true and the
// inputs in the provider's order. If only some checked properties differ, such as defaults, the equal ones are omitted,
// and "given" lists their names.

func compact(resource lumigl.Value) lumigl.Value {
	checked, inputs := resource.Get("checked"), resource.Get("inputs")
	if !checked.Exists() {
		return resource
	}
	if checked.Equal(inputs) {
		return resource.With("inputs", checked).With("checked", lumigl.BoolOf(true))
	}
	var own lumigl.ObjectBuilder
	var given []lumigl.Value
	for name, v := range checked.Members() {
		if v.Equal(inputs.Get(name)) {
			given = append(given, lumigl.TextOf(name))
		} else {
			own.Set(name, v)
		}
	}
	if len(given) == 0 {
		return resource
	}
	return resource.With("checked", own.Object()).With("given", lumigl.ListOf(given...))
}

func expand(resource lumigl.Value) lumigl.Value {
	if resource.Get("checked").Kind() == lumigl.Bool {
		return resource.With("checked", resource.Get("inputs"))
	}
	given := resource.Get("given")
	if !given.Exists() {
		return resource
	}
	var all lumigl.ObjectBuilder
	for _, e := range given.Elements() {
		name, _ := e.Text()
		all.Set(name, resource.Get("inputs").Get(name))
	}
	all.SetAll(resource.Get("checked"))
	return resource.With("checked", all.Object()).With("given", lumigl.Value{})
}

// URN returns the URN of the resource in a row, or "" if the row is not a resource. It decodes only the URN.
func URN(row store.Vertex) urn.URN {
	text, isResource := strings.CutPrefix(row.Text, `{"urn":`)
	var u urn.URN
	if isResource && json.NewDecoder(strings.NewReader(text)).Decode(&u) != nil {
		return ""
	}
	return u
}

// Graph decodes the resource graph of an environment.
func (c Codec) Graph(e store.Environment, rows []store.Vertex) (*graph.Graph, error) {
	if len(rows) == 0 {
		return &graph.Graph{Environment: e.Name, Lineage: e.Lineage}, nil
	}
	var to targets
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = row.Text
		if _, err := to.doc.Add(row.Key); err != nil {
			return nil, err
		}
	}
	values, err := parse(texts, func(i int) string { return rows[i].Key })
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		v, err := c.open(urn.URN(row.Key), to.refer(values.At(i)))
		if err != nil {
			return nil, err
		}
		to.doc.Vertex(row.Key).Properties = expand(v)
	}
	return graph.FromLumiGL(&to.doc)
}

// Changes returns the differences between two graphs: put holds the rows to store, sorted by key, and gone the keys of
// rows to delete. Parts shared by both graphs are skipped.
func (c Codec) Changes(before, after *graph.Graph) (put []store.Vertex, gone []string, err error) {
	vertices, gone := graph.Changes(before, after)
	for _, v := range vertices {
		sealed, err := c.Key.Seal(v.URN(), compact(v.Properties))
		if err != nil {
			return nil, nil, err
		}
		put = append(put, store.Vertex{Key: v.Key(), Text: text(sealed)})
	}
	return put, gone, nil
}

// Resource encodes a resource.
func (c Codec) Resource(r *graph.Resource) (string, error) {
	sealed, err := c.Key.Seal(r.URN, compact(r.LumiGL()))
	return text(sealed), err
}

// Resources decodes resources encoded by [Codec.Resource].
func (c Codec) Resources(texts []string) ([]*graph.Resource, error) {
	name := func(i int) string { return fmt.Sprintf("resource %d", i) }
	values, err := parse(texts, name)
	if err != nil {
		return nil, err
	}
	to, all := &targets{}, make([]*graph.Resource, len(texts))
	for i, v := range values.Elements() {
		u, _ := v.Get("urn").Text()
		if v, err = c.open(urn.URN(u), to.refer(v)); err != nil {
			return nil, err
		}
		if all[i], err = graph.ResourceFromLumiGL(expand(v)); err != nil {
			return nil, fmt.Errorf("%s: %w", name(i), err)
		}
	}
	return all, nil
}

// Desired encodes desired state as a snapshot in canonical order. It omits pending operations.
func (c Codec) Desired(s *lumigl.Snapshot) (string, error) {
	sealed := s.Clone()
	sealed.Pending = lumigl.Pending{}
	if err := each(sealed, c.Key.Seal); err != nil {
		return "", err
	}
	text, err := lumigl.Append(nil, sealed)
	return string(text), err
}

// ParseDesired decodes desired state encoded by [Codec.Desired].
func (c Codec) ParseDesired(text string) (*lumigl.Snapshot, error) {
	s, err := lumigl.ParseSnapshot(text)
	if err != nil {
		return nil, err
	}
	return s, each(s, c.open)
}

// each replaces all values of a snapshot that may contain secrets: resources and the header.
func each(s *lumigl.Snapshot, replace func(urn.URN, lumigl.Value) (lumigl.Value, error)) (err error) {
	for v := range s.Vertices() {
		parts := lumigl.ObjectOf(member("properties", v.Properties), member("extensions", v.Extensions))
		if parts, err = replace(v.URN(), parts); err != nil {
			return err
		}
		v.Properties, v.Extensions = parts.Get("properties"), parts.Get("extensions")
	}
	header, err := replace("desired", lumigl.ObjectOf(append(slices.Clone(s.Fields), member("args", s.Args))...))
	for i, f := range s.Fields {
		s.Fields[i].Value = header.Get(f.Key)
	}
	s.Args = header.Get("args")
	return err
}

// Effects encodes the effects of a plan.
func (c Codec) Effects(effects []plan.Effect) (string, error) {
	all := make([]lumigl.Value, len(effects))
	for i, e := range effects {
		sealed, err := c.Key.Seal(e.URN, lumigl.ObjectOf(
			member("kind", lumigl.TextOf(e.Kind.String())),
			member("urn", lumigl.TextOf(string(e.URN))), member("was", lumigl.TextOf(string(e.Was))),
			member("label", lumigl.TextOf(e.Label)),
			member("possible", lumigl.BoolOf(e.Possible)), member("deleteFirst", lumigl.BoolOf(e.DeleteFirst)),
			member("drift", e.Drift), member("inputs", e.Inputs), member("incarnation", count(e.Incarnation)),
			member("id", textOr(e.ID)), member("results", e.Results), member("referents", e.Referents),
		))
		if err != nil {
			return "", err
		}
		all[i] = sealed
	}
	return text(lumigl.ListOf(all...)), nil
}

// ParseEffects decodes effects encoded by [Codec.Effects].
func (c Codec) ParseEffects(text string) ([]plan.Effect, error) {
	list, err := parser.ParseValue(text)
	if err != nil {
		return nil, err
	}
	to, all := &targets{}, make([]plan.Effect, list.Len())
	for i, v := range list.Elements() {
		e := &all[i]
		e.URN, e.Was = urn.URN(textOf(v, "urn")), urn.URN(textOf(v, "was"))
		e.Label = textOf(v, "label")
		for kind := textOf(v, "kind"); e.Kind.String() != kind; e.Kind++ {
			if e.Kind == plan.Forget {
				return nil, fmt.Errorf("%s: unknown effect kind %q", cmp.Or(e.URN, "the plan"), kind)
			}
		}
		if v, err = c.open(e.URN, to.refer(v)); err != nil {
			return nil, err
		}
		e.Possible, _ = v.Get("possible").Bool()
		e.DeleteFirst, _ = v.Get("deleteFirst").Bool()
		e.Drift, e.Inputs = v.Get("drift"), v.Get("inputs")
		e.ID, e.Results, e.Referents = textOf(v, "id"), v.Get("results"), v.Get("referents")
		incarnation, _ := v.Get("incarnation").Int()
		e.Incarnation = int(incarnation)
	}
	return all, nil
}

// WithoutReads returns effects encoded by [Codec.Effects] without look-ups and calls. It needs no key.
func (Codec) WithoutReads(effects string) (string, error) {
	list, err := parser.ParseValue(effects)
	return text((&targets{}).refer(list).Map(func(_ int, _ string, e lumigl.Value) (lumigl.Value, bool) {
		return lumigl.Value{}, textOf(e, "kind") == plan.Read.String()
	})), err
}

func textOf(v lumigl.Value, key string) string {
	text, _ := v.Get(key).Text()
	return text
}

// textOr returns s as a text, or an absent value for "".
func textOr(s string) lumigl.Value {
	if s == "" {
		return lumigl.Value{}
	}
	return lumigl.TextOf(s)
}

// count returns n as a number, or an absent value for 0.
func count(n int) lumigl.Value {
	if n == 0 {
		return lumigl.Value{}
	}
	return lumigl.IntOf(int64(n))
}

func member(key string, v lumigl.Value) lumigl.Member { return lumigl.Member{Key: key, Value: v} }
