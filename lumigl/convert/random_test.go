package convert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestRandomSources converts well-formed but unusual sources: invalid names and types, duplicate names, cycles, special
// values of every kind, and numbers of any size. The result must be a valid snapshot or a specific error, and secrets
// must stay secret.
func TestRandomSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &odd{T: t}
		var source any
		format := rapid.SampledFrom([]convert.Format{convert.Pulumi, convert.OpenTofu}).Draw(t, "format")
		switch format {
		case convert.Pulumi:
			source = g.stack()
		case convert.OpenTofu:
			source = g.state()
		}
		src := string(must.Get(json.Marshal(source))(t))
		options := convert.Options{From: format, ShortTypes: g.coin(), KeepValues: g.coin()}
		if g.coin() {
			options.Environment, options.Package = "env", "pkg"
		}
		result, err := convert.Convert(src, options)
		if err != nil {
			var invalid *lumigl.InvalidError
			if strings.Contains(err.Error(), "would not be accepted") || errors.As(err, &invalid) {
				t.Fatalf("Convert = %s, want a specific error\n%s", err, src)
			}
			return
		}
		accepted, err := lumigl.ParseSnapshot(textOf(result))
		if err != nil {
			t.Fatalf("ParseSnapshot: %s\n%s\n%s", err, src, textOf(result))
		}
		if out, err := lumigl.Append(nil, accepted); err != nil || string(out) != textOf(result) {
			t.Fatalf("the text is not canonical (Append error: %v):\n%s\n%s", err, src, textOf(result))
		}
		again, err := convert.Convert(src, options)
		if err != nil || textOf(again) != textOf(result) || !slices.EqualFunc(again.Losses, result.Losses,
			func(a, b convert.Loss) bool { return line(a) == line(b) }) {
			t.Fatalf("a second call of Convert returned another result (error: %v):\n%s", err, src)
		}
		written := must.Get(lumigl.Parser{}.ParseValue(textOf(result)))(t)
		if found := bare(written); found != "" {
			t.Fatalf("the snapshot reveals secret %s\n%s\n%s", found, src, textOf(result))
		}
		for _, l := range result.Losses {
			if strings.Contains(l.Message, "hunter2") || l.Message == "" || l.Pointer() == "" {
				t.Fatalf("loss at %s has message %q, want one that reveals no secret\n%s", l.Pointer(), l.Message, src)
			}
		}
	})
}

// bare returns a string in v that should be secret but is not, or "" if there is none.
func bare(v lumigl.Value) string {
	if _, ok := v.Secret(); ok {
		return ""
	}
	if text, _ := v.Text(); strings.HasPrefix(text, "hunter2") {
		return text
	}
	for _, e := range v.Elements() {
		if found := bare(e); found != "" {
			return found
		}
	}
	for _, m := range v.Members() {
		if found := bare(m); found != "" {
			return found
		}
	}
	return ""
}

// odd generates unusual sources.
type odd struct {
	*rapid.T
	secrets int
}

type object = map[string]any

func (g *odd) coin() bool { return rapid.Bool().Draw(g.T, "coin") }

func (g *odd) upTo(n int) int { return rapid.IntRange(0, n).Draw(g.T, "n") }

func pick[T any](g *odd, from ...T) T { return rapid.SampledFrom(from).Draw(g.T, "pick") }

