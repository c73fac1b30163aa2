package tfserve

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// str, obj, and tuple return values for dynamic attributes.
func str(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }

func obj(attributes map[string]tftypes.Value) tftypes.Value {
	return build(tftypes.DynamicPseudoType, attributes)
}

func tuple(elements ...tftypes.Value) tftypes.Value {
	return build(tftypes.DynamicPseudoType, elements)
}

var null = tftypes.NewValue(tftypes.DynamicPseudoType, nil)

// with returns a value of a shape with some attributes, which may have any type if they are dynamic.
func with(s *shape, attributes map[string]tftypes.Value) tftypes.Value {
	values := map[string]tftypes.Value{}
	for name, typ := range s.typ.(tftypes.Object).AttributeTypes {
		v, ok := attributes[name]
		if values[name] = v; !ok {
			values[name] = tftypes.NewValue(typ, nil)
		}
	}
	return tftypes.NewValue(s.typ, values)
}

func attr(v tftypes.Value, name string) tftypes.Value {
	return native(v).(map[string]tftypes.Value)[name]
}

func changed(bag lumi.Bag, name string, v any) lumi.Bag {
	fields := map[string]*structpb.Value{}
	for key, v := range bag.Struct().GetFields() {
		fields[key] = v
	}
	fields[name] = must1(structpb.NewValue(v))
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

// A change within a dynamic value leaves nulls, lists, and maps next to it as the configuration has them.
func TestOverlayKeepsForm(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	aList := tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{str("a")})
	config := with(s, map[string]tftypes.Value{"rest": obj(map[string]tftypes.Value{
		"null": null, "list": aList, "longer": aList, "mixed": aList, "tuple": tuple(null, str("b")), "gone": null, "set": str("x"), "removed": str("z"),
	})})
	was := s.decodeBag(config)
	now := changed(was, "rest", map[string]any{
		"list": []any{"a"}, "longer": []any{"a", "c"}, "mixed": []any{"a", 1}, "tuple": []any{nil, "d"}, "set": "y", "new": true,
	})
	got := attr(s.overlayBag("1", config, was, now), "rest")
	want := obj(map[string]tftypes.Value{
		"null": null, "list": aList, "tuple": tuple(null, str("d")), "gone": null, "set": str("y"), "new": tftypes.NewValue(tftypes.Bool, true),
		"longer": tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, []tftypes.Value{str("a"), str("c")}),
		"mixed":  tuple(str("a"), tftypes.NewValue(tftypes.Number, 1)),
	})
	if !got.Equal(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	tags := func(all map[string]tftypes.Value) tftypes.Value {
		return with(s, map[string]tftypes.Value{"tags": tftypes.NewValue(s.byName["tags"].typ, all)})
	}
	config = tags(map[string]tftypes.Value{"a": str("1"), "b": str("2"), "null": tftypes.NewValue(tftypes.String, nil)})
	was = s.decodeBag(config)
	got = s.overlayBag(nil, config, was, changed(was, "tags", map[string]any{"b": "3", "c": "4"}))
	if want := tags(map[string]tftypes.Value{"b": str("3"), "c": str("4"), "null": tftypes.NewValue(tftypes.String, nil)}); !got.Equal(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

func TestOverlayClears(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	config := with(s, map[string]tftypes.Value{"rest": tuple(null)})
	was := s.decodeBag(config)
	if cleared := attr(s.overlayBag("1", config, was, lumi.Bag{}), "rest"); !cleared.Equal(null) {
		t.Errorf("%v", cleared)
	}
}

// Secret properties are masked wherever Lumi prints properties.
func TestSecrets(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	login := obj(map[string]tftypes.Value{"user": str("u"), "password": str("hunter2")})
	bag := s.decodeBag(with(s, map[string]tftypes.Value{
		"login": with(s.byName["login"].shape, map[string]tftypes.Value{"password": str("hunter2")}), "grid": tuple(tuple(login)),
		"filter": with(s.byName["filter"].shape, map[string]tftypes.Value{"and": tftypes.NewValue(s.byName["filter"].byName["and"].typ,
			[]tftypes.Value{str(`{"login": {"password": "hunter2"}}`)})}),
	}))
	const want = `{"filter":{"and":[{"login":{"password":"(secret)"}}]},"grid":[[{"password":"(secret)","user":"u"}]],` +
		`"login":{"password":"(secret)"}}`
	if got := bag.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Objects in dynamic values have only the attributes that are set.
func TestDynamicObject(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	grid := tuple(tuple(obj(map[string]tftypes.Value{"user": str("u")})))
	if got := attr(s.encodeBag(nil, s.decodeBag(with(s, map[string]tftypes.Value{"grid": grid}))), "grid"); !got.Equal(grid) {
		t.Errorf("%v\nwant %v", got, grid)
	}
}

func TestReferences(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	target := func(typ string) tftypes.Value {
		return tftypes.NewValue(s.byName["target"].typ, map[string]tftypes.Value{typeName: str(typ), idName: str("i:1")})
	}
	config := with(s, map[string]tftypes.Value{"disk": str("d1"), "target": target("acme:net:VPC")})
	bag := s.decodeBag(config)
	if got := bag.Get("disk"); got != string(urn.ByID("acme:index:Disk", "d1")) {
		t.Error(got)
	}
	if got := bag.Get("target"); got != string(urn.ByID("acme:net:VPC", "i:1")) {
		t.Error(got)
	}
	if got := attr(s.encodeBag(nil, bag), "target"); !got.Equal(target("acme_net_vpc")) {
		t.Error(got)
	}
	if again := s.decodeBag(with(s, map[string]tftypes.Value{"target": target("acme_net_vpc")})).Get("target"); again != bag.Get("target") {
		t.Error(again)
	}
	if got := attr(s.overlayBag(nil, config, bag, bag), "target"); !got.Equal(target("acme:net:VPC")) {
		t.Errorf("%v, want the type that the configuration has", got)
	}
	untyped := tftypes.NewValue(s.byName["target"].typ, map[string]tftypes.Value{
		typeName: tftypes.NewValue(tftypes.String, tftypes.UnknownValue), idName: str("i:1"),
	})
	half := tftypes.NewValue(s.byName["target"].typ, map[string]tftypes.Value{
		typeName: str("acme_disk"), idName: tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
	})
	for _, target := range []tftypes.Value{half, untyped} {
		if got := s.decodeBag(with(s, map[string]tftypes.Value{"target": target})).Get("target"); got != wire.Unknown {
			t.Error(got)
		}
	}
}

// The parts of a recursive struct have the names and ids of OpenTofu, also in JSON.
func TestRecursiveStruct(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	list := func(text ...tftypes.Value) tftypes.Value {
		return tftypes.NewValue(tftypes.List{ElementType: tftypes.String}, text)
	}
	filter := func(and tftypes.Value) tftypes.Value {
		return with(s, map[string]tftypes.Value{"filter": with(s.byName["filter"].shape, map[string]tftypes.Value{"key": str("k"), "and": and})})
	}
	config := filter(list(str(` {"key": "<a>", "and": [{"login": {"user": "u"}}], "nope": 1} `), str("no JSON")))
	bag := s.decodeBag(config)
	const want = `{"filter":{"and":[{"and":[{"login":{"user":"u"}}],"key":"<a>","nope":1},"no JSON"],"key":"k"}}`
	if got := bag.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	one := list(str(`{"and":[{"login":{"user":"u"}}],"key":"\u003ca\u003e"}`))
	if got := s.encodeBag(nil, s.decodeBag(filter(one))); !attr(attr(got, "filter"), "and").Equal(one) {
		t.Error(attr(got, "filter"))
	}
	partly := lumi.BagOf(must.Get(structpb.NewStruct(map[string]any{"filter": map[string]any{"and": []any{map[string]any{"key": wire.Unknown}}}}))(t))
	if got := attr(attr(s.encodeBag(nil, partly), "filter"), "and"); !got.Equal(list(tftypes.NewValue(tftypes.String, tftypes.UnknownValue))) {
		t.Error(got)
	}
}

// Structs that contain each other in all possible ways have small shapes.
func TestManyRecursiveStructs(t *testing.T) {
	all := make([]*schema.Struct, 60)
	for i := range all {
		all[i] = new(schema.Struct)
	}
	for _, s := range all {
		for i, other := range all {
			s.Properties = append(s.Properties, property("a"+strings.Repeat("b", i), ref(other)))
		}
	}
	r := &schema.Resource{Properties: []*schema.Property{property("first", ref(all[0])), property("second", ref(all[1]))}}
	s := newShapes(testNames).resourceSchema(r)
	for _, a := range s.Block.Attributes[:2] {
		for _, inner := range a.NestedType.Attributes {
			if len(a.NestedType.Attributes) != 60 || !tftypes.String.Equal(inner.Type) {
				t.Fatalf("%s has %d attributes; %s is a %v", a.Name, len(a.NestedType.Attributes), inner.Name, inner.Type)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	s := newShapes(testNames).resource(traps())
	config := with(s, map[string]tftypes.Value{
		"logins": tftypes.NewValue(s.byName["logins"].typ, []tftypes.Value{with(s.byName["logins"].elem, nil)}),
	})
	for path, want := range map[lumi.Path]string{
		"count":                `AttributeName("count_")`,
		"proto":                `AttributeName("ip_protocol")`,
		"logins[1].password":   `AttributeName("logins").ElementKeyInt(1).AttributeName("password")`,
		"grid[0][1].user":      `AttributeName("grid")`,
		"filter.and[1].key":    `AttributeName("filter").AttributeName("and").ElementKeyInt(1)`,
		`bundle.assets["a.b"]`: `AttributeName("bundle").AttributeName("assets").ElementKeyString("a.b")`,
		`bundle.assets.x.path`: `AttributeName("bundle").AttributeName("assets").ElementKeyString("x").AttributeName("path")`,
		"target":               `AttributeName("target")`,
		"rest.a":               `AttributeName("rest")`,
		"probe.tcp.port":       `AttributeName("probe").AttributeName("tcp").AttributeName("port")`,
		"logins[x].user":       `AttributeName("logins")`,
		"nope":                 "",
		"":                     "",
	} {
		if got := s.path(path).String(); got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	for path, want := range map[lumi.Path]string{
		"logins[0].password": `AttributeName("logins").ElementKeyInt(0).AttributeName("password")`,
		"logins[1].password": `AttributeName("logins")`,
		"login.password":     `AttributeName("login")`,
	} {
		if got := s.path(path, tftypes.NewValue(s.typ, nil), config).String(); got != want {
			t.Errorf("%s exists up to %s\nwant %s", path, got, want)
		}
	}
}
