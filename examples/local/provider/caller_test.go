package local_test

import (
	"encoding/json"
	"os"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	local "github.com/lumi-idl/lumi/examples/local/provider"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// caller makes individual provider calls, with the requests that an engine would send.
type caller struct {
	t        *testing.T
	provider func(tokens.Type) lumi.ResourceProvider
}

func newCaller(t *testing.T) *caller {
	resources := local.Resources()
	return &caller{t, func(typ tokens.Type) lumi.ResourceProvider { return resources[typ] }}
}

func newBinary(t *testing.T) *caller {
	t.Helper()
	p := must.Get(plugin.Start(t.Context(), plugin.Command{Path: providertest.Build(t, "./lumi-resource-local")}))(t)
	t.Cleanup(func() { p.Close() })
	return &caller{t, func(typ tokens.Type) lumi.ResourceProvider {
		r, err := p.Resource(typ)
		if err != nil {
			t.Error(err)
		}
		return r
	}}
}

func urnOf(typ tokens.Type, name string) urn.URN {
	return urn.URN("urn:lumi:test::local:index::" + string(typ) + "::" + name)
}

func (c *caller) request(typ tokens.Type, name, token string, properties props) *lumi.CreateRequest {
	c.t.Helper()
	u := urnOf(typ, name)
	checked, err := c.provider(typ).Check(c.t.Context(), &lumi.CheckRequest{URN: u, Properties: lumi.BagOf(encode(c.t, properties))})
	if err != nil {
		c.t.Fatal(err)
	}
	return &lumi.CreateRequest{URN: u, Properties: checked.Properties, Token: token}
}

// create creates a resource and returns its id and all of its properties.
func (c *caller) create(typ tokens.Type, name, token string, properties props) (lumi.ID, props) {
	c.t.Helper()
	request := c.request(typ, name, token, properties)
	made, err := c.provider(typ).Create(c.t.Context(), request)
	if err != nil {
		c.t.Fatal(err)
	}
	state := props(request.Properties.Struct().AsMap())
	return made.ID, state.With(props(made.Properties.Struct().AsMap()))
}

func (c *caller) get(typ tokens.Type, id lumi.ID, old props) (lumi.Bag, error) {
	request := &lumi.GetRequest{ID: id, Purpose: lumi.Import}
	if old != nil {
		request.Purpose, request.URN, request.Old = lumi.Refresh, urnOf(typ, "x"), lumi.BagOf(encode(c.t, old))
	}
	got, err := c.provider(typ).Get(c.t.Context(), request)
	if err != nil {
		return lumi.Bag{}, err
	}
	return got.Properties, nil
}

func (c *caller) update(typ tokens.Type, id lumi.ID, old, want props) (*lumi.UpdateResponse, error) {
	return c.provider(typ).Update(c.t.Context(), &lumi.UpdateRequest{
		URN: urnOf(typ, "x"), ID: id, Old: lumi.BagOf(encode(c.t, old)), New: lumi.BagOf(encode(c.t, want.With(props{"checksum": nil}))),
	})
}

func (c *caller) delete(typ tokens.Type, id lumi.ID, old props) error {
	_, err := c.provider(typ).Delete(c.t.Context(), &lumi.DeleteRequest{
		URN: urnOf(typ, "x"), ID: id, Properties: lumi.BagOf(encode(c.t, old)),
	})
	return err
}

func encode(t *testing.T, properties props) *structpb.Struct {
	t.Helper()
	text, err := json.Marshal(onWire(properties))
	made := new(structpb.Struct)
	if err == nil {
		err = made.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// onWire converts assets and archives in value to the wire format.
func onWire(value any) any {
	switch v := value.(type) {
	case props:
		made := map[string]any{}
		for name, part := range v {
			if part != nil {
				made[name] = onWire(part)
			}
		}
		return made
	case lumi.Asset:
		if uri, ok := v.URI(); ok {
			return map[string]any{wire.Signature: wire.Asset, "uri": uri}
		}
		text, _ := v.Text()
		return map[string]any{wire.Signature: wire.Asset, "text": text}
	case lumi.Archive:
		parts, _ := v.Assets()
		assets := props{}
		for name, part := range parts {
			assets[name] = part
		}
		return map[string]any{wire.Signature: wire.Archive, "assets": onWire(assets)}
	}
	return value
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("content of %s = %q, %v, want %q", path, got, err, want)
	}
}
