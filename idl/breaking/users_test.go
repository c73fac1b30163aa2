package breaking_test

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/schema"
)

// program returns a TypeScript program that uses everything in the package, which is in the folder pack next to it.
func program(pkg *schema.Package) string {
	p := &writer{uses: breaking.Uses(pkg), modules: map[*schema.Module]string{}}
	p.line("import * as lumi from %q;", "@lumi/lumi")
	for i, m := range pkg.Modules {
		p.modules[m] = "m" + strconv.Itoa(i)
		p.line("import * as m%d from %q;", i, "./"+path.Join("pack", m.Path, "index.js"))
		p.line("export const used%d = m%[1]d;", i)
	}
	p.line("export const output: typeof lumi.interpolate = lumi.interpolate;")
	for d := range pkg.Decls() {
		if d.Head().Exported() {
			p.decl(d)
		}
	}
	return p.String()
}

// writer generates source code that uses the declarations of a package.
type writer struct {
	strings.Builder
	uses    map[schema.Decl]breaking.Use
	modules map[*schema.Module]string
	names   int
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.Builder, format+"\n", args...) }

func (w *writer) fresh() string {
	w.names++
	return "zz" + strconv.Itoa(w.names)
}

// decl writes TypeScript code that uses a declaration.
func (w *writer) decl(d schema.Decl) {
	name := w.modules[d.Head().File.Module] + "." + d.Head().Name
	switch d := d.(type) {
	case *schema.Resource:
		properties, named := d.Properties, ""
		if d.Named {
			properties, named = properties[1:], `"x", `
		}
		all, some := w.object(properties, "lumi.Input")
		r := w.fresh()
		w.line("export const %s = new %s(%s%s);", r, name, named, all)
		w.line("export const %s = new %s(%s%s);", w.fresh(), name, named, some)
		w.read(r, properties, "lumi.Input")
		for _, p := range properties {
			if !p.Out && !p.Computed && !p.Replaces {
				w.line("%s.%s = %s;", r, p.Name, w.declare(w.annotation(p, "lumi.Input")))
			}
		}
	case *schema.Function:
		all, some := w.object(d.Properties, "lumi.Input")
		call, r := w.modules[d.File.Module]+"."+schema.TSFunctionName(d), w.fresh()
		w.line("export const %s = %s(%s);", r, call, all)
		w.line("export const %s = %s(%s);", w.fresh(), call, some)
		w.read(r, slices.DeleteFunc(slices.Clone(d.Properties), func(p *schema.Property) bool { return !p.Out }), "lumi.Input")
	case *schema.Config:
		all, some := w.object(d.Properties, "")
		w.line("%s.configure(%s);\n%s.configure(%s);", w.modules[d.File.Module], all, w.modules[d.File.Module], some)
		w.read(w.declare(name), d.Properties, "")
	case *schema.Struct:
		if u := w.uses[d]; u.In || !u.Out {
			all, some := w.object(d.Properties, "")
			w.line("export const %s: %s = %s;\nexport const %s: %s = %s;", w.fresh(), name, all, w.fresh(), name, some)
		}
		w.read(w.declare(name), d.Properties, "")
	case *schema.Enum:
		for i, key := range schema.MemberKeys(d) {
			w.line("export const %s: %s = %s.%s;", w.fresh(), name, name, key)
			w.line("export const %s: %s = %s;", w.fresh(), name, quoteTS(d.Members[i].Value))
		}
		w.line("export function %s(x: %s): number {\n    switch (x) {", w.fresh(), name)
		for _, m := range d.Members {
			w.line("    case %s: return 0;", quoteTS(m.Value))
		}
		w.line("    }\n}")
	case *schema.Union:
		w.union(d, name)
	case *schema.Alias:
		w.line("export const %s: %s = %s;", w.fresh(), name, w.declare(w.typ(d.Target)))
		w.line("export const %s: %s = %s;", w.fresh(), w.typ(d.Target), w.declare(name))
	case *schema.Const:
		w.line("export const %s: %s = %s;", w.fresh(), d.Literal(quoteTS), name)
	}
}

