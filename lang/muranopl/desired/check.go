package desired

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/constraint"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

const deepest = 100 // same limit as in providers

// checker checks the types of values and converts them to LumiGL.
type checker struct {
	depth int
	// resources allows resources anywhere in a value.
	resources bool
}

// plainTypes maps the types of properties to the type names of package yaql for valid values.
var plainTypes = map[schema.Primitive][]string{
	schema.Bool: {"boolean"}, schema.Number: {"integer", "float"}, schema.Int: {"integer", "float"}, schema.String: {"string"},
}

// value converts v to type t. It returns an error if v is not of this type or violates its constraints.
func (c checker) value(t schema.Type, v any, path string) (lumigl.Value, error) {
	x, err := c.convert(t, v, path)
	if err == nil {
		err = checkLimits(t, schema.ConstraintsOf(t), x, path)
	}
	return x, err
}

func (c checker) convert(t schema.Type, v any, path string) (lumigl.Value, error) {
	if c.depth++; c.depth > deepest {
		return lumigl.Value{}, wrong(path, "nested deeper than %d levels", deepest)
	}
	if f, ok := v.(*future); ok {
		return c.future(t, f, path)
	}
	unexpected := func() (lumigl.Value, error) {
		return lumigl.Value{}, wrong(path, "expected %s, found %s", describe(t), foundIn(v))
	}
	plain := func(ok bool) (lumigl.Value, error) {
		if !ok {
			return unexpected()
		}
		x, err := export(v, false)
		if err != nil {
			err = wrong(path, "%s", err)
		}
		return x, err
	}
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		switch t {
		case schema.Bool, schema.Number, schema.Int, schema.String:
			x, err := plain(slices.Contains(plainTypes[t], yaql.TypeName(v)))
			if n, ok := x.Float(); ok && t == schema.Int && err == nil {
				if problem := constraint.Int(n, constraint.MaxInt, true); problem != "" {
					err = wrong(path, "%s", problem)
				}
			}
			return x, err
		case schema.AnyResource:
			if r := resourceOf(v); r != nil {
				return lumigl.ReferenceTo(r.vertex), nil
			}
		case schema.Any:
			switch v := v.(type) {
			case *yaql.List:
				return c.list(t, v, path)
			case *yaql.Dict:
				return c.dict(nil, t, v, path)
			}
			if r := resourceOf(v); r != nil && c.resources {
				return lumigl.ReferenceTo(r.vertex), nil
			}
			_, isObject := v.(*muranopl.Object)
			return plain(!isObject)
		case schema.Asset:
			return c.file(wire.Asset, []string{"text", "path", "uri"}, v, path)
		case schema.Archive:
			return c.file(wire.Archive, []string{"assets", "path", "uri"}, v, path)
		}
	case *schema.List:
		if v, ok := v.(*yaql.List); ok {
			return c.list(t.Elem, v, path)
		}
	case *schema.Map:
		if v, ok := v.(*yaql.Dict); ok {
			return c.dict(t.Key, t.Elem, v, path)
		}
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Enum:
			s, _ := v.(string)
			if values := valuesOf(d); s != "" && !slices.Contains(values, s) {
				return lumigl.Value{}, wrong(path, "expected %s%s", describe(t), didYouMean(s, values))
			}
			return plain(s != "")
		case *schema.Struct:
			if v, ok := v.(*yaql.Dict); ok {
				return c.object(d.Properties, v, path)
			}
		case *schema.Resource:
			if r := resourceOf(v); r != nil && r.decl.Token == d.Token {
				return lumigl.ReferenceTo(r.vertex), nil
			}
		case *schema.Union:
			if r := resourceOf(v); r != nil && slices.Contains(d.Tokens(), r.decl.Token) {
				return lumigl.ReferenceTo(r.vertex), nil
			}
			if v, ok := v.(*yaql.Dict); ok && d.Tokens() == nil {
				return c.variant(d.Variants, v, path)
			}
		}
	}
	return unexpected()
}

