package lumi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/must"
	feature "github.com/lumi-idl/lumi/test/testprovider"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyNetwork(t)
		made := must.Get(lumi.Encode(want))(t)
		bags.Set(&made, testnet.Network_ARN, nil) // Encode never omits it, since it is not a pointer.
		got := &network{}
		must.Do(t, lumi.Decode(made, got))
		if diff := cmp.Diff(want, got, sameNetwork); diff != "" {
			t.Fatalf("Decode of Encode (-want +got):\n%s", diff)
		}
	})
}

// maybe draws a pointer to a value, or nil.
func maybe[T any](g *rapid.Generator[T]) *rapid.Generator[*T] {
	return rapid.OneOf(rapid.Just[*T](nil), rapid.Map(g, func(v T) *T { return &v }))
}

// listOf draws a list that may be nil or empty.
func listOf[T any](g *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just[[]T](nil), rapid.SliceOfN(g, 0, 3))
}

func mapOf[K comparable, V any](k *rapid.Generator[K], v *rapid.Generator[V]) *rapid.Generator[map[K]V] {
	return rapid.OneOf(rapid.Just[map[K]V](nil), rapid.MapOfN(k, v, 0, 3))
}

var (
	anyText    = rapid.String()
	anyNumber  = rapid.Float64Range(-1e300, 1e300)
	anyColor   = rapid.SampledFrom([]feature.Color{feature.Red, feature.Green, feature.DarkBlue})
	anyGateway = rapid.Map(anyName, func(name string) urn.URN { return gatewayURN + urn.URN(name) })
	anyPeer    = rapid.Map(anyName, func(name string) urn.URN { return networkURN + urn.URN(name) })
	anyName    = rapid.StringMatching(`[a-z:#]{1,5}`)

	anyPoint = rapid.Custom(func(t *rapid.T) feature.Point {
		return feature.Point{
			X: anyNumber.Draw(t, "x"), Y: anyNumber.Draw(t, "y"), Label: maybe(anyText).Draw(t, "label"),
		}
	})
	anyRule = rapid.Custom(func(t *rapid.T) testnet.Rule {
		return testnet.Rule{
			Protocol: anyText.Draw(t, "protocol"), FromPort: maybe(anyNumber).Draw(t, "from"),
			ToPort: maybe(anyNumber).Draw(t, "to"), Names: listOf(anyText).Draw(t, "names"),
		}
	})
	anyAsset = rapid.Custom(func(t *rapid.T) lumi.Asset {
		kind := rapid.SampledFrom([]func(string) lumi.Asset{lumi.TextAsset, lumi.FileAsset, lumi.URIAsset})
		return kind.Draw(t, "kind")(anyText.Draw(t, "content"))
	})
	anyArchive = archiveOf(archiveOf(nil))
)

// archiveOf draws archives of assets and, unless inner is nil, of other archives.
func archiveOf(inner *rapid.Generator[lumi.Archive]) *rapid.Generator[lumi.Archive] {
	part := rapid.Map(anyAsset, func(a lumi.Asset) lumi.Content { return a })
	if inner != nil {
		part = rapid.OneOf(part, rapid.Map(inner, func(a lumi.Archive) lumi.Content { return a }))
	}
	return rapid.Custom(func(t *rapid.T) lumi.Archive {
		if rapid.Bool().Draw(t, "of assets") {
			return lumi.AssetArchive(rapid.MapOfN(anyText, part, 0, 3).Draw(t, "assets"))
		}
		kind := rapid.SampledFrom([]func(string) lumi.Archive{lumi.FileArchive, lumi.URIArchive})
		return kind.Draw(t, "kind")(anyText.Draw(t, "place"))
	})
}

func anyTree(depth int) *rapid.Generator[feature.Tree] {
	return rapid.Custom(func(t *rapid.T) feature.Tree {
		tree := feature.Tree{Value: anyText.Draw(t, "value")}
		if depth > 0 {
			sub := anyTree(depth - 1)
			tree.Left, tree.Leaves = maybe(sub).Draw(t, "left"), listOf(sub).Draw(t, "leaves")
			tree.Named = mapOf(anyText, sub).Draw(t, "named")
		}
		return tree
	})
}

// anyValue draws a non-nil value of an any.
func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		anyText.AsAny(), anyNumber.AsAny(), rapid.Bool().AsAny(), anyAsset.AsAny(), anyArchive.AsAny(),
	}
	if depth > 0 {
		part := rapid.OneOf(anyValue(depth-1), rapid.Just[any](nil))
		kinds = append(kinds, rapid.SliceOfN(part, 0, 3).AsAny(), rapid.MapOfN(anyText, part, 0, 3).AsAny())
	}
	return rapid.OneOf(kinds...)
}

