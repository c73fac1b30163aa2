package expr

import (
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// Format formats an expression on one line, as in a program: `${bucket.arn}/*`, jsonStringify({…}),
// bucket.rules[0].id, or uniqueName("photos"). show formats other operands; it must put strings in double quotes. Format returns false if v is
// not a valid expression.
func Format(v lumigl.Value, show func(lumigl.Value) string) (string, bool) {
	if !v.IsExpression() {
		return "", false
	}
	inner := func(v lumigl.Value) string {
		if text, ok := Format(v, show); ok {
			return text
		}
		return show(v)
	}
	switch parts, value, object := v.Get(interpolate), v.Get(jsonStringify), v.Get(get); {
	case parts.Kind() == lumigl.List:
		var b strings.Builder
		b.WriteByte('`')
		for _, part := range parts.Elements() {
			text := inner(part)
			if quoted := strings.TrimPrefix(text, `"`); part.Kind() == lumigl.Text && len(quoted) < len(text) && strings.HasSuffix(quoted, `"`) {
				b.WriteString(template.Replace(quoted[:len(quoted)-1]))
			} else {
				b.WriteString("${" + text + "}")
			}
		}
		b.WriteByte('`')
		return b.String(), true
	case value.Exists():
		return "jsonStringify(" + inner(value) + ")", true
	case object.Exists():
		path, _ := v.Get(getPath).Text()
		if !strings.HasPrefix(path, "[") {
			path = "." + path
		}
		return inner(object) + path, true
	case v.Get(uniqueName).Exists():
		if length := v.Get(uniqueLength); length.Exists() {
			return "uniqueName(" + show(v.Get(uniqueName)) + ", {length: " + show(length) + "})", true
		}
		return "uniqueName(" + show(v.Get(uniqueName)) + ")", true
	}
	return "", false
}

// Open splits an expression into its operation, such as "jsonStringify" or "get a.b interpolate", and its operand, for
// output on several lines. For other values, it returns "" and v.
func Open(v lumigl.Value) (what string, content lumigl.Value) {
	for v.IsExpression() {
		main := get
		for _, key := range []string{interpolate, jsonStringify, uniqueName} {
			if v.Get(key).Exists() {
				main = key
			}
		}
		if !v.Get(main).Exists() {
			break
		}
		path, _ := v.Get(getPath).Text()
		what = strings.TrimSpace(strings.TrimSpace(what+" "+main) + " " + path)
		v = v.Get(main)
	}
	return what, v
}

// template converts the contents of a double-quoted string to the contents of a template literal.
var template = strings.NewReplacer(`\\`, `\\`, `\"`, `"`, "`", "\\`", "${", `\${`)
