package state

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// The text of a vertex always uses LumiGL's default reference tag, since texts are parsed together as a single
// document, which has one tag. Data keys that look like the tag are escaped with an additional "#".

// isLikeTag reports whether a key is the reference tag, possibly with additional "#" characters for escaping.
func isLikeTag(key string) bool {
	return strings.HasPrefix(key, "#") && strings.TrimLeft(key, "#") == lumigl.DefaultTag[1:]
}

func hasKeyLikeTag(object lumigl.Value) bool {
	for key := range object.Members() {
		if isLikeTag(key) {
			return true
		}
	}
	return false
}

func text(v lumigl.Value) string { return string(appendValue(nil, v)) }

func appendValue(dst []byte, v lumigl.Value) []byte {
	switch v.Kind() {
	case lumigl.Reference:
		to, property, _ := v.Target()
		dst = lumigl.AppendText(append(dst, `{"`+lumigl.DefaultTag+`":`...), to.Key())
		if property != "" {
			dst = lumigl.AppendText(append(dst, `,"property":`...), property)
		}
		return append(dst, '}')
	case lumigl.List:
		dst = append(dst, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	case lumigl.Object:
		open := byte('{')
		for key, part := range v.Members() {
			if isLikeTag(key) {
				key = "#" + key
			}
			dst = append(lumigl.AppendText(append(dst, open), key), ':')
			dst, open = appendValue(dst, part), ','
		}
		if open == '{' {
			dst = append(dst, open)
		}
		return append(dst, '}')
	case lumigl.Text:
		s, _ := v.Text()
		return lumigl.AppendText(dst, s)
	case lumigl.Number:
		literal, _ := v.Literal()
		return append(dst, literal...)
	case lumigl.Bool:
		set, _ := v.Bool()
		return strconv.AppendBool(dst, set)
	}
	return append(dst, "null"...)
}

// parser has limits far above the size of any stored data.
var parser = lumigl.Parser{MaxSize: 1<<32 - 1, MaxDepth: 1 << 16, MaxValues: 1 << 30}

// parse parses texts as a single document, since each parse has a fixed cost. Each text must be an object.
// References are not decoded. The error identifies the damaged text by name.
func parse(texts []string, name func(i int) string) (lumigl.Value, error) {
	list, err := parser.ParseValue("[" + strings.Join(texts, ",") + "]")
	isDamaged := err != nil || list.Len() != len(texts)
	for _, v := range list.Elements() {
		isDamaged = isDamaged || v.Kind() != lumigl.Object
	}
	if !isDamaged {
		return list, nil
	}
	for i, text := range texts {
		if v, err := parser.ParseValue(text); err != nil {
			return lumigl.Value{}, fmt.Errorf("%s: %w", name(i), err)
		} else if v.Kind() != lumigl.Object {
			return lumigl.Value{}, fmt.Errorf("%s: expected an object, got %s", name(i), v.Kind())
		}
	}
	return lumigl.Value{}, err // the texts together exceed a limit
}

// targets resolves references by key, either to a vertex of doc or to a vertex that has only a URN.
type targets struct {
	doc    lumigl.Graph
	others map[string]*lumigl.Vertex
}

func (t *targets) vertex(key string) *lumigl.Vertex {
	v := cmp.Or(t.doc.Vertex(key), t.others[key])
	if v == nil {
		v, _ = lumigl.NewResource(urn.URN(key)) // nil if the key is not a URN
		if t.others == nil {
			t.others = map[string]*lumigl.Vertex{}
		}
		t.others[key] = v
	}
	return v
}

// refer decodes references in a parsed value and unescapes keys.
func (t *targets) refer(v lumigl.Value) lumigl.Value {
	return v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if part.Kind() != lumigl.Object || !hasKeyLikeTag(part) {
			return part, false
		}
		if key, isReference := part.Get(lumigl.DefaultTag).Text(); isReference {
			return lumigl.PropertyOf(t.vertex(key), textOf(part, "property")), true
		}
		var members lumigl.ObjectBuilder
		for key, inside := range part.Members() {
			if isLikeTag(key) {
				key = key[1:]
			}
			members.Set(key, t.refer(inside))
		}
		return members.Object(), true
	})
}
