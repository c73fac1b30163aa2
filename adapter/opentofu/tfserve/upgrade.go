package tfserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// UpgradeResourceState implements [tfprotov6.ProviderServer]. Engines call it for every state that they load, before they configure
// the provider.
func (s *Server) UpgradeResourceState(
	ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	resp := &tfprotov6.UpgradeResourceStateResponse{}
	resp.Diagnostics = s.call(ctx, req.TypeName, func(c *call) (err error) {
		resp.UpgradedState, err = c.upgrade(req.RawState)
		return err
	})
	return resp, nil
}

// MoveResourceState implements [tfprotov6.ProviderServer]. It moves resources whose type was renamed in the IDL.
func (s *Server) MoveResourceState(
	ctx context.Context, req *tfprotov6.MoveResourceStateRequest,
) (*tfprotov6.MoveResourceStateResponse, error) {
	resp := &tfprotov6.MoveResourceStateResponse{}
	resp.Diagnostics = s.call(ctx, req.TargetTypeName, func(c *call) error {
		former, err := typeNames(s.local, c.Schema.Was)
		if err != nil {
			return err
		}
		if _, ok := former.tokens[req.SourceTypeName]; !ok {
			return fmt.Errorf("cannot move a %s to a %s, which never had that name", req.SourceTypeName, req.TargetTypeName)
		}
		resp.TargetState, err = c.upgrade(req.SourceState)
		resp.TargetPrivate = req.SourcePrivate
		return err
	})
	return resp, nil
}

// upgrade converts a stored state, which may have been written under an older IDL.
func (c *call) upgrade(raw *tfprotov6.RawState) (*tfprotov6.DynamicValue, error) {
	state, err := raw.Unmarshal(c.typ)
	stored := c.decodeBag(state)
	if err != nil {
		if state, stored, err = c.stored(raw.JSON); err != nil {
			return nil, err
		}
	}
	upgraded, err := c.Upgrade(c.ctx, c.Token, stored)
	if errors.Is(err, errors.ErrUnsupported) {
		upgraded = stored
	} else if err != nil {
		return nil, err
	}
	return c.dynamicValue(c.overlayBag(string(idOf(state)), state, c.decodeBag(state), upgraded))
}

// stored returns the attributes in a state that fit the schema, and all properties that it has.
func (t *resourceType) stored(raw []byte) (tftypes.Value, lumi.Bag, error) {
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return tftypes.Value{}, lumi.Bag{}, fmt.Errorf("the state is not a JSON object: %w", err)
	}
	attributes := map[string]tftypes.Value{}
	for name, a := range t.byName {
		attributes[name] = tftypes.NewValue(a.typ, nil)
	}
	fields := map[string]*structpb.Value{}
	for name, v := range all {
		a := t.former(name)
		if a == nil { // The author's Upgrade may use what was removed.
			a = &attribute{shape: anyShape, wire: camel(name)}
		}
		text, err := json.Marshal(a.current(v))
		if err != nil {
			return tftypes.Value{}, lumi.Bag{}, err
		}
		if value, err := tftypes.ValueFromJSON(text, a.typ); err == nil { //nolint:staticcheck // The library's own replacement calls it.
			if a.name != "" {
				attributes[a.name] = value
			}
			if a.wire != "" {
				fields[a.wire] = a.decode(value)
			}
			continue
		}
		other := new(structpb.Value)
		if err := other.UnmarshalJSON(text); err != nil {
			return tftypes.Value{}, lumi.Bag{}, err
		}
		fields[a.wire] = other
	}
	return tftypes.NewValue(t.typ, attributes), lumi.BagOf(&structpb.Struct{Fields: fields}), nil
}

// current returns a stored JSON value with the current names of attributes, without the ones that the IDL no longer has.
func (s *shape) current(v any) any {
	switch v := v.(type) {
	case []any:
		if s.kind == list {
			for i := range v {
				v[i] = s.elem.current(v[i])
			}
		}
	case map[string]any:
		if s.kind == mapping {
			for key := range v {
				v[key] = s.elem.current(v[key])
			}
		}
		if s.kind == object {
			renamed := make(map[string]any, len(v))
			for name, part := range v {
				if a := s.former(name); a != nil {
					renamed[a.name] = a.current(part)
				}
			}
			return renamed
		}
	}
	return v
}

// former returns the attribute of an object with a name, or one with a property that had it under an older IDL, or nil. Only the names
// of former properties in bags are known, and the words of the ones in OpenTofu may differ.
func (s *shape) former(name string) *attribute {
	if a := s.byName[name]; a != nil {
		return a
	}
	letters := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	for _, a := range s.attributes {
		if slices.ContainsFunc(a.property.Was, func(was string) bool { return letters(was) == letters(name) }) {
			return a
		}
	}
	return nil
}

// camel converts a name from snake case to the usual name of a property.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
