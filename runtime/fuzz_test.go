package lumi_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

func FuzzDecode(f *testing.F) {
	for _, json := range []string{
		full, minimal, `{}`, `{"rules": [null, {"fromPort": ""}]}`, `{"script": {"$sig": "$asset", "text": "$unknown"}}`,
		`{"cidr": {"$sig": "$secret", "value": {"$sig": "$secret"}}}`, `{"colors": {"red": "$unknown"}}`,
		`{"policy": {"a": [null, {"$sig": "$secret", "value": null}, {"$sig": "$archive", "assets": {}}]}}`,
		`{"outer": {"type": "", "inner": {"secret": "x"}}, "keys": {"a": {"$sig": "$secret", "value": "$unknown"}}}`,
	} {
		f.Add(must.Get(proto.Marshal(with(f, minimal, json).Struct()))(f))
	}
	p := testnet.NewNetworkProvider(&networkOps{})
	f.Fuzz(func(t *testing.T, wire []byte) {
		props := &structpb.Struct{}
		if proto.Unmarshal(wire, props) != nil {
			t.Skip("not a bag")
		}
		checkExactly(t, p, props)
	})
}

// FuzzBags decodes networks with invalid parts, including those that JSON cannot represent: values without a kind, nil
// pointers, and invalid UTF-8.
func FuzzBags(f *testing.F) {
	p := testnet.NewNetworkProvider(&networkOps{})
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkExactly(t, p, spoiltBag(t)) }))
}

func TestInvalidBags(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{})
	var accepted, refused int
	rapid.Check(t, func(t *rapid.T) {
		if checkExactly(t, p, spoiltBag(t)) {
			accepted++
		} else {
			refused++
		}
	})
	const enough = 100 // With -short, there are fewer bags, and all may be rejected.
	if accepted+refused >= enough && (accepted == 0 || refused == 0) {
		t.Errorf("Check accepted %d bags and rejected %d, want some of each", accepted, refused)
	}
}

func TestNonFiniteNumbers(t *testing.T) {
	odd := deep(14, structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
		structpb.NewNumberValue(math.NaN()), structpb.NewNumberValue(math.Inf(1)), structpb.NewNumberValue(math.Inf(-1)), {},
	}}))
	p := testnet.NewNetworkProvider(&networkOps{})
	for _, name := range []string{"", testnet.Network_Policy, testnet.Network_Limit} {
		bag := with(t, minimal, `{"cidr": "$unknown"}`).Struct()
		bag.Fields[name] = odd
		if checkExactly(t, p, bag) {
			t.Errorf("Check accepted a bag with %q, want an error", name)
		}
	}
}

// hush is part of every string in a secret.
const hush = "hush!"

func spoiltBag(t *rapid.T) *structpb.Struct {
	made := must.Get(lumi.Encode(anyNetwork(t)))(t)
	bag := made.Struct()
	for _, p := range lumi.Describe(&network{}) {
		if p.Flags&lumi.Out != 0 {
			delete(bag.Fields, p.Name)
		}
	}
	s := spoiler{T: t, rate: rapid.SampledFrom([]int{0, 1, 5, 30}).Draw(t, "rate")}
	for _, name := range sortedKeys(bag.Fields) {
		bag.Fields[name] = s.spoil(bag.Fields[name], 0)
	}
	if s.draws("with a stranger") {
		bag.Fields[rapid.OneOf(rapid.SampledFrom(propertyNames()), anyKey).Draw(t, "stranger")] = s.wild(2)
	}
	return bag
}

func sortedKeys(fields map[string]*structpb.Value) []string {
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// spoiler replaces rate percent of the values in a bag.
type spoiler struct {
	*rapid.T
	rate int
}

func (s spoiler) draws(what string) bool { return rapid.IntRange(1, 100).Draw(s.T, what) <= s.rate }

func (s spoiler) spoil(v *structpb.Value, depth int) *structpb.Value {
	if s.draws("spoil") {
		switch rapid.IntRange(0, 4).Draw(s.T, "how") {
		case 0:
			return lumi.NewUnknown()
		case 1:
			return structpb.NewNullValue()
		case 2:
			return lumi.NewSecret(secretly(v))
		case 3:
			return lumi.NewSecret(lumi.NewUnknown())
		}
		return s.wild(3)
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		for i, elem := range k.ListValue.GetValues() {
			k.ListValue.Values[i] = s.spoil(elem, depth+1)
		}
	case *structpb.Value_StructValue:
		for _, key := range sortedKeys(k.StructValue.GetFields()) {
			k.StructValue.Fields[key] = s.spoil(k.StructValue.Fields[key], depth+1)
		}
	}
	return v
}

// secretly adds hush to all strings in a value, except those with a special meaning.
func secretly(v *structpb.Value) *structpb.Value {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		if k.StringValue != wire.Unknown && !strings.HasPrefix(k.StringValue, "urn:") {
			return structpb.NewStringValue(hush + k.StringValue)
		}
	case *structpb.Value_ListValue:
		for i, elem := range k.ListValue.GetValues() {
			k.ListValue.Values[i] = secretly(elem)
		}
	case *structpb.Value_StructValue:
		for key, field := range k.StructValue.GetFields() {
			if key != wire.Signature {
				k.StructValue.Fields[key] = secretly(field)
			}
		}
	}
	return v
}

