package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// fixture is what 'lumi provider test' does with a provider. In a file it is a LumiGL graph with a vertex for each
// resource, so that references are written and checked as everywhere. docs/conformance.md describes it.
type fixture struct {
	*document
	configuration lumigl.Value // absent if the provider is not configured
	// resources are in the order of the file, except that each comes after those that it refers to.
	resources []*fixtureResource
}

// fixtureResource is a resource of a fixture. Its properties are resolved when it is tested, since they may refer to
// outputs of other resources.
type fixtureResource struct {
	*lumigl.Vertex
	pointer string
	token   tokens.Type
	name    string // empty if programs do not name resources of the type

	create, expect       lumigl.Value
	computed, mayBeEmpty []string
	known                []string
	mayDiffer, unknown   []lumi.Path
	ignores              []lumigl.Value
	updates, replaces    []change
	upgrades             []change
	faults               []refusal
	needs                []*fixtureResource

	trial *trial // nil until it is tested
}

// change is a change of a resource: in place, by a replacement, or of what an older version of the provider stored.
type change struct {
	set, expect lumigl.Value
	changes     []string // nil if any will do
	// Replacements have what follows, and upgrades the last.
	because     []lumi.Path // nil if any will do
	deleteFirst bool
	stored      lumigl.Value
}

// refusal is a change to the properties of a resource that the provider must find faults in.
type refusal struct {
	set    lumigl.Value
	faults []string
}

// readFixture reads a fixture. What is wrong with it is printed, and leads to errFailed.
func (e *environment) readFixture(name string) (*fixture, error) {
	doc, err := e.load(name)
	if errors.Is(err, errWrong) {
		return nil, errFailed // since 1 means that the provider is wrong
	}
	if err != nil {
		return nil, err
	}
	f := &fixture{document: doc}
	r := fixtureReader{src: doc.src}
	if s, ok := doc.Document.(*lumigl.Snapshot); ok {
		r.faults = append(r.faults, lumigl.Fault{
			Code:    lumigl.FormFault,
			Message: fmt.Sprintf(`a fixture has "vertices", not %q; this is a snapshot of %s`, "resources", count(s.Base().Len(), "resource")),
		})
	} else {
		r.fixture(f)
	}
	return f, e.refuseFixture(f, r.faults)
}

// refuseFixture prints faults of a fixture. It returns nil if there are none.
func (e *environment) refuseFixture(f *fixture, faults []lumigl.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return cmp.Or(e.printFaults(&f.input, lumigl.InvalidIn(f.src, faults), secretsIn(f.src)), errFailed)
}

// place is a value of a fixture.
type place struct {
	lumigl.Value
	pointer string
}

// fixtureReader collects what is wrong with a fixture.
type fixtureReader struct {
	src    string
	faults []lumigl.Fault
}

func (r *fixtureReader) fixture(f *fixture) {
	for _, m := range f.Base().Fields {
		at := place{m.Value, jsonpointer.Within("", m.Key)}
		if m.Key == "configuration" {
			r.bag(&f.configuration)(at)
		} else {
			r.unknownKey(at, m.Key, []string{"configuration", "ref", "vertices"})
		}
	}
	byVertex := map[*lumigl.Vertex]*fixtureResource{}
	type identity struct {
		token tokens.Type
		name  string
	}
	seen := map[identity]*fixtureResource{}
	for v := range f.Base().Vertices() {
		s := &fixtureResource{Vertex: v, pointer: jsonpointer.Within("/vertices", v.Key())}
		byVertex[v] = s
		r.resource(s)
		if other := seen[identity{s.token, s.name}]; s.name != "" && other != nil {
			r.at(lumigl.ShapeFault, s.part("name"), "%q has the same type and name", other.Key())
		}
		seen[identity{s.token, s.name}] = s
	}
	if len(byVertex) == 0 {
		r.fault(lumigl.ShapeFault, place{pointer: "/vertices"}, 0, "a fixture needs a resource to test")
	}
	index := lumigl.NewIndex(f.Base())
	sorted, err := index.Sorted()
	var circle *lumigl.InvalidError
	if errors.As(err, &circle) {
		first := byVertex[f.Base().Vertex(circle.Faults[0].Circle[0])]
		r.at(lumigl.CycleFault, first.place(), "%s", circle.Faults[0].Message)
	}
	for _, v := range sorted {
		s := byVertex[v]
		for _, needed := range index.Dependencies(v, false) {
			s.needs = append(s.needs, byVertex[needed])
		}
		f.resources = append(f.resources, s)
	}
}

func (s *fixtureResource) place() place { return place{s.Properties, s.pointer} }

// part is the value of a key of the resource.
func (s *fixtureResource) part(key string) place {
	return place{s.Properties.Get(key), jsonpointer.Within(s.pointer, key)}
}

func (r *fixtureReader) resource(s *fixtureResource) {
	r.object(s.place(), members{
		"type":       r.token(&s.token),
		"name":       r.urnName(&s.name),
		"create":     r.bag(&s.create),
		"expect":     r.bag(&s.expect),
		"computed":   listOf(r, &s.computed, r.text),
		"mayBeEmpty": listOf(r, &s.mayBeEmpty, r.text),
		"known":      listOf(r, &s.known, r.text),
		"mayDiffer":  listOf(r, &s.mayDiffer, r.path),
		"unknown":    listOf(r, &s.unknown, r.path),
		"ignores":    listOf(r, &s.ignores, r.bag),
		"updates":    listOf(r, &s.updates, r.change("set", "changes")),
		"replaces":   listOf(r, &s.replaces, r.change("set", "because", "deleteFirst")),
		"upgrades":   listOf(r, &s.upgrades, r.change("stored", "set", "changes")),
		"faults": listOf(r, &s.faults, func(f *refusal) func(place) {
			return func(at place) {
				r.object(at, members{"set": r.bag(&f.set), "expect": listOf(r, &f.faults, r.text)}, "set", "expect")
			}
		}),
	}, "type", "create")
}