// union writes code that sets and handles each variant of a union.
func (w *writer) union(d *schema.Union, name string) {
	x := w.fresh()
	var cases []string
	for _, v := range d.Variants {
		typ := w.typ(v.Type)
		value, is, member := "%s", fmt.Sprintf("%s instanceof %s", x, typ), x
		if d.Tokens() == nil {
			value, member = "{ "+v.Name+": %s }", x+"."+v.Name
			is = member + " !== undefined"
		}
		if u := w.uses[d]; u.In || !u.Out {
			w.line("export const %s: %s = %s;", w.fresh(), name, fmt.Sprintf(value, w.declare(typ)))
		}
		cases = append(cases, fmt.Sprintf("    if (%s) {\n        const y: %s = %s;\n        return y;\n    }", is, typ, member))
	}
	w.line("export function %s(%s: %s): unknown {\n%s\n    const none: never = %[2]s;\n    return none;\n}",
		w.fresh(), x, name, strings.Join(cases, "\n"))
}

func quoteTS(s string) string {
	q := strconv.QuoteToASCII(s)
	return strings.NewReplacer(`\a`, `\x07`, `\U0001f600`, `\u{1f600}`).Replace(q)
}

// declare declares a constant of the given type and returns its name.
func (w *writer) declare(typ string) string {
	name := w.fresh()
	w.line("export declare const %s: %s;", name, typ)
	return name
}

// object returns two object literals: all with every settable property, and some with only the required ones.
func (w *writer) object(properties []*schema.Property, wrapper string) (all, some string) {
	var every, required []string
	for _, p := range properties {
		if p.Out && wrapper != "" {
			continue
		}
		member := p.Name + ": " + w.declare(w.annotation(p, wrapper))
		every = append(every, member)
		if !p.Optional || p.Out {
			required = append(required, member)
		}
	}
	return "{ " + strings.Join(every, ", ") + " }", "{ " + strings.Join(required, ", ") + " }"
}

// annotation returns the TypeScript type of a property's value, without undefined for optional properties.
func (w *writer) annotation(p *schema.Property, wrapper string) string {
	typ := w.typ(p.Type)
	switch {
	case p.Out && p.Optional && typ != "any":
		return "lumi.Output<" + typ + " | undefined>"
	case p.Out:
		return "lumi.Output<" + typ + ">"
	case wrapper != "" && typ != "any":
		return wrapper + "<" + typ + ">"
	}
	return typ
}

// read writes code that reads each property of object.
func (w *writer) read(object string, properties []*schema.Property, wrapper string) {
	for _, p := range properties {
		typ := w.annotation(p, wrapper)
		if p.Optional && !p.Out && typ != "any" {
			typ += " | undefined"
			if wrapper != "" {
				typ = wrapper + "<" + w.typ(p.Type) + " | undefined> | undefined"
			}
		}
		if p.Computed && wrapper != "" {
			typ = "lumi.Output<" + w.typ(p.Type) + ">"
		}
		w.line("export const %s: %s = %s.%s;", w.fresh(), typ, object, p.Name)
	}
}

// typ returns t as a TypeScript type. Unexported declarations are expanded.
func (w *writer) typ(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		return map[schema.Primitive]string{
			schema.Bool: "boolean", schema.Number: "number", schema.String: "string", schema.Any: "any",
			schema.Asset: "lumi.Asset", schema.Archive: "lumi.Archive", schema.AnyResource: "lumi.Resource",
		}[t]
	case *schema.List:
		return "(" + w.typ(t.Elem) + ")[]"
	case *schema.Map:
		if schema.Underlying(t.Key) == schema.String {
			return "{ [key: string]: " + w.typ(t.Elem) + " }"
		}
		return "{ [key in " + w.typ(t.Key) + "]?: " + w.typ(t.Elem) + " }"
	case *schema.Ref:
		h := t.Decl.Head()
		if h.Exported() {
			return w.modules[h.File.Module] + "." + h.Name
		}
		switch d := t.Decl.(type) {
		case *schema.Alias:
			return w.typ(d.Target)
		case *schema.Enum:
			var values []string
			for _, m := range d.Members {
				values = append(values, quoteTS(m.Value))
			}
			return "(" + strings.Join(values, " | ") + ")"
		case *schema.Union:
			if d.Tokens() != nil {
				var types []string
				for _, v := range d.Variants {
					types = append(types, w.typ(v.Type))
				}
				return "(" + strings.Join(types, " | ") + ")"
			}
		}
	}
	return "any"
}

