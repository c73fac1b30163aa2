package pulumiserve

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/gen/pulumischema"
	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// The signatures of Pulumi's special values that Lumi lacks. Secrets, assets, and archives have the same in both.
const (
	outputSignature   = "d0e6a833031e9bbcd3f4e8bde6ca49a4" // {value}, unless it is unknown, {secret}, and {dependencies}
	resourceSignature = "5cf8f73096256a8f31e491e813e4eb8e" // {urn}, and optionally {id} and {type}
)

// unknowns are the placeholders for unknown values of each type: a bool, number, string, array, asset, archive, and object.
var unknowns = []string{
	"1c4a061d-8072-4f0a-a4cb-0ff528b18fe7", "3eeb2bf0-c639-47a8-9e75-3b44932eb421", wire.Unknown, "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
	"030794c1-ac77-496b-92df-f27374a8bd58", "e48ece36-62e2-4504-bad9-02848725956a", "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}

// internalPrefix is the start of the names of properties that are none of the program's.
const internalPrefix = "__"

// converter converts values. It returns nil for a value whose parts must be converted.
type converter func(t schema.Type, v *structpb.Value) *structpb.Value

func (c converter) value(t schema.Type, v *structpb.Value) *structpb.Value {
	if v.GetKind() == nil {
		return structpb.NewNullValue()
	}
	if whole := c(t, v); whole != nil {
		return whole
	}
	switch k := v.GetKind().(type) {
	case *structpb.Value_ListValue:
		elem := schema.Type(schema.Any)
		if list, ok := schema.Underlying(t).(*schema.List); ok {
			elem = list.Elem
		}
		list := make([]*structpb.Value, len(k.ListValue.GetValues()))
		for i, v := range k.ListValue.GetValues() {
			list[i] = c.value(elem, v)
		}
		return structpb.NewListValue(&structpb.ListValue{Values: list})
	case *structpb.Value_StructValue:
		switch t := schema.Underlying(t).(type) {
		case *schema.Ref:
			return structpb.NewStructValue(c.object(schema.Properties(t.Decl), k.StructValue))
		case *schema.Map:
			return structpb.NewStructValue(c.fields(k.StructValue, func(string) schema.Type { return t.Elem }))
		}
		return structpb.NewStructValue(c.fields(k.StructValue, func(string) schema.Type { return schema.Any }))
	}
	return v
}

// object converts an object with properties. Those that the IDL does not declare are left for Lumi to report, except internal ones.
func (c converter) object(properties []*schema.Property, s *structpb.Struct) *structpb.Struct {
	return c.fields(s, func(name string) schema.Type {
		switch p := propertyOf(properties, name); {
		case p != nil:
			return p.Type
		case strings.HasPrefix(name, internalPrefix):
			return nil
		}
		return schema.Any
	})
}

// propertyOf returns the property with a present or former name, or nil.
func propertyOf(properties []*schema.Property, name string) *schema.Property {
	for _, p := range properties {
		if p.Name == name || slices.Contains(p.Was, name) {
			return p
		}
	}
	return nil
}

// fields converts the fields of s for which typeOf is not nil.
func (c converter) fields(s *structpb.Struct, typeOf func(name string) schema.Type) *structpb.Struct {
	fields := make(map[string]*structpb.Value, len(s.GetFields()))
	for name, v := range s.GetFields() {
		if t := typeOf(name); t != nil {
			fields[name] = c.value(t, v)
		}
	}
	return &structpb.Struct{Fields: fields}
}

// decoder converts the engine's values to Lumi's.
type decoder struct {
	// pkg is the package of the plugin.
	pkg string
	// isJSON is set for configurations, in which only strings are sent as such. All else may be JSON in a string.
	isJSON bool
	// contents collects assets and archives by hash, because the engine sends only the hash of later ones.
	contents map[string]*structpb.Value
}

func (s *server) decoder() decoder {
	return decoder{pkg: s.Types.Name(), contents: map[string]*structpb.Value{}}
}

func (d decoder) bag(properties []*schema.Property, s *structpb.Struct) lumi.Bag {
	return lumi.BagOf(converter(d.whole).object(properties, s))
}

func (d decoder) whole(t schema.Type, v *structpb.Value) *structpb.Value {
	if text, ok := v.GetKind().(*structpb.Value_StringValue); ok {
		return d.text(t, text.StringValue)
	}
	fields := v.GetStructValue().GetFields()
	switch fields[wire.Signature].GetStringValue() {
	case wire.Secret:
		return lumi.NewSecret(converter(d.whole).value(t, fields["value"]))
	case outputSignature:
		inner := lumi.NewUnknown()
		if v, known := fields["value"]; known {
			inner = converter(d.whole).value(t, v)
		}
		if fields["secret"].GetBoolValue() {
			inner = lumi.NewSecret(inner)
		}
		return inner
	case resourceSignature:
		typ := cmp.Or(fields["type"].GetStringValue(), parseURN(fields["urn"].GetStringValue()).typ)
		return d.reference(t, typ, fields["id"])
	case wire.Asset, wire.Archive:
		return d.content(fields)
	case "":
		if of, ok := referents(t); ok && len(of) != 1 && fields["type"] != nil {
			return d.reference(t, fields["type"].GetStringValue(), fields["id"])
		}
	}
	return nil
}

func (d decoder) text(t schema.Type, text string) *structpb.Value {
	if slices.Contains(unknowns, text) {
		return lumi.NewUnknown()
	}
	if v := new(structpb.Value); d.isJSON && !isText(t) && json.Unmarshal([]byte(text), v) == nil {
		d.isJSON = false
		return converter(d.whole).value(t, v)
	}
	if of, ok := referents(t); ok && len(of) == 1 && text != "" {
		text = string(urn.ByID(tokens.Type(of[0]), text))
	}
	return structpb.NewStringValue(text)
}

// isText reports whether the values of a type are strings.
func isText(t schema.Type) bool {
	t = schema.Underlying(t)
	if ref, ok := t.(*schema.Ref); ok {
		_, ok = ref.Decl.(*schema.Enum)
		return ok
	}
	return t == schema.String
}

// reference returns the URN of the resource with a Pulumi type and an id, or its id where the IDL has no reference. The id of a
// resource that does not exist yet is unknown.
func (d decoder) reference(t schema.Type, typ string, id *structpb.Value) *structpb.Value {
	id = converter(d.whole).value(schema.String, id)
	isSecret := id.GetStructValue() != nil
	text, _ := lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{"id": id}}).Get("id").(string)
	of, ok := referents(t)
	v := structpb.NewStringValue(text)
	switch {
	case text == "" || text == wire.Unknown:
		v = lumi.NewUnknown()
	case ok:
		v = structpb.NewStringValue(string(urn.ByID(tokenOf(d.pkg, typ, of...), text)))
	}
	if isSecret {
		v = lumi.NewSecret(v)
	}
	return v
}

