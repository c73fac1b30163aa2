package lumi_test

import (
	"maps"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// These aliases have the names of the generated structs in the test provider's package.
type (
	network = testnet.Network_
	route   = testnet.Route_
	gateway = testnet.Gateway_
	marker  = testnet.Marker_
)

// bag decodes properties from JSON with short names for special values.
func bag(tb failer, json string) lumi.Bag {
	tb.Helper()
	json = strings.NewReplacer(
		"$sig", wire.Signature, "$secret", wire.Secret, "$asset", wire.Asset,
		"$archive", wire.Archive, "$unknown", wire.Unknown,
		"$network", "urn:lumi:test::shop:index::feature:net:Network::n1",
		"$gateway", "urn:lumi:test::shop:index::feature:net:Gateway::g1",
	).Replace(json)
	s := &structpb.Struct{}
	must.Do(tb, protojson.Unmarshal([]byte(json), s))
	return lumi.BagOf(s)
}

// with returns a bag of base with the properties in json set. A null removes a property.
func with(tb failer, base, json string) lumi.Bag {
	tb.Helper()
	return over(tb, bag(tb, base), json)
}

// over returns a copy of base with the properties in json set. A null removes a property.
func over(tb failer, base lumi.Bag, json string) lumi.Bag {
	tb.Helper()
	fields := maps.Clone(base.Struct().GetFields())
	maps.Copy(fields, bag(tb, json).Struct().GetFields())
	maps.DeleteFunc(fields, func(_ string, v *structpb.Value) bool { return isNull(v) })
	return lumi.BagOf(&structpb.Struct{Fields: fields})
}

// minimal contains only the required properties of a network.
const minimal = `{
	"name": "n", "cidr": "10.0.0.0/8", "size": 1, "open": false, "color": "red", "required": [],
	"origin": {"x": 0, "y": 0}, "gateway": "$gateway", "document": {}, "script": {"$sig": "$asset", "text": ""}
}`

// text formats properties for comparison.
func text(b lumi.Bag) string {
	return protojson.Format(&structpb.Struct{Fields: normal(structpb.NewStructValue(b.Struct())).GetStructValue().GetFields()})
}

// normal returns a value without secret wrappers and null fields. An asset with unknown content becomes unknown.
func normal(v *structpb.Value) *structpb.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		list := &structpb.ListValue{}
		for _, elem := range k.ListValue.GetValues() {
			list.Values = append(list.Values, normal(elem))
		}
		return structpb.NewListValue(list)
	case *structpb.Value_StructValue:
		fields := k.StructValue.GetFields()
		signature := fields[wire.Signature].GetStringValue()
		if signature == wire.Secret {
			return normal(fields["value"])
		}
		made := map[string]*structpb.Value{}
		for key, field := range fields {
			field = normal(field)
			if signature != "" && field.GetStringValue() == wire.Unknown {
				return lumi.NewUnknown()
			}
			if _, null := field.GetKind().(*structpb.Value_NullValue); !null {
				made[key] = field
			}
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: made})
	case nil:
		return structpb.NewNullValue()
	}
	return v
}

// same reports whether two bags are equal, including secret wrappers.
func same(a, b lumi.Bag) bool { return proto.Equal(a.Struct(), b.Struct()) }

// compare reports differences between two bags.
func compare(t *testing.T, want, got lumi.Bag) {
	t.Helper()
	expect.Equal(t, want.Struct().AsMap(), got.Struct().AsMap())
}
