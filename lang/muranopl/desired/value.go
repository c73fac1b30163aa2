package desired

import (
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// future is a value that workflows can pass on but not inspect: an output, a secret, or a string that contains one.
type future struct {
	value lumigl.Value
	// typ is the type of an output. It is nil for secrets.
	typ  schema.Type
	name string
}

func secretOf(v lumigl.Value) *future { return &future{value: v, name: "a secret"} }

// YAQLType implements [yaql.Typed].
func (f *future) YAQLType() string { return f.name }

// YAQLOpaque implements [yaql.Opaque].
func (f *future) YAQLOpaque() error {
	return yaql.Errorf(muranopl.Unknown, "%s can only be assigned, passed on, or put into a string", f.name)
}

// kinds maps the kinds used by contracts to types.
var kinds = map[string]schema.Type{
	"string": schema.String, "int": schema.Number, "bool": schema.Bool,
	"list": &schema.List{Elem: schema.Any}, "dict": &schema.Map{Key: schema.String, Elem: schema.Any},
}

// YAQLText implements [yaql.Text].
func (f *future) YAQLText(parts []any) (any, error) {
	var all []lumigl.Value
	for _, part := range parts {
		switch p := part.(type) {
		case string:
			all = append(all, lumigl.TextOf(p))
		case *future:
			if !p.Is("string") && !p.Is("int") && !p.Is("bool") {
				return nil, yaql.Errorf(yaql.TypeError, "%s cannot be part of a string", p.name)
			}
			inner := p.value.Get("interpolate")
			if inner.Kind() != lumigl.List {
				all = append(all, p.value)
			}
			for _, part := range inner.Elements() {
				all = append(all, part)
			}
		}
	}
	v, err := expr.Evaluate(signed(wire.Expression, "interpolate", lumigl.ListOf(all...)), func(*lumigl.Vertex, string) (lumigl.Value, bool) {
		return lumigl.Value{}, false
	})
	if err != nil {
		return nil, err
	}
	if content, _ := v.Secret(); content.Kind() == lumigl.Text {
		return secretOf(v), nil
	}
	name := f.name
	if !strings.HasPrefix(name, "a string with ") {
		name = "a string with " + name
	}
	return &future{v, schema.String, name}, nil
}

// signed returns a special value with the given signature.
func signed(signature, key string, v lumigl.Value) lumigl.Value {
	return lumigl.ObjectOf(
		lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(signature)}, lumigl.Member{Key: key, Value: v})
}

// export converts a value without objects to LumiGL. Special values such as secrets are allowed only if file is set.
func export(v any, file bool) (lumigl.Value, error) {
	switch v := v.(type) {
	case *future:
		return v.value, nil
	case *yaql.List:
		all := make([]lumigl.Value, v.Len())
		for i, item := range v.Items() {
			var err error
			if all[i], err = export(item, file); err != nil {
				return lumigl.Value{}, err
			}
		}
		return lumigl.ListOf(all...), nil
	case *yaql.Set:
		return export(yaql.NewList(v.Items()), file)
	case *yaql.Dict:
		var o lumigl.ObjectBuilder
		for key, item := range v.All() {
			name, ok := key.(string)
			if !ok {
				text, err := yaql.AppendJSON(nil, key)
				if err != nil {
					return lumigl.Value{}, err
				}
				name = string(text)
			}
			if name == wire.Signature && !file || o.Get(name).Exists() {
				return lumigl.Value{}, yaql.Errorf(yaql.Value, "key %q marks special values, or occurs twice", name)
			}
			x, err := export(item, file)
			if err != nil {
				return lumigl.Value{}, err
			}
			o.Set(name, x)
		}
		return o.Object(), nil
	}
	if v == wire.Unknown {
		return lumigl.Value{}, yaql.Errorf(yaql.Value, "the string is the placeholder for unknown values")
	}
	text, err := yaql.AppendJSON(nil, v)
	if err != nil {
		return lumigl.Value{}, err
	}
	return lumigl.Parser{}.ParseValue(string(text))
}

// tree converts a part of a model to a tree. Positions are copied from at, its previous tree, if at is not nil. Secrets
// become futures, and unknown values become null.
func tree(v lumigl.Value, at *muranopl.Node) *muranopl.Node {
	if at == nil {
		at = &muranopl.Node{}
	}
	n := &muranopl.Node{Pos: at.Pos}
	switch kind := v.Kind(); {
	case v.IsSecret():
		n.Value = secretOf(v)
	case v.IsExpression() || v.IsUnknown():
	case kind == lumigl.List:
		items := make([]*muranopl.Node, v.Len())
		if places, ok := at.Value.([]*muranopl.Node); ok {
			copy(items, places)
		}
		for i, item := range v.Elements() {
			items[i] = tree(item, items[i])
		}
		n.Value = items
	case kind == lumigl.Object:
		entries := make([]muranopl.Entry, 0, v.Len())
		places := make([]muranopl.Entry, v.Len())
		copy(places, at.Entries()) // same order
		for key, item := range v.Members() {
			place := places[len(entries)]
			name := tree(lumigl.Value{}, place.Key)
			name.Value = key
			entries = append(entries, muranopl.Entry{Key: name, Value: tree(item, place.Value)})
		}
		n.Value = entries
	case kind == lumigl.Number:
		literal, _ := v.Literal()
		n.Value, _ = yaql.FromJSON([]byte(literal)) // always valid
	case kind == lumigl.Bool:
		n.Value, _ = v.Bool()
	case kind == lumigl.Text:
		n.Value, _ = v.Text()
	}
	return n
}

func failAt(pos muranopl.Position, kind yaql.Kind, format string, args ...any) *muranopl.Error {
	return &muranopl.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Pos: pos}
}