// author returns Go code that a provider author might write for a module. It is in the package of the stubs and uses
// all of them.
func author(m *schema.Module, root string) string {
	w := &writer{modules: map[*schema.Module]string{}}
	for i, other := range m.Imports {
		w.modules[other] = fmt.Sprintf("zzImport%d", i)
	}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			w.author(m, d)
		}
	}
	body := w.String()
	w.Reset()
	w.line("package %s\n", m.GoName)
	w.line("import (\n\tzzContext %q\n\tzzLumi %q\n\tzzURN %q", "context", runtimePath, runtimePath+"/urn")
	for _, other := range m.Imports {
		if name := w.modules[other]; strings.Contains(body, name+".") { // stubs also use the targets of aliases
			w.line("\t%s %q", name, path.Join(root, other.Path))
		}
	}
	w.line(")\n\nvar _ zzContext.Context\nvar _ zzURN.URN\n\n// ZZSeen is what Delete has seen.\nvar ZZSeen zzLumi.Bag\n")
	w.line("// ZZProviders are the providers of the package.\nvar ZZProviders = map[string]zzLumi.ResourceProvider{}\n")
	return w.String() + body
}

func (w *writer) author(m *schema.Module, d schema.Decl) {
	h := d.Head()
	name := schema.GoName(m, h.Name)
	switch d := d.(type) {
	case *schema.Resource:
		w.ops(d)
		w.fields(d, schema.GoMarshalName(h))
	case *schema.Struct, *schema.Config:
		w.line("var _ %s = %s{}", schema.GoMarshalName(h), name)
		w.fields(d, name)
	case *schema.Union:
		w.line("var _ %s = %s{}", schema.GoMarshalName(h), name)
		w.fields(d, name)
		var functions []string
		for _, v := range d.Variants {
			functions = append(functions, "func("+w.fieldType(m, v)+") error { return nil }")
		}
		w.line("func %s(v *%s) error { return v.Match(%s) }\n", w.fresh(), name, strings.Join(functions, ", "))
	case *schema.Enum:
		for _, member := range d.Members {
			w.line("var _ %s = %s", name, schema.GoName(m, member.Name))
		}
	case *schema.Alias:
		v := w.fresh()
		w.line("var %s %s\nvar _ %s = %s", v, name, w.goType(m, d.Target), v)
	case *schema.Const:
		typ := d.Type
		if typ != "bool" && typ != "string" {
			typ = "float64"
		}
		w.line("var _ %s = %s", typ, name)
	}
}

// fields writes code that reads and sets each field of a type and uses its property constants.
func (w *writer) fields(d schema.Decl, typ string) {
	h := d.Head()
	w.line("func %s(v *%s) {", w.fresh(), typ)
	for _, p := range schema.Properties(d) {
		v := w.fresh()
		w.line("\tvar %s %s = v.%s\n\tv.%[3]s = %[1]s", v, w.fieldType(h.File.Module, p), p.Field)
	}
	for _, p := range schema.GoProperties(d) {
		w.line("\t_ = %s", schema.GoPropertyConst(h, p))
	}
	w.line("}\n")
}

// fieldType returns the Go type of a property's stub field, as written in module m.
func (w *writer) fieldType(m *schema.Module, p *schema.Property) string {
	if (p.Pointer || p.Optional) && !p.Nilable() {
		return "*" + w.goType(m, p.Type)
	}
	return w.goType(m, p.Type)
}

