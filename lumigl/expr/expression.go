package expr

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// expression evaluates an expression as far as possible. The result is a secret if any operand is.
func (e *evaluator) expression(v lumigl.Value) lumigl.Value {
	var result lumigl.Value
	var secret bool
	switch parts, text, object := v.Get(interpolate), v.Get(jsonStringify), v.Get(get); {
	case parts.Kind() == lumigl.List && v.Len() == 2:
		result, secret = e.interpolate(parts)
	case text.Exists() && v.Len() == 2:
		result, secret = e.stringify(text)
	case object.Exists() && v.Get(getPath).Kind() == lumigl.Text && v.Len() == 3:
		path, _ := v.Get(getPath).Text()
		result, secret = e.get(object, path)
	case v.Get(uniqueName).Kind() == lumigl.Text:
		return v
	default:
		return e.fail("invalid expression: expected %q, %q, %q, or %q and %q", interpolate, jsonStringify, uniqueName, get, getPath)
	}
	if secret {
		return hide(result)
	}
	return result
}

func signed(signature string, members ...lumigl.Member) lumigl.Value {
	return lumigl.ObjectOf(append([]lumigl.Member{{Key: wire.Signature, Value: lumigl.TextOf(signature)}}, members...)...)
}

func expression(members ...lumigl.Member) lumigl.Value { return signed(wire.Expression, members...) }

// hide returns a secret with the content v.
func hide(v lumigl.Value) lumigl.Value {
	return signed(wire.Secret, lumigl.Member{Key: "value", Value: v})
}

// reveal removes the secret wrappers around v. secret reports whether there were any.
func reveal(v lumigl.Value) (content lumigl.Value, secret bool) {
	for {
		inner, ok := v.Secret()
		if !ok {
			return v, secret
		}
		v, secret = inner, true
	}
}

// interpolate joins parts into a string. Unknown parts are kept, and the strings between them are joined.
func (e *evaluator) interpolate(parts lumigl.Value) (result lumigl.Value, secret bool) {
	var left []lumigl.Value
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			left = append(left, lumigl.TextOf(text.String()))
			text.Reset()
		}
	}
	for i, part := range parts.Elements() {
		content, hidden := reveal(e.value(part))
		secret = secret || hidden
		nested := content.Get(interpolate)
		switch {
		case content.IsExpression() && nested.Exists():
			for _, part := range nested.Elements() {
				if part.Kind() == lumigl.Text && !part.IsUnknown() {
					text.WriteString(e.text(i, part))
				} else {
					flush()
					left = append(left, part)
				}
			}
		case isPending(content):
			flush()
			left = append(left, content)
		default:
			text.WriteString(e.text(i, content))
		}
	}
	if len(left) == 0 {
		return lumigl.TextOf(text.String()), secret
	}
	flush()
	return expression(lumigl.Member{Key: interpolate, Value: lumigl.ListOf(left...)}), secret
}

// text formats the part with index i as in a template literal.
func (e *evaluator) text(i int, v lumigl.Value) string {
	if s, ok := v.Text(); ok && e.grow(len(s)) {
		return s
	}
	if b, ok := v.Bool(); ok {
		return strconv.FormatBool(b)
	}
	if v.Kind() == lumigl.Number {
		return e.number(v)
	}
	if e.err == nil {
		switch v.Kind() {
		case lumigl.List, lumigl.Object:
			e.fail("part %d of the string is %v; use jsonStringify", i+1, v.Kind())
		default:
			e.fail("part %d of the string is %v", i+1, v.Kind())
		}
	}
	return ""
}

// number formats a number as JavaScript does.
func (e *evaluator) number(v lumigl.Value) string {
	f, _ := v.Float()
	if f == 0 {
		return "0" // also for -0
	}
	short, ok := lumigl.FloatOf(f)
	if !ok {
		e.fail("number out of range")
		return ""
	}
	text, _ := short.Literal()
	return text
}

// stringify converts a value to canonical JSON, or to a jsonStringify expression if it has unknown parts.
func (e *evaluator) stringify(v lumigl.Value) (result lumigl.Value, secret bool) {
	content := e.value(v)
	content, secret = withoutSecrets(content)
	if e.err != nil {
		return failed, false
	}
	if !IsKnown(content) {
		return expression(lumigl.Member{Key: jsonStringify, Value: content}), secret
	}
	return lumigl.TextOf(string(e.appendJSON(nil, content))), secret
}

