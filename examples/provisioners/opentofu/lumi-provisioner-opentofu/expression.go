package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/runtime/provisioner"
)

// unknown is an expression whose type and value are known only after apply.
const unknown = "jsondecode(timestamp())"

// value converts v to OpenTofu's JSON syntax, in which every string is a template.
func (w *writer) value(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, float64:
		return v, nil
	case string:
		return literal(v), nil
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			var err error
			if list[i], err = w.value(element); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return list, nil
	case map[string]any:
		members := object{}
		for name, member := range v {
			written, err := w.value(member)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			members[literal(name)] = written
		}
		return members, nil
	}
	text, err := w.expression(v, false)
	return "${" + text + "}", err
}

// literal returns a template that evaluates to s.
func literal(s string) string {
	if strings.Contains(s, "${") || strings.Contains(s, "%{") {
		return "${" + quote(s) + "}"
	}
	return s
}

// expression converts v to an OpenTofu expression. If secret is true, literals become sensitive variables.
func (w *writer) expression(v any, secret bool) (string, error) {
	switch v := v.(type) {
	case string:
		if secret {
			return w.variable(v), nil
		}
		return quote(v), nil
	case []any:
		elements := make([]string, len(v))
		for i, element := range v {
			var err error
			if elements[i], err = w.expression(element, secret); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(elements, ", ") + "]", nil
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member, err := w.expression(v[name], secret)
			if err != nil {
				return "", err
			}
			members = append(members, quote(name)+" = "+member)
		}
		return "{" + strings.Join(members, ", ") + "}", nil
	case provisioner.Secret:
		if isLiteral(v.Value) {
			return w.variable(v.Value), nil
		}
		text, err := w.expression(v.Value, true)
		return "sensitive(" + text + ")", err
	case provisioner.Reference:
		return w.reference(v)
	case provisioner.Interpolation:
		return w.template(v.Parts, secret)
	case provisioner.JSON:
		text, err := w.json(v.Value, secret)
		return `"` + text + `"`, err
	case provisioner.Part:
		of, err := w.expression(v.Of, secret)
		path := v.Path
		if !strings.HasPrefix(path, "[") {
			path = "." + path
		}
		return of + path, err
	}
	return marshal(v), nil
}

// isLiteral reports whether v consists only of JSON types, without special values such as references.
func isLiteral(v any) bool {
	switch v := v.(type) {
	case nil, bool, float64, string:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(element any) bool { return !isLiteral(element) })
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(member any) bool { return !isLiteral(member) })
	}
	return false
}

// variable adds a sensitive variable with the value v and returns a reference to it. This keeps the value out of the
// configuration and OpenTofu's output.
func (w *writer) variable(v any) string {
	name := "secret_" + strconv.Itoa(len(w.variables)+1)
	w.variables[name] = v
	return "var." + name
}

// reference converts a reference to an expression: an attribute of a resource in the configuration, or the current value of
// a property of a resource in the context.
func (w *writer) reference(ref provisioner.Reference) (string, error) {
	property := ref.Property
	if property == "" {
		property = "id"
	}
	if property == "urn" {
		return quote(string(ref.URN)), nil
	}
	if r := w.newest[ref.URN]; r != nil {
		return w.addresses[r.Key] + "." + snake(property), nil
	}
	for _, r := range w.change.Context {
		if r.URN != ref.URN {
			continue
		}
		v := r.Properties[property]
		if m, ok := r.Metadata[property]; ok {
			v = m
		}
		if property == "id" && r.ID != "" {
			v = r.ID
		}
		if s, isSecret := v.(provisioner.Secret); v != nil && (isLiteral(v) || isSecret && isLiteral(s.Value)) {
			return w.expression(v, false)
		}
	}
	if w.planning {
		return unknown, nil
	}
	return "", fmt.Errorf("%s of %s is not known", property, ref.URN)
}

// template converts the parts of an interpolation to a quoted template.
func (w *writer) template(parts []any, secret bool) (string, error) {
	var b strings.Builder
	b.WriteByte('"')
	for _, part := range parts {
		if s, ok := part.(string); ok && !secret {
			b.WriteString(inner(s))
			continue
		}
		text, err := w.expression(part, secret)
		if err != nil {
			return "", err
		}
		b.WriteString("${" + text + "}")
	}
	b.WriteByte('"')
	return b.String(), nil
}

// json returns a template that evaluates to the JSON encoding of v. It encodes literals itself: jsonencode escapes more
// characters, so the text would differ from Lumi's encoding of the same value.
func (w *writer) json(v any, secret bool) (string, error) {
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			text, err := w.json(element, secret)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := w.json(v[name], secret)
			if err != nil {
				return "", err
			}
			parts = append(parts, inner(marshal(name))+":"+text)
		}
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	if isLiteral(v) && !secret {
		return inner(marshal(v)), nil
	}
	text, err := w.expression(v, secret)
	return "${jsonencode(" + text + ")}", err
}

// marshal returns the JSON encoding of a scalar with minimal escaping.
func marshal(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // encoding a scalar never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// inner returns s escaped for use within a quoted template.
func inner(s string) string {
	quoted := quote(s)
	return quoted[1 : len(quoted)-1]
}

// quote returns a string literal that evaluates to s. It escapes the first character of template sequences as a code point.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		next := s[i+1:]
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || (r == '$' || r == '%') && (next == "" || next[0] == '{'):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