func (w *writer) ops(r *schema.Resource) {
	ops, object := w.fresh(), schema.GoMarshalName(&r.Header)
	w.line("type %s struct{}\n", ops)
	const ctx, id = "_ zzContext.Context", "zzLumi.ID"
	state := "*zzLumi.State[*" + object + "]"
	method := func(body, format string, args ...any) {
		w.line("func (%s) %s {\n\t%s\n}\n", ops, fmt.Sprintf(format, args...), body)
	}
	method("return nil", "Check(%s, _ %s) error", ctx, state)
	if !r.Named {
		method(`return "", nil`, "Name(%s, _ %s) (string, error)", ctx, state)
	}
	method(`return "", nil`, "Create(%s, _ %s) (%s, error)", ctx, state, id)
	method("return nil, nil", "Get(%s, _ %s, _ %s) (*%s, error)", ctx, id, state, object)
	method("return nil", "Update(%s, _, _ %s, _ *zzLumi.Diff) error", ctx, state)
	method("ZZSeen, err = zzLumi.Encode(old.Properties)\n\treturn err", "Delete(%s, old %s) (err error)", ctx, state)
	w.line("func init() { ZZProviders[string(%s)] = New%sProvider(%s{}) }\n", r.Name, r.Name, ops)
}

// goType returns the Go type of t in stubs, as written in module m.
func (w *writer) goType(m *schema.Module, t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		return map[schema.Primitive]string{
			schema.Bool: "bool", schema.Number: "float64", schema.String: "string", schema.Any: "any",
			schema.Asset: "zzLumi.Asset", schema.Archive: "zzLumi.Archive", schema.AnyResource: "zzURN.URN",
		}[t]
	case *schema.List:
		return "[]" + w.goType(m, t.Elem)
	case *schema.Map:
		return "map[" + w.goType(m, t.Key) + "]" + w.goType(m, t.Elem)
	case *schema.Ref:
		h := t.Decl.Head()
		switch {
		case h.Kind == "resource":
			return "zzURN.URN"
		case h.File.Module == m:
			return schema.GoName(m, h.Name)
		}
		return w.modules[h.File.Module] + "." + h.Name
	}
	return ""
}

// state returns a JSON object with all properties, and one with only those set by programs.
func state(properties []*schema.Property, depth int) (all, set map[string]any) {
	all, set = map[string]any{}, map[string]any{}
	for _, p := range properties {
		v := value(p.Type, depth)
		if v == nil {
			continue
		}
		if p.Secret {
			v = map[string]any{signature: "1b47061264138c4ac30d75fd1eb44270", "value": v}
		}
		all[p.Name] = v
		if !p.Out {
			set[p.Name] = v
		}
	}
	return all, set
}

const signature = "4dabf18193072939515e22adb298388d"

// value returns a value of type t, or nil if its nesting would exceed depth.
func value(t schema.Type, depth int) any {
	if depth == 0 {
		return nil
	}
	file := func(kind string) any {
		return map[string]any{signature: kind, "uri": "https://example.com/file.zip"}
	}
	switch t := schema.Underlying(t).(type) {
	case schema.Primitive:
		return map[schema.Primitive]any{
			schema.Bool: true, schema.Number: 1.5, schema.String: "text", schema.Any: []any{"any", 1.0},
			schema.Asset: file("c44067f5952c0a294b673a41bacd8c17"), schema.Archive: file("0def7320c3a5731c473e5ecbe6d01bc7"),
			schema.AnyResource: "urn:lumi:test::shop:index::other:index:Thing::thing",
		}[t]
	case *schema.List:
		if v := value(t.Elem, depth-1); v != nil {
			return []any{v}
		}
		return []any{}
	case *schema.Map:
		key, _ := value(t.Key, 1).(string)
		if v := value(t.Elem, depth-1); v != nil {
			return map[string]any{key: v}
		}
		return map[string]any{}
	case *schema.Ref:
		switch d := t.Decl.(type) {
		case *schema.Resource:
			return "urn:lumi:test::shop:index::" + d.Token + "::thing"
		case *schema.Enum:
			return d.Members[len(d.Members)-1].Value
		case *schema.Union:
			for _, v := range slices.Backward(d.Variants) {
				if d.Tokens() != nil {
					return value(v.Type, depth)
				}
				if all, _ := state([]*schema.Property{v}, depth-1); len(all) > 0 {
					return all
				}
			}
		case *schema.Struct:
			all, _ := state(d.Properties, depth-1)
			for _, p := range d.Properties {
				if all[p.Name] == nil && !p.Optional {
					return nil
				}
			}
			return all
		}
	}
	return nil
}