// withoutSecrets replaces the secrets within v with their contents. secret reports whether there were any.
func withoutSecrets(v lumigl.Value) (plain lumigl.Value, secret bool) {
	v, secret = reveal(v)
	if isPending(v) {
		return v, secret
	}
	plain = v.Map(func(_ int, _ string, part lumigl.Value) (lumigl.Value, bool) {
		plain, hidden := withoutSecrets(part)
		secret = secret || hidden
		return plain, true
	})
	return plain, secret
}

// appendJSON appends a value as canonical JSON (RFC 8785), with keys sorted by UTF-16 code units.
func (e *evaluator) appendJSON(dst []byte, v lumigl.Value) []byte {
	switch v.Kind() {
	case lumigl.Text:
		s, _ := v.Text()
		return e.appendString(dst, s)
	case lumigl.Number:
		return append(dst, e.number(v)...)
	case lumigl.Bool:
		b, _ := v.Bool()
		return strconv.AppendBool(dst, b)
	case lumigl.List:
		dst = append(dst, '[')
		for i, elem := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendJSON(dst, elem)
		}
		return append(dst, ']')
	case lumigl.Object:
		return e.appendObject(dst, v)
	case lumigl.Reference:
		e.fail("cannot convert a resource to JSON; use one of its outputs")
	}
	return append(dst, "null"...)
}

func (e *evaluator) appendObject(dst []byte, v lumigl.Value) []byte {
	if v.IsFile() {
		e.fail("cannot convert an asset or archive to JSON")
	}
	type member struct {
		units []uint16
		key   string
		value lumigl.Value
	}
	var members []member
	for key, value := range v.Members() {
		members = append(members, member{utf16.Encode([]rune(key)), key, value})
	}
	slices.SortFunc(members, func(a, b member) int { return slices.CompareFunc(a.units, b.units, cmp.Compare) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(e.appendString(dst, m.key), ':')
		dst = e.appendJSON(dst, m.value)
	}
	return append(dst, '}')
}

// appendString appends a string as JSON with as few escapes as possible.
func (e *evaluator) appendString(dst []byte, s string) []byte {
	if !e.grow(len(s)) {
		return dst
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			dst = append(dst, '\\', "btn?fr"[c-'\b'])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}

// get returns the part of a value at a path. It does not evaluate other parts.
func (e *evaluator) get(v lumigl.Value, path string) (result lumigl.Value, secret bool) {
	open := func(v lumigl.Value) lumigl.Value {
		content, hidden := reveal(v)
		secret = secret || hidden
		return content
	}
	content := open(v)
	parts := wire.PathParts(path)
	for i, part := range parts {
		if isPending(content) {
			content = open(e.value(content))
		}
		switch {
		case isPending(content):
			return e.rest(content, strings.Join(parts[i:], "")), secret
		case content.Kind() == lumigl.Null:
			return content, secret
		}
		content = open(e.step(content, part))
	}
	return open(e.value(content)), secret
}

// rest returns an expression that applies the rest of a path to the unknown value v.
func (e *evaluator) rest(v lumigl.Value, path string) lumigl.Value {
	path = strings.TrimPrefix(path, ".")
	if v.IsExpression() && v.Get(get).Exists() {
		before, _ := v.Get(getPath).Text()
		if v = v.Get(get); !strings.HasPrefix(path, "[") {
			before += "."
		}
		path = before + path
	}
	return expression(lumigl.Member{Key: get, Value: v}, lumigl.Member{Key: getPath, Value: lumigl.TextOf(path)})
}

// step returns the given part of a list or an object, or null if it does not exist.
func (e *evaluator) step(v lumigl.Value, part string) lumigl.Value {
	var found lumigl.Value
	key, isKey := keyOf(part)
	i, isIndex := indexOf(part)
	switch {
	case isKey && v.Kind() == lumigl.Object && !v.IsFile():
		found = v.Get(key)
	case isIndex && v.Kind() == lumigl.List:
		found = v.At(i)
	default:
		return e.fail("cannot get %s from %v", strings.TrimPrefix(part, "."), v.Kind())
	}
	if !found.Exists() {
		return lumigl.NullValue()
	}
	return found
}

// keyOf returns the key in a path segment such as .name, name, or ["a key"]. It returns false for other segments.
func keyOf(part string) (string, bool) {
	quoted, ok := strings.CutPrefix(part, "[")
	if !ok {
		name := strings.TrimPrefix(part, ".")
		return name, name != ""
	}
	var key string
	err := json.Unmarshal([]byte(strings.TrimSuffix(quoted, "]")), &key)
	return key, err == nil
}

// indexOf returns the index in a path segment such as [3]. It returns false for other segments.
func indexOf(part string) (int, bool) {
	i, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(part, "["), "]"))
	return i, err == nil && i >= 0 && part == "["+strconv.Itoa(i)+"]"
}
