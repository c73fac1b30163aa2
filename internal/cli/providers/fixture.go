package providers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// fixture is the input of 'lumi provider test'. It is a LumiGL graph with one vertex per resource or call, so that references
// are written and checked as usual. It is documented in docs/conformance.md.
type fixture struct {
	*document.File
	configuration providertest.Properties // nil if the provider is not configured
	// resources are in file order, except that dependencies precede their dependents.
	resources []*fixtureResource
}

type fixtureResource struct {
	vertex  *lumigl.Vertex
	pointer string
	fixtureKeys
	// bags lists all property bags of the resource. Their values remain [lumigl.Value]s until the resource is tested,
	// since they may refer to outputs of other resources.
	bags  []providertest.Properties
	needs []*fixtureResource
	trial *providertest.Trial // nil until the resource is tested
}

// fixtureKeys holds the keys of a resource in a fixture.
type fixtureKeys struct {
	Type tokens.Type
	Name urnName // empty if the provider names resources of the type
	// Call holds the arguments of a call if Type is a function.
	Call providertest.Properties
	providertest.Life
	Faults []refusal
}

// callKeys lists the keys of a call of a function.
var callKeys = []string{"type", "call", "expect", "computed", "mayBeEmpty", "faults"}

// urnName is a valid last part of a URN.
type urnName string

// refusal is a change to properties that the provider must reject.
type refusal struct {
	Set    providertest.Properties
	Expect []string
}

// requiredKeys lists the required keys of an object, by the type into which it is decoded.
var requiredKeys = map[reflect.Type][]string{
	reflect.TypeFor[fixtureKeys]():              {"type", "create"},
	reflect.TypeFor[refusal]():                  {"set", "expect"},
	reflect.TypeFor[providertest.Change]():      {"set"},
	reflect.TypeFor[providertest.Replacement](): {"set"},
	reflect.TypeFor[providertest.Upgrade]():     {"stored"},
}

// readFixture reads a fixture. If the fixture has errors, it prints them and returns [console.ErrFailed].
func readFixture(con *console.Console, name string) (*fixture, error) {
	doc, err := document.Load(con, name)
	if errors.Is(err, console.ErrWrong) {
		return nil, console.ErrFailed // exit code 1 means that the provider does not conform
	}
	if err != nil {
		return nil, err
	}
	f := &fixture{File: doc}
	r := fixtureReader{src: doc.Src}
	if s, ok := doc.Document.(*lumigl.Snapshot); ok {
		r.faults = append(r.faults, lumigl.Fault{
			Code:    lumigl.FormFault,
			Message: fmt.Sprintf(`a fixture has "vertices", not %q; this is a snapshot of %s`, "resources", console.Count(s.Base().Len(), "resource")),
		})
	} else {
		r.fixture(f)
	}
	return f, refuseFixture(con, f, r.faults)
}

// refuseFixture prints the errors in a fixture and returns [console.ErrFailed]. It returns nil if there are none.
func refuseFixture(con *console.Console, f *fixture, faults []lumigl.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return cmp.Or(document.PrintFaults(con, &f.Input, lumigl.InvalidIn(f.Src, faults), document.SecretsIn(f.Src)), console.ErrFailed)
}

// place is a value in a fixture with its JSON pointer.
type place struct {
	lumigl.Value
	pointer string
}

// fixtureReader decodes a fixture and collects the errors in it.
type fixtureReader struct {
	src    string
	faults []lumigl.Fault
	bags   []providertest.Properties // the property bags of the last resource read
}