var (
	anyKey = rapid.OneOf(anyText, rapid.SampledFrom([]string{
		"", "\xff", "a b", "x", "y", "protocol", "value", "left", "inner", "type", "text", "path", "uri", "assets", "hash",
		wire.Unknown, wire.Signature,
	}))
	anyString = rapid.OneOf(anyText, rapid.SampledFrom([]string{
		"", "\xff", "red", "Red", "good", wire.Unknown, wire.Signature, wire.Asset,
		string(networkURN), string(gatewayURN) + "\xff", strings.Repeat("long ", 100),
	}))
	anySignature = rapid.SampledFrom([]string{
		wire.Secret, wire.Asset, wire.Archive, "bogus", "",
	})
)

// wild draws any value, including those that JSON cannot represent.
func (s spoiler) wild(depth int) *structpb.Value {
	kinds := 8
	if depth > 0 {
		kinds = 13
	}
	switch rapid.IntRange(0, kinds).Draw(s.T, "kind") {
	case 0:
		return nil
	case 1:
		return &structpb.Value{}
	case 2:
		return structpb.NewNullValue()
	case 3:
		return structpb.NewBoolValue(rapid.Bool().Draw(s.T, "bool"))
	case 4:
		return structpb.NewNumberValue(rapid.Float64().Draw(s.T, "number"))
	case 5:
		return structpb.NewNumberValue(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(s.T, "odd"))
	case 6:
		return &structpb.Value{Kind: &structpb.Value_ListValue{}}
	case 7:
		return &structpb.Value{Kind: &structpb.Value_StructValue{}}
	case 8:
		return structpb.NewStringValue(anyString.Draw(s.T, "string"))
	case 9:
		return lumi.NewSecret(secretly(s.wild(depth - 1)))
	case 10:
		return deep(rapid.IntRange(1, 300).Draw(s.T, "deep"), s.wild(depth-1))
	case 11:
		elems := make([]*structpb.Value, rapid.IntRange(0, 3).Draw(s.T, "length"))
		for i := range elems {
			elems[i] = s.wild(depth - 1)
		}
		return structpb.NewListValue(&structpb.ListValue{Values: elems})
	}
	fields := map[string]*structpb.Value{}
	for range rapid.IntRange(0, 3).Draw(s.T, "length") {
		fields[anyKey.Draw(s.T, "key")] = s.wild(depth - 1)
	}
	if rapid.Bool().Draw(s.T, "signed") {
		fields[wire.Signature] = structpb.NewStringValue(anySignature.Draw(s.T, "signature"))
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

func deep(levels int, v *structpb.Value) *structpb.Value {
	for range levels {
		v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
	}
	return v
}

// checkExactly checks the invariants of every bag, and reports whether Check accepts it. Either the bag survives a round
// trip, as defined by canonical, or Check reports faults that have a path and a message and contain no secret. Any stored
// bag can be decoded, unless it contains unknown values or is nested too deeply.
func checkExactly(t failer, p lumi.ResourceProvider, props *structpb.Struct) bool {
	t.Helper()
	before := proto.CloneOf(props)
	checkStored(t, props)
	resp, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: lumi.BagOf(props)})
	if !proto.Equal(before, props) {
		t.Fatalf("Check changed its request to\n%v\nwant\n%v", props, before)
	}
	var invalid *lumi.InvalidError
	if errors.As(err, &invalid) {
		checkFaults(t, invalid.Faults)
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	want, got := canonicalBag(props), canonicalBag(resp.Properties.Struct())
	if !proto.Equal(want, got) {
		t.Fatalf("Check (-want +got):\n%s", cmp.Diff(want, got, protocmp.Transform()))
	}
	again, err := p.Check(context.Background(), &lumi.CheckRequest{Properties: resp.Properties})
	if err != nil || !same(again.Properties, resp.Properties) {
		t.Fatalf("second Check = %v, %v\nwant %v", again, err, resp.Properties)
	}
	return true
}

func checkFaults(t failer, faults []lumi.Fault) {
	t.Helper()
	for i, f := range faults {
		switch {
		case i > 0 && i == len(faults)-1 && f.Path == "" && f.Message == "there may be more errors":
		case f.Path == "" || f.Message == "":
			t.Fatalf("fault %+v lacks a path or message", f)
		case !utf8.ValidString(f.Error()):
			t.Fatalf("fault %q is not valid UTF-8", f.Error())
		case strings.Contains(f.Error(), hush):
			t.Fatalf("fault %v contains a secret", f)
		}
	}
}

// checkStored decodes the bag as if it were stored under an unknown version of the IDL.
func checkStored(t failer, props *structpb.Struct) {
	t.Helper()
	var invalid *lumi.InvalidError
	if err := (lumi.Reference{Properties: lumi.BagOf(props)}).Decode(&network{}); err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	if invalid == nil {
		return
	}
	for _, f := range invalid.Faults {
		if !slices.Contains([]string{
			"must be known here, but is not known yet", "is nested deeper than 100 levels", "there may be more errors",
		}, f.Message) {
			t.Fatalf("decoding stored properties reported %v, want no fault", f)
		}
	}
}

// canonicalBag returns the bag in a canonical form.
func canonicalBag(bag *structpb.Struct) *structpb.Struct {
	made := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name, v := range bag.GetFields() {
		if v := canonical(v, name == testnet.Network_Policy || name == testnet.Network_Document); !isNull(v) {
			made.Fields[name] = v
		}
	}
	conceal(made, testnet.Network_Password)
	conceal(made, testnet.Network_Keys)
	conceal(made, testnet.Network_Outer, "inner", "secret")
	return made
}

// conceal wraps the property at a path, which the IDL declares secret, if it has a known value.
func conceal(bag *structpb.Struct, path ...string) {
	fields := bag.GetFields()
	for ; len(path) > 1; path = path[1:] {
		fields = plain(fields[path[0]]).GetStructValue().GetFields()
	}
	if v := fields[path[0]]; v != nil && v.GetStringValue() != wire.Unknown {
		fields[path[0]] = lumi.NewSecret(v)
	}
}

// canonical returns the same value for all equivalent values. A null, secret null, or value without a kind is absent, or
// null inside an any. Nested secret wrappers are equivalent to one. An asset or archive with an unknown or secret part is
// unknown or secret as a whole. Unknown protobuf fields and the number of a null are ignored.
func canonical(v *structpb.Value, inAny bool) *structpb.Value {
	switch k := v.GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return structpb.NewNullValue()
	case *structpb.Value_ListValue:
		list := &structpb.ListValue{}
		for _, elem := range k.ListValue.GetValues() {
			list.Values = append(list.Values, canonical(elem, inAny))
		}
		return structpb.NewListValue(list)
	case *structpb.Value_StructValue:
		return canonicalObject(k.StructValue.GetFields(), inAny)
	}
	return &structpb.Value{Kind: v.GetKind()}
}

func canonicalObject(fields map[string]*structpb.Value, inAny bool) *structpb.Value {
	signature := fields[wire.Signature].GetStringValue()
	if signature == wire.Secret {
		v := canonical(fields["value"], inAny)
		if isNull(v) {
			return v
		}
		return lumi.NewSecret(v)
	}
	made := map[string]*structpb.Value{}
	var secret, unknown bool
	for key, v := range fields {
		v = canonical(v, inAny && signature == "")
		if signature != "" {
			inner := plain(v)
			secret, unknown = secret || inner != v, unknown || inner.GetStringValue() == wire.Unknown
			v = inner
		}
		if !isNull(v) || inAny && signature == "" {
			made[key] = v
		}
	}
	v := structpb.NewStructValue(&structpb.Struct{Fields: made})
	if unknown {
		v = lumi.NewUnknown()
	}
	if secret {
		return lumi.NewSecret(v)
	}
	return v
}

// plain returns v without secret wrappers.
func plain(v *structpb.Value) *structpb.Value {
	if isSecret(v) {
		return v.GetStructValue().GetFields()["value"]
	}
	return v
}

func isNull(v *structpb.Value) bool {
	_, null := v.GetKind().(*structpb.Value_NullValue)
	return null || v.GetKind() == nil
}