// content returns an asset or archive, or nil if it is complete. Of one in a state, the engine sends only the hash. Its text or path is
// then empty.
func (d decoder) content(fields map[string]*structpb.Value) *structpb.Value {
	hash, isElided := fields["hash"].GetStringValue(), true
	for name := range fields {
		isElided = isElided && (name == wire.Signature || name == "hash")
	}
	if !isElided {
		d.contents[hash] = structpb.NewStructValue(&structpb.Struct{Fields: fields})
		return nil
	}
	if v := d.contents[hash]; v != nil && hash != "" {
		return v
	}
	fields, empty := maps.Clone(fields), "path"
	if fields[wire.Signature].GetStringValue() == wire.Asset {
		empty = "text" // The engine omits empty texts, too.
	}
	fields[empty] = structpb.NewStringValue("")
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}

// encodeObject converts an object with properties to the engine's form.
func encodeObject(properties []*schema.Property, s *structpb.Struct) *structpb.Struct {
	return converter(encode).object(properties, s)
}

func encode(t schema.Type, v *structpb.Value) *structpb.Value {
	fields := v.GetStructValue().GetFields()
	switch fields[wire.Signature].GetStringValue() {
	case wire.Secret:
		return lumi.NewSecret(converter(encode).value(t, fields["value"]))
	case wire.Asset, wire.Archive:
		return encodeContent(fields)
	}
	u := urn.URN(v.GetStringValue())
	id, byID := u.ID()
	of, ok := referents(t)
	switch {
	case !byID || !ok:
		return nil
	case len(of) == 1:
		return structpb.NewStringValue(id)
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		"type": structpb.NewStringValue(pulumischema.Token(string(u.Type()))), "id": structpb.NewStringValue(id),
	}})
}

// encodeContent returns an asset or archive with a hash, without which the engine would see no changes of texts and URIs.
func encodeContent(fields map[string]*structpb.Value) *structpb.Value {
	all := maps.Clone(fields)
	maps.DeleteFunc(all, func(_ string, v *structpb.Value) bool { return proto.Equal(v, structpb.NewStringValue("")) })
	if all["hash"] == nil {
		text := []byte(fields["text"].GetStringValue())
		if fields["text"] == nil {
			text, _ = json.Marshal((&structpb.Struct{Fields: fields}).AsMap()) // It succeeds for such values.
		}
		all["hash"] = structpb.NewStringValue(fmt.Sprintf("%x", sha256.Sum256(text)))
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: all})
}

// referents reports whether values of type t are references, and returns the tokens of the resources, if the IDL restricts them.
// Only a reference with a single token is sent as an id.
func referents(t schema.Type) (of []string, ok bool) {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		return nil, t == schema.AnyResource
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return []string{d.Token}, true
		case *schema.Union:
			of = d.Tokens()
			return of, of != nil
		}
	}
	return nil, false
}

// tokenOf returns the token of a resource with a Pulumi type. It is one of the candidates, or in package pkg, if their names match.
func tokenOf(pkg, typ string, candidates ...string) tokens.Type {
	for _, token := range append(candidates, pulumischema.FromToken(pkg, typ)) {
		if pulumischema.Token(token) == typ {
			return tokens.Type(token)
		}
	}
	return tokens.Type(typ)
}