func anyNetwork(t *rapid.T) *network {
	tags := mapOf(anyText, anyText).Draw(t, "tags")
	return &network{
		Name: anyText.Draw(t, "name"), CIDR: anyText.Draw(t, "cidr"), Size: anyNumber.Draw(t, "size"),
		Open: rapid.Bool().Draw(t, "open"), Comment: maybe(anyText).Draw(t, "comment"),
		Limit: maybe(anyNumber).Draw(t, "limit"), Public: maybe(rapid.Bool()).Draw(t, "public"),
		Color: anyColor.Draw(t, "color"), Accent: maybe(anyColor).Draw(t, "accent"),
		Rules: listOf(anyRule).Draw(t, "rules"), Routes: listOf(anyRule).Draw(t, "routes"),
		Matrix:   listOf(rapid.SliceOfN(anyNumber, 0, 2)).Draw(t, "matrix"),
		Required: rapid.SliceOfN(anyText, 0, 3).Draw(t, "required"), Tags: tags,
		Colors: mapOf(anyColor, anyText).Draw(t, "colors"), Limits: mapOf(anyText, anyPoint).Draw(t, "limits"),
		Origin: anyPoint.Draw(t, "origin"), Corner: maybe(anyPoint).Draw(t, "corner"),
		Outline: listOf(anyPoint).Draw(t, "outline"), Tree: maybe(anyTree(2)).Draw(t, "tree"),
		Peer: maybe(anyPeer).Draw(t, "peer"), Gateway: anyGateway.Draw(t, "gateway"),
		Others: listOf(anyGateway).Draw(t, "others"), Known: mapOf(anyText, anyPeer).Draw(t, "known"),
		Parent: maybe(anyPeer).Draw(t, "parent"),
		Policy: rapid.OneOf(anyValue(2), rapid.Just[any](nil)).Draw(t, "policy"), Document: anyValue(2).Draw(t, "document"),
		Logo: maybe(anyAsset).Draw(t, "logo"), Code: maybe(anyArchive).Draw(t, "code"), Script: anyAsset.Draw(t, "script"),
		Password: maybe(anyText).Draw(t, "password"), Seed: maybe(anyText).Draw(t, "seed"),
		Keys: mapOf(anyText, anyText).Draw(t, "keys"),
	}
}

func TestRandomBag(t *testing.T) {
	p := testnet.NewNetworkProvider(&networkOps{})
	names := rapid.OneOf(rapid.SampledFrom(propertyNames()), anyText)
	rapid.Check(t, func(t *rapid.T) {
		props := bag(t, minimal)
		for name, v := range rapid.MapOfN(names, anyWire(3), 0, 5).Draw(t, "properties") {
			bags.Set(&props, name, v)
		}
		checkBag(t, p, props)
	})
}

func propertyNames() []string {
	var names []string
	for _, p := range lumi.Describe(&network{}) {
		names = append(names, p.Name)
	}
	return names
}

// anyWire draws wire values, including special and invalid ones.
func anyWire(depth int) *rapid.Generator[*structpb.Value] {
	return rapid.Custom(func(t *rapid.T) *structpb.Value {
		kinds := 6
		if depth > 0 {
			kinds = 9
		}
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return structpb.NewNullValue()
		case 1:
			return structpb.NewBoolValue(rapid.Bool().Draw(t, "bool"))
		case 2:
			return structpb.NewNumberValue(anyNumber.Draw(t, "number"))
		case 3:
			return lumi.NewUnknown()
		case 4:
			return structpb.NewStringValue(string(anyGateway.Draw(t, "urn")))
		case 5:
			return structpb.NewStringValue(string(anyColor.Draw(t, "color")))
		case 6:
			return structpb.NewStringValue(anyText.Draw(t, "string"))
		case 7:
			return lumi.NewSecret(anyWire(depth-1).Draw(t, "secret"))
		case 8:
			elems := rapid.SliceOfN(anyWire(depth-1), 0, 3).Draw(t, "list")
			return structpb.NewListValue(&structpb.ListValue{Values: elems})
		}
		keys := rapid.OneOf(rapid.SampledFrom([]string{
			"x", "y", "protocol", "fromPort", "value", "left", "inner", "type", "text", "path", "assets", "hash",
		}), anyText)
		fields := rapid.MapOfN(keys, anyWire(depth-1), 0, 4).Draw(t, "object")
		if signature := rapid.SampledFrom([]string{
			"", "", wire.Asset, wire.Archive, wire.Secret, "bogus",
		}).Draw(t, "signature"); signature != "" {
			fields[wire.Signature] = structpb.NewStringValue(signature)
		}
		return structpb.NewStructValue(&structpb.Struct{Fields: fields})
	})
}

// failer is implemented by *testing.T and *rapid.T.
type failer interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// checkBag checks the invariants of every bag: either it survives a round trip, or Check reports faults that have a path and
// a message. Any stored bag can be decoded, unless it contains unknown values or is nested too deeply.
func checkBag(t failer, p lumi.ResourceProvider, props lumi.Bag) {
	t.Helper()
	resp, err := p.Check(t.Context(), &lumi.CheckRequest{Properties: props})
	var invalid *lumi.InvalidError
	switch {
	case err == nil:
		if diff := cmp.Diff(text(props), text(resp.Properties)); diff != "" {
			t.Fatalf("Check (-want +got):\n%s", diff)
		}
	case errors.As(err, &invalid):
		for _, f := range invalid.Faults {
			if f.Path == "" || f.Message == "" {
				t.Fatalf("fault %+v lacks a path or message", f)
			}
		}
	default:
		t.Fatal(err)
	}
	change := &lumi.InspectChangeRequest{Old: props, New: props}
	again, err := p.InspectChange(t.Context(), change)
	if err == nil && len(again.Changes) > 0 {
		t.Fatalf("InspectChange of equal bags = %v, want no changes", again.Changes)
	}
}
