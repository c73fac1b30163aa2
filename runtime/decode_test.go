package lumi_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

const (
	networkURN urn.URN = "urn:lumi:test::shop:index::feature:net:Network::n1"
	gatewayURN urn.URN = "urn:lumi:test::shop:index::feature:net:Gateway::g1"
)

// full contains all properties of a network that a program can set, with secrets wrapped.
const full = `{
	"name": "n", "cidr": "10.0.0.0/8", "size": 1.5, "open": true, "comment": "", "limit": 0, "public": false,
	"color": "dark-blue", "accent": "red",
	"rules": [{"protocol": "tcp", "fromPort": 1, "toPort": 2, "names": []}, {"protocol": "udp"}], "routes": [],
	"matrix": [[1, 2], []], "required": ["a", ""], "tags": {"a b": "c"}, "colors": {"red": "r"},
	"limits": {"low": {"x": 1, "y": 2, "label": "l"}}, "origin": {"x": 1, "y": 2, "mood": "good"},
	"corner": {"x": 0, "y": 0}, "outline": [{"x": 1, "y": 1}],
	"tree": {"value": "root", "left": {"value": "l"}, "leaves": [{"value": "m"}], "named": {"k": {"value": "n"}}},
	"outer": {"inner": {"secret": {"$sig": "$secret", "value": "s"}}, "type": "t"}, "empty": {},
	"peer": "$network", "gateway": "$gateway", "others": ["$gateway"], "known": {"a": "$network"},
	"parent": "$gateway", "policy": {"a": [1, "two", true, null, {}]}, "document": 5,
	"logo": {"$sig": "$asset", "path": "logo.png"},
	"code": {"$sig": "$archive", "assets": {
		"main.go": {"$sig": "$asset", "uri": "https://example.com/main.go"}, "lib": {"$sig": "$archive", "path": "lib.zip"}
	}},
	"script": {"$sig": "$asset", "text": ""},
	"password": {"$sig": "$secret", "value": "hunter2"}, "seed": "s", "keys": {"$sig": "$secret", "value": {"k": "v"}}
}`

func ptr[T any](v T) *T { return &v }

func fullNetwork() *network {
	return &network{
		Name: "n", CIDR: "10.0.0.0/8", Size: 1.5, Open: true, Comment: ptr(""), Limit: ptr(0.0), Public: ptr(false),
		Color: feature.DarkBlue, Accent: ptr(feature.Red),
		Rules: []testnet.Rule{
			{Protocol: "tcp", FromPort: ptr(1.0), ToPort: ptr(2.0), Names: []string{}}, {Protocol: "udp"},
		},
		Routes: []testnet.Rule{}, Matrix: [][]float64{{1, 2}, {}}, Required: []string{"a", ""},
		Tags: feature.Tags{"a b": "c"}, Colors: map[feature.Color]string{feature.Red: "r"},
		Limits: map[string]feature.Point{"low": {X: 1, Y: 2, Label: ptr("l")}}, Origin: moody(),
		Corner: &feature.Point{}, Outline: feature.Points{{X: 1, Y: 1}},
		Tree: &feature.Tree{
			Value: "root", Left: &feature.Tree{Value: "l"}, Leaves: []feature.Tree{{Value: "m"}},
			Named: map[string]feature.Tree{"k": {Value: "n"}},
		},
		Outer: secretOuter(), Empty: &feature.Empty{},
		Peer: ptr(networkURN), Gateway: gatewayURN, Others: []urn.URN{gatewayURN},
		Known: map[string]urn.URN{"a": networkURN}, Parent: ptr(gatewayURN),
		Policy: map[string]any{"a": []any{1.0, "two", true, nil, map[string]any{}}}, Document: 5.0,
		Logo: ptr(lumi.FileAsset("logo.png")),
		Code: ptr(lumi.AssetArchive(map[string]lumi.Content{
			"main.go": lumi.URIAsset("https://example.com/main.go"), "lib": lumi.FileArchive("lib.zip"),
		})),
		Script: lumi.TextAsset(""), Password: ptr("hunter2"), Seed: ptr("s"), Keys: map[string]string{"k": "v"},
	}
}