func (c checker) future(t schema.Type, f *future, path string) (lumigl.Value, error) {
	if f.typ != nil {
		if !assignable(t, f.typ) {
			return lumigl.Value{}, wrong(path, "expected %s, found %s (%s)", describe(t), describe(f.typ), f.name)
		}
		return f.value, nil
	}
	content, _ := f.value.Secret()
	v, err := c.value(t, tree(content, nil).Data(), path)
	if err != nil {
		return v, wrong(path, "expected %s, found another secret", describe(t)) // err may reveal a part of the secret
	}
	return signed(wire.Secret, "value", v), nil
}

func (c checker) list(elem schema.Type, v *yaql.List, path string) (lumigl.Value, error) {
	all := make([]lumigl.Value, v.Len())
	for i, item := range v.Items() {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item == nil && elem != schema.Any {
			return lumigl.Value{}, wrong(at, "list elements must not be null")
		}
		var err error
		if all[i], err = c.value(elem, item, at); err != nil {
			return lumigl.Value{}, err
		}
	}
	return lumigl.ListOf(all...), nil
}

// dict converts a dictionary. As in objects, null means that the key is absent, unless the element type is any.
func (c checker) dict(key, elem schema.Type, v *yaql.Dict, path string) (lumigl.Value, error) {
	var o lumigl.ObjectBuilder
	for k, item := range v.All() {
		name, ok := k.(string)
		at := member(path, name)
		if !ok || name == wire.Signature {
			return lumigl.Value{}, wrong(at, "invalid key")
		}
		if key != nil {
			if _, err := c.value(key, name, at); err != nil {
				return lumigl.Value{}, err
			}
		}
		if item == nil && elem != schema.Any {
			continue
		}
		x, err := c.value(elem, item, at)
		if err != nil {
			return lumigl.Value{}, err
		}
		o.Set(name, x)
	}
	return o.Object(), nil
}

// object converts a dictionary to an object with the declared properties.
func (c checker) object(properties []*schema.Property, v *yaql.Dict, path string) (lumigl.Value, error) {
	var o lumigl.ObjectBuilder
	var settable []string
	for _, p := range properties {
		given, _, _ := v.Get(p.Name)
		at := member(path, p.Name)
		if !p.Out {
			settable = append(settable, p.Name)
		}
		switch {
		case given == nil && !p.Optional && !p.Out:
			return lumigl.Value{}, yaql.Errorf(yaql.Value, "%s is required", at)
		case given == nil:
			continue
		case p.Out:
			return lumigl.Value{}, yaql.Errorf(yaql.Value, "%s is set by the provider, not by a workflow", at)
		}
		x, err := c.value(p.Type, given, at)
		if err == nil {
			err = checkLimits(p.Type, p.Constraints, x, at)
		}
		if err != nil {
			return lumigl.Value{}, err
		}
		if p.Secret && !x.IsSecret() {
			x = signed(wire.Secret, "value", x)
		}
		o.Set(p.Name, x)
	}
	for key, item := range v.All() {
		name, _ := key.(string)
		if item != nil && !slices.ContainsFunc(properties, func(p *schema.Property) bool { return p.Name == name }) {
			return lumigl.Value{}, wrong(member(path, name), "no such property%s", didYouMean(name, settable))
		}
	}
	return o.Object(), nil
}

// variant converts a dictionary to an object with exactly one of the properties in variants.
func (c checker) variant(variants []*schema.Property, v *yaql.Dict, path string) (lumigl.Value, error) {
	o, err := c.object(variants, v, path)
	var names, found []string
	for _, p := range variants {
		names = append(names, p.Name)
		if given, _, _ := v.Get(p.Name); given != nil {
			found = append(found, p.Name)
		}
	}
	if problem := constraint.ExactlyOne(names, found); err == nil && problem != "" {
		err = wrong(path, "%s", problem)
	}
	return o, err
}