func (g *odd) name() string {
	return pick(g, "n", "m", "a::b", "::", "x$y", "", " ", "n\x00", "é\u2028💡", "#ref", "n (2)", `q"\`, "[0]", "My.App", "app", "a/b", "..")
}

func (g *odd) kind() string {
	return pick(g, "a:b:C", "a:b/c:C", "a:b/c:c", "x:y:Z", "", "a", "::", "A:B:c", "pulumi:pulumi:Stack", "a:1:2", "a_b", "a", "é:é:é", "a:b:C:d")
}

func (g *odd) secret() string { g.secrets++; return "hunter2-" + strconv.Itoa(g.secrets) }

func (g *odd) number() json.Number {
	return pick[json.Number](g, "0", "-0", "1.0", "1e2", "123456789012345678901234567890", "-1E+999", "1e-400", "18446744073709551616", "0.1e1")
}

// special generates an object with a signature and valid or invalid contents.
func (g *odd) special(urns []string, depth int) any {
	signature := pick(g, "1b47061264138c4ac30d75fd1eb44270", "c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7",
		"5cf8f73096256a8f31e491e813e4eb8e", "d0e6a833031e9bbcd3f4e8bde6ca49a4", "8ad145fe-0d11-4827-bfd7-1abcbf086f5c",
		"803fd3297a5875dc03ca845dda5d2a98", "other", "")
	o := object{lumiSignature: signature}
	for range g.upTo(3) {
		o[pick(g, "value", "text", "path", "uri", "assets", "hash", "urn", "id", "known", "secret", "dependencies", "packageVersion")] =
			pick[any](g, g.value(urns, depth+1), pick(g, append(urns, "x")...), true, "7ff8000000000000", "/w==")
	}
	return o
}

// value generates a value. Strings that start with hunter2 are secrets.
func (g *odd) value(urns []string, depth int) any {
	switch g.upTo(9 - min(2*depth, 6)) {
	case 0:
		return nil
	case 1:
		return g.number()
	case 2:
		return pick[any](g, true, false, "text", "", "id-1", "id-long-enough-1", "\x00\u2028")
	case 3:
		return pick(g, append(urns, "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2")...)
	case 4, 5:
		list := []any{}
		for range g.upTo(3) {
			list = append(list, g.value(urns, depth+1))
		}
		return list
	case 6, 7:
		o := object{}
		for range g.upTo(3) {
			o[pick(g, "a", "b", "#ref", "property", "", "__x", lumiSignature, "#ref2", "value", "type", "id")] = g.value(urns, depth+1)
		}
		return o
	default:
		return g.special(urns, depth)
	}
}

func (g *odd) stack() any {
	var urns []string
	for range g.upTo(4) {
		chain := g.kind()
		if g.coin() {
			chain = g.kind() + "$" + chain
		}
		urns = append(urns, fmt.Sprintf("urn:pulumi:%s::%s::%s::%s", pick(g, "s", "a b", ""), pick(g, "p", "My.App", "my-app", ""), chain, g.name()))
	}
	resource := func(u string) object {
		in, out := object{}, object{}
		for range g.upTo(3) {
			name := pick(g, "a", "b", "id", "#ref", "__defaults", "", "token")
			in[name], out[name] = g.value(urns, 0), g.value(urns, 0)
			if g.coin() {
				in[name], out[name] = g.hidden(name != "__defaults")
			}
		}
		r := object{"urn": u, "custom": g.coin(), "type": pick(g, g.kind(), "a:b:C"), "id": pick(g, "id-1", "id-2", ""), "inputs": in, "outputs": out}
		for range g.upTo(4) {
			key := pick(g, "delete", "protect", "parent", "dependencies", "propertyDependencies", "aliases", "external", "initErrors", "replacementTrigger")
			switch key {
			case "delete", "protect", "external":
				r[key] = g.coin()
			case "parent":
				r[key] = pick(g, urns...)
			case "replacementTrigger":
				r[key] = g.value(urns, 0)
			case "propertyDependencies":
				r[key] = object{pick(g, "a", "id", "#ref", ""): []string{pick(g, urns...), pick(g, urns...)}}
			default:
				r[key] = []string{pick(g, urns...), "urn:pulumi:s::p::a:b:C::gone"}
			}
		}
		return r
	}
	resources, pending := []any{}, []any{}
	for _, u := range urns {
		resources = append(resources, resource(u))
		if g.coin() {
			pending = append(pending, object{"type": pick(g, "creating", "updating", "deleting", "reading"), "resource": resource(pick(g, urns...))})
		}
	}
	if len(urns) > 0 && g.coin() {
		resources = append(resources, resource(urns[0]))
	}
	deployment := object{"manifest": object{}, "resources": resources, "pending_operations": pending, "metadata": g.value(nil, 1)}
	if g.coin() {
		return object{"version": g.upTo(5), "checkpoint": object{"latest": deployment, "config": object{"a:b": object{"secure": "v1:x"}}}}
	}
	return object{"version": pick(g, 1, 2, 3, 4), "deployment": deployment}
}

// hidden generates the input and the output of a property. Part of the input is secret. The output repeats it as plain
// text and may contain more.
func (g *odd) hidden(both bool) (in, out any) {
	text := g.secret()
	plain := must.Get(json.Marshal(text))(g)
	in = object{lumiSignature: "1b47061264138c4ac30d75fd1eb44270", "plaintext": string(plain)}
	out = text
	if !both {
		return in, in
	}
	for range g.upTo(3) {
		switch g.upTo(3) {
		case 0:
			in, out = []any{"x", in}, []any{"x", out}
		case 1:
			in, out = []any{in}, []any{"more", out}
		case 2:
			in, out = object{"k": in}, object{"k": out, "more": 1}
		default:
			in, out = object{"k": in}, []any{out}
		}
	}
	if g.coin() {
		in, out = out, in
	}
	return in, out
}

func (g *odd) state() any {
	resources := []any{}
	addresses := []string{"", "a_b.n", "module.m.a_b.n", "data.a_b.n"}
	for range g.upTo(4) {
		instances := []any{}
		for range g.upTo(3) {
			attributes := object{"id": pick[any](g, "id-1", "id-long-enough-1", "id-long-enough-2", nil, 5)}
			paths := []any{}
			for range g.upTo(3) {
				name := pick(g, "a", "b", "input", "output", "#ref", "id")
				attributes[name] = g.value(nil, 0)
				if g.coin() {
					var path []any
					attributes[name], path = g.marked(name)
					paths = append(paths, path)
				}
			}
			i := object{"schema_version": 0, "attributes": attributes, "sensitive_attributes": paths, "private": "hunter2-private",
				"dependencies": []string{pick(g, addresses...)}, "status": pick(g, "", "tainted")}
			if g.coin() {
				i["index_key"] = pick[any](g, 0, 1, "k", g.name())
			}
			if g.coin() {
				i["deposed"] = pick(g, "00000001", "")
			}
			instances = append(instances, i)
		}
		resources = append(resources, object{"mode": pick(g, "managed", "data"), "module": pick(g, "", "module.m", `module.m["x"]`, g.name()),
			"type": pick(g, "a_b", "terraform_data", g.kind()), "name": g.name(), "instances": instances,
			"provider": pick(g, "", "provider.a", `provider["registry.opentofu.org/hashicorp/a"]`, g.name())})
	}
	return object{"version": 4, "serial": pick[any](g, 0, json.Number("18446744073709551615"), g.number()), "lineage": g.name(), "resources": resources,
		"outputs": object{g.name(): object{"value": g.secret(), "sensitive": true}, "plain": object{"value": g.value(nil, 0)}}}
}

// marked generates an attribute that contains a secret, and the path to the secret.
func (g *odd) marked(name string) (v any, path []any) {
	v = g.secret()
	for range g.upTo(3) {
		switch g.upTo(2) {
		case 0:
			v, path = []any{1, v}, append([]any{object{"type": "index", "value": object{"value": 1, "type": "number"}}}, path...)
		case 1:
			v, path = object{"k": v, "l": 2}, append([]any{object{"type": "get_attr", "value": "k"}}, path...)
		default: // a dynamic value is stored with its type, and a path into a set does not resolve
			v = object{"value": v, "type": "dynamic"}
			if g.coin() {
				path = []any{object{"type": "index", "value": object{"value": object{"k": 1}, "type": "object"}}}
			}
		}
	}
	return v, append([]any{object{"type": "get_attr", "value": name}}, path...)
}