func (r *fixtureReader) fixture(f *fixture) {
	for _, m := range f.Base().Fields {
		at := place{m.Value, jsonpointer.Within("", m.Key)}
		if m.Key == "configuration" {
			r.read(at, reflect.ValueOf(&f.configuration).Elem())
		} else {
			r.unknownKey(at, m.Key, []string{"configuration", "ref", "vertices"})
		}
	}
	byVertex := map[*lumigl.Vertex]*fixtureResource{}
	type identity struct {
		token tokens.Type
		name  urnName
	}
	seen := map[identity]*fixtureResource{}
	for v := range f.Base().Vertices() {
		s := &fixtureResource{vertex: v, pointer: jsonpointer.Within("/vertices", v.Key())}
		byVertex[v] = s
		r.bags = nil
		r.read(s.place(), reflect.ValueOf(&s.fixtureKeys).Elem())
		s.bags = r.bags
		if other := seen[identity{s.Type, s.Name}]; s.Name != "" && other != nil {
			r.at(lumigl.ShapeFault, s.part("name"), "%q has the same type and name", other.key())
		}
		seen[identity{s.Type, s.Name}] = s
	}
	if len(byVertex) == 0 {
		r.fault(lumigl.ShapeFault, place{pointer: "/vertices"}, 0, "a fixture must contain a resource to test")
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

func (s *fixtureResource) key() string { return s.vertex.Key() }

func (s *fixtureResource) place() place { return place{s.vertex.Properties, s.pointer} }

// part returns the value of a key of the resource, with its JSON pointer.
func (s *fixtureResource) part(key string) place {
	return place{s.vertex.Properties.Get(key), jsonpointer.Within(s.pointer, key)}
}

// read decodes a JSON value into a variable. Objects are decoded into structs, whose fields are named like the keys,
// and lists into slices, which are never nil.
func (r *fixtureReader) read(at place, into reflect.Value) {
	kinds := map[reflect.Kind]lumigl.Kind{
		reflect.Bool: lumigl.Bool, reflect.String: lumigl.Text, reflect.Slice: lumigl.List,
		reflect.Map: lumigl.Object, reflect.Struct: lumigl.Object,
	}
	if !r.is(at, kinds[into.Kind()]) {
		return
	}
	switch into.Kind() {
	case reflect.Bool:
		value, _ := at.Bool()
		into.SetBool(value)
	case reflect.String:
		r.text(at, into)
	case reflect.Slice:
		into.Set(reflect.MakeSlice(into.Type(), at.Len(), at.Len()))
		for i, value := range at.Elements() {
			r.read(place{value, jsonpointer.Within(at.pointer, strconv.Itoa(i))}, into.Index(i))
		}
	case reflect.Map:
		bag := providertest.Properties{}
		for name, value := range at.Members() {
			bag[name] = value
		}
		into.Set(reflect.ValueOf(bag))
		r.bags = append(r.bags, bag)
	case reflect.Struct:
		r.object(at, into)
	}
}

func (r *fixtureReader) object(at place, into reflect.Value) {
	known := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(into.Type()) {
		if !f.Anonymous {
			known[fixtureTerm(f.Name)] = into.FieldByIndex(f.Index)
		}
	}
	if into.Type() == reflect.TypeFor[fixtureKeys]() && at.Get("call").Exists() {
		maps.DeleteFunc(known, func(key string, _ reflect.Value) bool { return !slices.Contains(callKeys, key) })
	}
	var meant []string // the likely meaning of each unknown key
	for key, value := range at.Members() {
		part := place{value, jsonpointer.Within(at.pointer, key)}
		if field, ok := known[key]; ok {
			r.read(part, field)
		} else {
			meant = append(meant, r.unknownKey(part, key, slices.Sorted(maps.Keys(known))))
		}
	}
	for _, key := range requiredKeys[into.Type()] {
		if _, ok := known[key]; ok && !at.Get(key).Exists() && !slices.Contains(meant, key) {
			r.at(lumigl.ShapeFault, at, "missing key %q", key)
		}
	}
}

// text decodes a type token, the name in a URN, or any other nonempty string.
func (r *fixtureReader) text(at place, into reflect.Value) {
	text, _ := at.Text()
	into.SetString(text)
	var invalid *urn.SyntaxError
	switch into := into.Addr().Interface().(type) {
	case *tokens.Type:
		var err error
		if *into, err = tokens.Parse(text); err != nil {
			r.at(lumigl.TypeFault, at, "type %s", err)
		}
		return
	case *urnName:
		if text != "" && errors.As(urn.CheckName(text), &invalid) {
			r.at(lumigl.URNFault, at, "%s", invalid.Problem)
		}
	}
	if text == "" {
		r.at(lumigl.ShapeFault, at, "expected a non-empty string")
	}
}

// is reports whether a value has the given kind, and records an error if not. A secret does not count as an object.
func (r *fixtureReader) is(at place, kind lumigl.Kind) bool {
	switch {
	case at.IsSecret():
		r.at(lumigl.ShapeFault, at, "expected %s, got a secret: only values of properties can be secret", kind)
	case at.Kind() != kind:
		r.at(lumigl.ShapeFault, at, "expected %s, got %s", kind, at.Kind())
	default:
		return true
	}
	return false
}

// unknownKey records an error for an unknown key. It returns the key that was probably meant, or "" if there is none.
func (r *fixtureReader) unknownKey(at place, key string, known []string) string {
	message := fmt.Sprintf("unknown key %q", key)
	near := suggest.Name(key, known)
	if near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else {
		message += "; expected one of " + strings.Join(known, ", ")
	}
	r.fault(lumigl.ShapeFault, at, keyBefore(r.src, at.Offset()), "%s", message)
	r.faults[len(r.faults)-1].Nearest = near
	return near
}

// at records an error at the start of a value.
func (r *fixtureReader) at(code lumigl.Code, at place, format string, args ...any) {
	r.fault(code, at, at.Offset(), format, args...)
}

func (r *fixtureReader) fault(code lumigl.Code, at place, offset int, format string, args ...any) {
	r.faults = append(r.faults, lumigl.Fault{
		Code: code, Offset: offset, Pointer: at.pointer, Message: fmt.Sprintf(format, args...),
	})
}

// keyBefore returns the offset of the key whose value starts at offset value. Src must be valid JSON.
func keyBefore(src string, value int) int {
	end := strings.LastIndexByte(src[:strings.LastIndexByte(src[:value], ':')], '"')
	for start := end - 1; ; start-- {
		before := src[:start]
		if src[start] == '"' && (len(before)-len(strings.TrimRight(before, `\`)))%2 == 0 {
			return start
		}
	}
}

// fixtureTerm translates a name of the test kit to the corresponding name on the command line, in a fixture, or in the
// protocol.
func fixtureTerm(name string) string {
	switch name {
	case "AllCalls":
		return "--all-calls"
	case "lumi.ErrNotFound":
		return "NOT_FOUND"
	}
	return strings.ToLower(name[:1]) + name[1:]
}
