package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/must"
	testnet "github.com/lumi-idl/lumi/test/testprovider/net"
)

// Secrets anywhere in properties stay wrapped in all responses, unless the author copies them to other properties.
func TestSecretsStayWrapped(t *testing.T) {
	all := []string{
		testnet.Network_Comment, testnet.Network_Required, testnet.Network_Tags, testnet.Network_Policy, testnet.Network_Keys, testnet.Network_Password,
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) lumi.Bag {
			b := bag(t, minimal).Struct()
			fields := b.Fields
			for _, name := range all {
				v := drawHush(name).Draw(rt, label+" "+name)
				if v != nil {
					fields[name] = v
				}
			}
			return lumi.BagOf(b)
		}
		old, want := draw("old"), draw("want")
		names := rapid.SliceOf(rapid.SampledFrom(all)).Draw(rt, "names")
		ignored := rapid.SliceOf(rapid.SampledFrom(all)).Draw(rt, "ignored")
		half := rapid.SliceOf(rapid.SampledFrom(all)).Draw(rt, "half")
		p := testnet.NewNetworkProvider(&networkOps{
			check: func(want *lumi.State[*network]) error {
				for _, name := range names { // unchanged
					switch {
					case want.Old == nil:
					case name == testnet.Network_Comment:
						want.Properties.Comment = want.Old.Comment
					case name == testnet.Network_Required:
						want.Properties.Required = append(want.Properties.Required, want.Old.Required...)
					case name == testnet.Network_Policy:
						want.Properties.Policy = want.Old.Policy
					case name == testnet.Network_Tags && want.Old.Tags != nil:
						want.Properties.Tags = want.Old.Tags
					}
				}
				return nil
			},
			get: func(_ lumi.ID, old *lumi.State[*network]) (*network, error) { return old.Properties, nil },
			inspect: func(_, _ *lumi.State[*network], diff *lumi.Diff) error {
				for _, name := range ignored {
					diff.Ignore(lumi.Path(name))
				}
				return nil
			},
			create: func(want *lumi.State[*network]) (lumi.ID, error) {
				want.Done(names...)
				return "n-1", errHalf
			},
			update: func(old, want *lumi.State[*network], _ *lumi.Diff) error {
				want.Properties.Required = append(want.Properties.Required, "more")
				for _, name := range half { // unchanged
					switch name {
					case testnet.Network_Comment:
						want.Properties.Comment = old.Properties.Comment
					case testnet.Network_Policy:
						want.Properties.Policy = old.Properties.Policy
					}
				}
				want.Done(append(half, testnet.Network_Limit)...)
				return errHalf
			},
		})
		see := func(call string, b lumi.Bag, err error) {
			var partial *lumi.PartialError
			if errors.As(err, &partial) {
				b, err = partial.Properties, partial.Err
			}
			if err != nil && !errors.Is(err, errHalf) {
				rt.Fatalf("%s returned %v, want nil or errHalf", call, err)
			}
			if found := inClear(structpb.NewStructValue(b.Struct())); found != "" || strings.Contains(b.String(), "hush") {
				rt.Fatalf("%s returned the secret %s unwrapped: %s", call, found, b)
			}
		}
		ctx := context.Background()
		checked := must.Get(p.Check(ctx, &lumi.CheckRequest{Properties: want, Old: old}))(rt)
		see("Check", checked.Properties, nil)
		inspected := must.Get(p.InspectChange(ctx, &lumi.InspectChangeRequest{ID: "n-1", Old: old, New: checked.Properties}))(rt)
		see("InspectChange", inspected.Properties, nil)
		for _, c := range inspected.Changes {
			if shown := fmt.Sprint(c, c.Path, c.Old, c.New); strings.Contains(shown, "hush") {
				rt.Fatalf("change %s contains a secret", shown)
			}
		}
		_, err := p.Update(ctx, &lumi.UpdateRequest{ID: "n-1", Old: old, New: inspected.Properties})
		see("Update", lumi.Bag{}, err)
		_, err = p.Create(ctx, &lumi.CreateRequest{Properties: want})
		see("Create", lumi.Bag{}, err)
		got := must.Get(p.Get(ctx, &lumi.GetRequest{ID: "n-1", Purpose: lumi.Refresh, Old: old}))(rt)
		see("Get", got.Properties, nil)
	})
}

// inClear returns a secret string in v that is not wrapped, or "" if there is none.
func inClear(v *structpb.Value) string {
	if isSecret(v) {
		return ""
	}
	if s := v.GetStringValue(); strings.Contains(s, "hush") {
		return s
	}
	for key, field := range v.GetStructValue().GetFields() {
		if strings.Contains(key, "hush") {
			return key
		}
		if found := inClear(field); found != "" {
			return found
		}
	}
	for _, elem := range v.GetListValue().GetValues() {
		if found := inClear(elem); found != "" {
			return found
		}
	}
	return ""
}

// drawHush draws a value of the property, or nil. Each string "hush" is inside a secret.
func drawHush(property string) *rapid.Generator[*structpb.Value] {
	return rapid.Custom(func(t *rapid.T) *structpb.Value {
		text := func(t *rapid.T) *structpb.Value {
			if rapid.Bool().Draw(t, "secret") {
				return lumi.NewSecret(structpb.NewStringValue(fmt.Sprint("hush", rapid.IntRange(0, 3).Draw(t, "which"))))
			}
			return structpb.NewStringValue(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "plain"))
		}
		list := func() *structpb.Value {
			return listOfValues(rapid.SliceOfN(rapid.Custom(text), 0, 3).Draw(t, "list"))
		}
		var v *structpb.Value
		switch property {
		case testnet.Network_Comment, testnet.Network_Password:
			v = text(t)
		case testnet.Network_Required:
			return list()
		case testnet.Network_Tags, testnet.Network_Keys:
			v = object("k", text(t))
		case testnet.Network_Policy:
			v = rapid.SampledFrom([]*structpb.Value{list(), object("k", list()), listOfValues([]*structpb.Value{object("k", text(t))})}).Draw(t, "any")
		}
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			return nil
		case 1:
			if v != nil {
				return lumi.NewSecret(v)
			}
		}
		return v
	})
}