// moody and secretOuter set fields of unexported types. They use type inference, since this package cannot name the types.
func moody() feature.Point {
	p := feature.Point{X: 1, Y: 2}
	allocate(&p.Mood, "good")
	return p
}

func secretOuter() *feature.Outer {
	o := &feature.Outer{Type: "t"}
	o.Inner.Secret = ptr("s")
	return o
}

func allocate[E ~string](field **E, value E) { *field = &value }

var sameNetwork = cmp.Options{
	cmp.AllowUnexported(lumi.Asset{}),
	cmp.Comparer(func(a, b lumi.Archive) bool { return a.Equal(b) }),
}

func TestDecodeAllProperties(t *testing.T) {
	got := &network{}
	must.Do(t, lumi.Decode(bag(t, full), got))
	if diff := cmp.Diff(fullNetwork(), got, sameNetwork); diff != "" {
		t.Errorf("Decode (-want +got):\n%s", diff)
	}
}

// The fixture full contains all properties, even after the IDL is extended.
func TestFixtureComplete(t *testing.T) {
	v := reflect.ValueOf(*fullNetwork())
	for _, p := range lumi.Describe(&network{}) {
		if _, ok := bag(t, full).Struct().Fields[p.Name]; !ok && p.Flags&lumi.Out == 0 {
			t.Errorf("the fixture full lacks property %s", p.Name)
		}
	}
	if v.NumField() != len(lumi.Describe(&network{})) {
		t.Errorf("the struct has %d fields, want %d, one for each property", v.NumField(), len(lumi.Describe(&network{})))
	}
}

func TestEncodeAllProperties(t *testing.T) {
	made := must.Get(lumi.Encode(fullNetwork()))(t)
	bags.Set(&made, testnet.Network_ARN, nil) // Encode never omits it, since it is not a pointer.
	want := bag(t, full)
	expect.Equal(t, want.Struct().AsMap(), made.Struct().AsMap(), "encoded")
}