// change returns what reads a change with some keys, of which the first is required, and "expect".
func (r *fixtureReader) change(keys ...string) func(*change) func(place) {
	return func(c *change) func(place) {
		all := members{
			"set": r.bag(&c.set), "stored": r.bag(&c.stored), "changes": listOf(r, &c.changes, r.text),
			"because": listOf(r, &c.because, r.path), "deleteFirst": r.flag(&c.deleteFirst),
		}
		known := members{"expect": r.bag(&c.expect)}
		for _, key := range keys {
			known[key] = all[key]
		}
		return func(at place) { r.object(at, known, keys[0]) }
	}
}

// members are the keys of an object, with what reads their values.
type members map[string]func(place)

// object reads an object with known keys.
func (r *fixtureReader) object(at place, known members, required ...string) {
	if !r.is(at, lumigl.Object) {
		return
	}
	var meant []string // by keys that are not known
	for key, value := range at.Members() {
		part := place{value, jsonpointer.Within(at.pointer, key)}
		if read := known[key]; read != nil {
			read(part)
		} else {
			meant = append(meant, r.unknownKey(part, key, slices.Sorted(maps.Keys(known))))
		}
	}
	for _, key := range required {
		if !at.Get(key).Exists() && !slices.Contains(meant, key) {
			r.at(lumigl.ShapeFault, at, "missing key %q", key)
		}
	}
}

// listOf returns a function that reads a list, each element with what read returns. The list is not nil afterwards.
func listOf[T any](r *fixtureReader, into *[]T, read func(*T) func(place)) func(place) {
	return func(at place) {
		if !r.is(at, lumigl.List) {
			return
		}
		*into = make([]T, at.Len())
		for i, value := range at.Elements() {
			read(&(*into)[i])(place{value, jsonpointer.Within(at.pointer, strconv.Itoa(i))})
		}
	}
}

func (r *fixtureReader) bag(into *lumigl.Value) func(place) {
	return func(at place) {
		if r.is(at, lumigl.Object) {
			*into = at.Value
		}
	}
}

func (r *fixtureReader) flag(into *bool) func(place) {
	return func(at place) {
		if r.is(at, lumigl.Bool) {
			*into, _ = at.Bool()
		}
	}
}

// text reads a string that is not empty.
func (r *fixtureReader) text(into *string) func(place) {
	return func(at place) {
		if !r.is(at, lumigl.Text) {
			return
		}
		if *into, _ = at.Text(); *into == "" {
			r.at(lumigl.ShapeFault, at, "expected a string that is not empty")
		}
	}
}

// urnName reads the last part of a URN.
func (r *fixtureReader) urnName(into *string) func(place) {
	return func(at place) {
		var invalid *urn.SyntaxError
		if r.text(into)(at); *into != "" && errors.As(urn.CheckName(*into), &invalid) {
			r.at(lumigl.URNFault, at, "%s", invalid.Problem)
		}
	}
}

func (r *fixtureReader) path(into *lumi.Path) func(place) { return r.text((*string)(into)) }

func (r *fixtureReader) token(into *tokens.Type) func(place) {
	return func(at place) {
		if !r.is(at, lumigl.Text) {
			return
		}
		text, _ := at.Text()
		var err error
		if *into, err = tokens.Parse(text); err != nil {
			r.at(lumigl.TypeFault, at, "type %s", err)
		}
	}
}

// is reports whether a value is of a kind. A secret is not an object here.
func (r *fixtureReader) is(at place, kind lumigl.Kind) bool {
	switch {
	case at.IsSecret():
		r.at(lumigl.ShapeFault, at, "expected %s, found a secret: only values of properties can be secret", kind)
	case at.Kind() != kind:
		r.at(lumigl.ShapeFault, at, "expected %s, found %s", kind, at.Kind())
	default:
		return true
	}
	return false
}

// unknownKey reports a key of an object that is not known, at the key. It returns the key that was probably meant, if any.
func (r *fixtureReader) unknownKey(at place, key string, known []string) string {
	message := fmt.Sprintf("unknown key %q", key)
	near := suggest.Name(key, known)
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else {
		message += "; the keys here are " + strings.Join(known, ", ")
	}
	r.fault(lumigl.ShapeFault, at, keyBefore(r.src, at.Offset()), "%s", message)
	r.faults[len(r.faults)-1].Nearest = near
	return near
}

// at reports a fault at a value.
func (r *fixtureReader) at(code lumigl.Code, at place, format string, args ...any) {
	r.fault(code, at, at.Offset(), format, args...)
}

func (r *fixtureReader) fault(code lumigl.Code, at place, offset int, format string, args ...any) {
	r.faults = append(r.faults, lumigl.Fault{
		Code: code, Offset: offset, Pointer: at.pointer, Message: fmt.Sprintf(format, args...),
	})
}

// keyBefore returns where the key of the value at a place in valid JSON starts.
func keyBefore(src string, value int) int {
	end := strings.LastIndexByte(src[:strings.LastIndexByte(src[:value], ':')], '"')
	for start := end - 1; ; start-- {
		before := src[:start]
		if src[start] == '"' && (len(before)-len(strings.TrimRight(before, `\`)))%2 == 0 {
			return start
		}
	}
}