// file converts a dictionary with exactly one of the keys to an asset or an archive.
func (c checker) file(signature string, keys []string, v any, path string) (lumigl.Value, error) {
	d, ok := v.(*yaql.Dict)
	if ok && d.Len() == 1 {
		key, _ := d.Keys()[0].(string)
		if content := d.Values()[0]; key == "assets" && slices.Contains(keys, key) {
			if entries, ok := content.(*yaql.Dict); ok {
				assets := lumigl.ObjectBuilder{}
				for name, asset := range entries.All() {
					text, _ := name.(string)
					x, err := c.file(wire.Asset, []string{"text", "path", "uri", "assets"}, asset, member(path, text))
					if err != nil {
						return x, err
					}
					assets.Set(text, x)
				}
				return signed(wire.Archive, key, assets.Object()), nil
			}
		} else if slices.Contains(keys, key) {
			x, err := c.value(schema.String, content, member(path, key))
			return signed(signature, key, x), err
		}
	}
	return lumigl.Value{}, wrong(path, "expected a dictionary with %s, found %s", oneOf(keys), foundIn(v))
}

func isNumber(t schema.Type) bool { return t == schema.Number || t == schema.Int }

// assignable reports whether an output of type found can be used where type expected is required.
func assignable(expected, found schema.Type) bool {
	expected, found = schema.Underlying(expected), schema.Underlying(found)
	if found == schema.Any {
		return true
	}
	f, isRef := found.(*schema.Ref)
	isA := func(d schema.Decl) bool { return isRef && f.Decl == d }
	switch e := expected.(type) {
	case schema.Primitive:
		if isRef {
			switch d := f.Decl.(type) {
			case *schema.Resource:
				return e == schema.AnyResource
			case *schema.Union:
				isCapability := d.Tokens() != nil
				return e == schema.AnyResource && isCapability || e == schema.Any && !isCapability
			case *schema.Enum:
				return e == schema.String || e == schema.Any
			}
		}
		return e == schema.Any && found != schema.AnyResource || e == found || isNumber(e) && isNumber(found)
	case *schema.List:
		list, ok := found.(*schema.List)
		return ok && assignable(e.Elem, list.Elem)
	case *schema.Map:
		m, ok := found.(*schema.Map)
		return ok && assignable(e.Elem, m.Elem) || isRef && f.Decl.Head().Kind == "struct" && e.Elem == schema.Any
	case *schema.Ref:
		if r, ok := e.Decl.(*schema.Resource); ok && isRef {
			other, ok := f.Decl.(*schema.Resource)
			return ok && r.Token == other.Token
		}
		if u, ok := e.Decl.(*schema.Union); ok && isRef {
			if r, ok := f.Decl.(*schema.Resource); ok {
				return slices.Contains(u.Tokens(), r.Token)
			}
		}
		return isA(e.Decl)
	}
	return false
}

func valuesOf(e *schema.Enum) []string {
	var all []string
	for _, m := range e.Members {
		all = append(all, m.Value)
	}
	return all
}

func didYouMean(name string, names []string) string {
	if near := suggest.Name(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func oneOf(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, fmt.Sprintf("%q", w))
	}
	return strings.Join(all, " or ")
}

func describe(t schema.Type) string {
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		return string(t)
	case *schema.List:
		return "list"
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Enum:
			return oneOf(valuesOf(d))
		case *schema.Resource:
			return "resource of type " + d.Token
		case *schema.Union:
			if tokens := d.Tokens(); tokens != nil {
				return "resource of type " + strings.Join(tokens, " or ")
			}
		}
	}
	return "dictionary"
}

// foundIn returns a description of a value that does not reveal it.
func foundIn(v any) string {
	if r := resourceOf(v); r != nil {
		return "resource " + r.title()
	}
	return yaql.TypeName(v)
}

// Is implements [muranopl.Future].
func (f *future) Is(kind string) bool {
	t := kinds[kind]
	if t == nil {
		return false
	}
	_, err := checker{}.value(t, f, "")
	return err == nil
}