func TestAbsentZeroEmpty(t *testing.T) {
	got := &network{}
	must.Do(t, lumi.Decode(with(t, minimal, `{"limit": 0, "routes": [], "comment": ""}`), got))
	if got.Limit == nil || *got.Limit != 0 || got.Comment == nil || got.Routes == nil || len(got.Routes) != 0 {
		t.Errorf("Decode = %+v, want zero and empty values to be present", got)
	}
	if got.Public != nil || got.Rules != nil || got.Tags != nil || got.Policy != nil || got.Peer != nil {
		t.Errorf("Decode = %+v, want absent values to be nil", got)
	}
	nulls := bag(t, minimal)
	for _, name := range []string{"limit", "rules", "policy", "peer", "nothingSuch", "theEndpoint"} {
		bags.Set(&nulls, name, structpb.NewNullValue())
	}
	if err := lumi.Decode(nulls, &network{}); err != nil {
		t.Errorf("Decode with nulls returned %v, want nil", err)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name, json string
		want       string // all faults, one per line
	}{
		{"a wrong kind deep inside", `{"rules": [{"protocol": "tcp"}, {"protocol": "tcp", "fromPort": "80"}]}`,
			`rules[1].fromPort: expected a number, found a string "80"`},
		{"several at once", `{"cidr": 5, "open": "yes", "size": null, "rules": {}, "tags": [], "color": true}`, `
cidr: expected a string, found a number 5
size: is required, but missing
open: expected a boolean, found a string "yes"
color: expected "red", "green" or "dark-blue", found a boolean true
rules: expected a list, found an object
tags: expected an object, found a list`},
		{"an enum's value", `{"color": "Red", "colors": {"red": "", "greem": ""}}`, `
color: expected "red", "green" or "dark-blue", found a string "Red"; did you mean "red"?
colors.greem: expected "red", "green" or "dark-blue", found a string "greem"; did you mean "green"?`},
		{"unknown properties", `{"cidrBlock": "", "colour": "red", "origin": {"x": 0, "y": 0, "lable": ""}}`, `
origin.lable: no such property; did you mean "label"?
cidrBlock: no such property
colour: no such property; did you mean "color"?`},
		{"properties of the provider", `{"arn": "a", "theEndpoint": "e"}`, `
arn: is set by the provider, not by a program
theEndpoint: is set by the provider, not by a program`},
		{"nulls in lists", `{"required": ["a", null], "others": [null]}`, `
required[1]: an element of a list cannot be null
others[0]: an element of a list cannot be null`},
		{"keys", `{"limits": {"b c": {"x": 0}, "a": {"x": "", "y": 0}}}`, `
limits.a.x: expected a number, found a string ""
limits["b c"].y: is required, but missing`},
		{"capabilities", `{"gateway": "g", "peer": "$gateway", "parent": 5, "known": {"k": "urn:lumi:x"}}`, `
peer: expected a resource of type feature:net:Network, found a resource feature:net:Gateway "g1"
gateway: expected a resource of type feature:net:Gateway, found a string "g"
known.k: expected a resource of type feature:net:Network, found a string "urn:lumi:x"
parent: expected a resource, found a number 5`},
		{"unknown values", `{"cidr": "$unknown", "rules": [{"protocol": "$unknown"}], "policy": ["$unknown"]}`, `
cidr: must be known here, but is not known yet
rules[0].protocol: must be known here, but is not known yet
policy[0]: must be known here, but is not known yet`},
		{"assets", `{"logo": "x", "script": {"$sig": "$asset"}, "code": {"$sig": "$archive", "path": "", "uri": ""}}`, `
logo: expected an asset, found a string "x"
code: expected exactly one of assets, path and uri next to the signature
script: expected one of text, path and uri next to the signature`},
		{"hashes", `{"logo": {"$sig": "$asset", "path": "x", "hash": ""}, "script": {"$sig": "$asset", "uri": "x", "hash": 1},
			"code": {"$sig": "$archive", "assets": {"a": {"$sig": "$asset", "hash": "x"}}, "hash": false}}`, `
logo: expected a value for hash
code.a: expected one of text, path and uri next to the signature
code: expected a string, found a boolean false
script: expected a string, found a number 1`},
		{"members of archives", `{"code": {"$sig": "$archive", "assets": {"a b": "x", "c": {"$sig": "$archive", "assets":
			{"d": {"$sig": "$archive", "assets": []}}}}}}`, `
code["a b"]: expected an asset or an archive, found a string "x"
code.c.d: expected an object, found a list`},
		{"an asset in place of a struct", `{"origin": {"$sig": "$asset", "text": ""}, "document": {"$sig": "x"}}`, `
origin: expected an object, found an asset
document: expected a JSON value, found an object with an unknown signature`},
		{"secrets", `{"password": {"$sig": "$secret", "value": 12345},
			"color": {"$sig": "$secret", "value": "hush"}, "colors": {"$sig": "$secret", "value": {"hush": "x"}},
			"gateway": {"$sig": "$secret", "value": "hush"}, "origin": {"$sig": "$secret", "value": {"hush": 1}}}`, `
color: expected "red", "green" or "dark-blue", found a string
colors[…]: expected "red", "green" or "dark-blue", found a string
origin.x: is required, but missing
origin.y: is required, but missing
origin[…]: no such property
gateway: expected a resource of type feature:net:Gateway, found a string
password: expected a string, found a number`},
		{"more than a value in a secret", `{"comment": {"$sig": "$secret", "value": {"$sig": "$secret", "text": "hush"}},
			"logo": {"$sig": "$asset", "text": {"$sig": "$secret", "value": "x", "hush": 1, "note": null}, "uri": null}}`, `
comment: a secret must contain a value and nothing else
logo: a secret must contain a value and nothing else`},
		{"a secret capability", `{"peer": {"$sig": "$secret", "value": "$gateway"}}`,
			"peer: expected a resource of type feature:net:Network, found a resource"},
		{"no value in a secret", `{"cidr": {"$sig": "$secret"}}`, "cidr: is required, but missing"},
		{"depth", `{"policy": ` + strings.Repeat("[", 105) + strings.Repeat("]", 105) + `}`,
			"policy" + strings.Repeat("[0]", 99) + ": is nested deeper than 100 levels"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			props := bag(t, minimal)
			for key, v := range bag(t, test.json).Struct().Fields {
				bags.Set(&props, key, v)
			}
			err := lumi.Decode(props, &network{})
			var invalid *lumi.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("Decode error = %v, want an *InvalidError", err)
			}
			expect.Equal(t, strings.TrimPrefix(test.want, "\n"), err.Error())
		})
	}
}

func TestDecodeNumbers(t *testing.T) {
	props := bag(t, minimal)
	bags.Set(&props, "size", structpb.NewNumberValue(math.NaN()))
	bags.Set(&props, "document", structpb.NewNumberValue(math.Inf(1)))
	bags.Set(&props, "cidr", structpb.NewStringValue("\xff"))
	want := "cidr: expected valid UTF-8\nsize: expected a number, found NaN\ndocument: expected a number, found Infinity"
	if err := lumi.Decode(props, &network{}); err == nil || err.Error() != want {
		t.Errorf("Decode error = %v, want %s", err, want)
	}
}

func TestEncodeFaults(t *testing.T) {
	n := fullNetwork()
	n.Size, n.CIDR, n.Document, n.Comment = math.NaN(), "\xff", 5, ptr(wire.Unknown)
	n.Others, n.Keys = []urn.URN{"", "hush"}, map[string]string{"hush": "\xff"}
	n.Tags = map[string]string{wire.Signature: "x", "\xff": "y"}
	circle := map[string]any{}
	circle["a"] = circle
	n.Policy = circle
	_, err := lumi.Encode(n)
	want := `the provider returned an invalid result: cidr: is not valid UTF-8
size: is not a finite number
comment: is the reserved string for unknown values
tags["` + wire.Signature + `"]: is a reserved key
tags["\xff"]: is not valid UTF-8
others[0]: an element of a list cannot be absent
others[1]: is not the URN of a resource
policy` + strings.Repeat(".a", 99) + `: is nested deeper than 100 levels
document: must be nil, bool, float64, string, []any, map[string]any, Asset, or Archive; found int
keys[…]: is not valid UTF-8`
	var output *lumi.OutputError
	if !errors.As(err, &output) {
		t.Fatalf("Encode error = %v, want an *OutputError", err)
	}
	expect.Equal(t, want, err.Error())
}

func TestEncodeEnum(t *testing.T) {
	for kind, want := range map[testnet.GatewayKind]string{"": `{}`, "transit": `{"kind": "transit"}`} {
		made, err := lumi.Encode(&gateway{Kind: kind})
		if err != nil || !same(made, bag(t, want)) {
			t.Errorf("Encode of kind %q = %v, %v, want %s", kind, made, err, want)
		}
	}
}

func TestConfig(t *testing.T) {
	var c feature.Config
	err := lumi.Decode(bag(t, `{"region": "eu", "password": {"$sig": "$secret", "value": "p"}}`), &c)
	if err != nil || c.Region != "eu" || *c.Password != "p" {
		t.Errorf("Decode = %+v, %v, want region eu, password p", c, err)
	}
	if err := lumi.Decode(lumi.Bag{}, &c); err == nil || err.Error() != "region: is required, but missing" {
		t.Errorf("Decode of the zero Bag returned %v, want a missing region", err)
	}
}
