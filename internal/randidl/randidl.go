// Package randidl draws the sources of random IDL packages, for tests that ask whether what the compiler accepts is
// accepted by the compilers behind it too.
//
// Names come from a small pool that was chosen to collide: with each other once a generator has changed their case or
// added to them, with words of Go and TypeScript, and with names that generated code uses. Most of what is drawn keeps
// the rules of the IDL, so that a good part of the packages is accepted.
package randidl

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// names of types; the first letter decides whether a type is exported.
var names = []string{
	"VPC", "Vpc", "vpc", "Type", "Record", "Array", "Object", "Promise", "String", "URN", "Urn", "Lumi", "Token",
	"Tokens", "Context", "Config", "Provider", "T", "TArgs", "TProvider", "TProviderOps", "NewTProvider", "t", "T_Name",
	"Struct", "Func", "Error", "Any", "E", "EA", "A", "B", "C", "Name", "Shape", "Resource", "NamedResource", "Output",
	"Input", "Asset", "Configure", "Partial", "Nil", "Map", "Üml", "Δelta", "X_1", "GroupID", "IAM", "Index", "Default",
	"class", "shape", "lumi", "number", "context", "tokens", "urn", "configure", "structpb", "iota_", "nil_", "keyof",
	"string_", "fmt", "Å", "ǅ", "SSD", "Valid", "Values", "P", "S", "V", "K", "Ops", "Required",
}

var fieldNames = []string{
	"Bar", "VPC", "IPProtocol", "GroupID", "CIDRIP", "ETag", "Name", "ID", "URN", "Type", "Constructor", "ToString",
	"Class", "New", "Default", "Function", "Valid", "String", "Error", "Props", "P", "S", "Üml", "Δelta", "X1", "A_B", "Å",
	"Args", "Token", "Shape", "Length", "Then", "Prototype", "This", "Await", "T", "E", "Lumi", "ValueOf", "Arguments",
}

var strs = []string{"a", "b", "", "default", "a b", "tab\t", "line\n", "quote\"", "back\\slash", "back`tick", "\u2028", "😀", "*/", "${x}", "</script>"}

// Source draws the source text of one file.
func Source(t *rapid.T) string {
	g := &generator{T: t, kinds: map[string]kind{}}
	count := rapid.IntRange(1, 8).Draw(t, "declarations")
	for range count {
		name := g.pick(names, "name")
		if _, taken := g.kinds[name]; taken {
			continue
		}
		g.order = append(g.order, name)
		g.kinds[name] = kind(rapid.IntRange(0, int(kindCount)-1).Draw(t, "kind"))
	}
	for _, name := range g.order {
		g.declare(name)
	}
	header := fmt.Sprintf("// Package shop is drawn at random. %s\npackage shop\n\n", g.pick(strs[:4], "doc"))
	body := g.out.String()
	if strings.Contains(body, "idl.") {
		header += "import \"github.com/lumi-idl/lumi/idl\"\n\n"
	}
	return header + body
}

type kind int

const (
	named kind = iota
	unnamed
	plain
	enum
	stringAlias
	numberAlias
	listAlias
	mapAlias
	config
	constant
	kindCount
)

type generator struct {
	*rapid.T
	out   strings.Builder
	order []string
	kinds map[string]kind
}

func (g *generator) printf(format string, args ...any) { fmt.Fprintf(&g.out, format, args...) }

func (g *generator) pick(pool []string, label string) string {
	return rapid.SampledFrom(pool).Draw(g.T, label)
}

func (g *generator) chance(percent int, label string) bool {
	return rapid.IntRange(0, 99).Draw(g.T, label) < percent
}

func (g *generator) declare(name string) {
	if g.chance(50, "documented") {
		g.printf("// %s is documented %q.\n", name, g.pick(strs, "doc"))
	}
	switch g.kinds[name] {
	case named:
		g.structure(name, "idl.NamedResource")
	case unnamed:
		g.structure(name, "idl.Resource")
	case plain:
		g.structure(name, "")
	case config:
		g.structure(name, "idl.Config")
	case enum:
		g.enum(name)
	case stringAlias:
		g.printf("type %s string\n\n", name)
	case numberAlias:
		g.printf("type %s %s\n\n", name, g.pick([]string{"float64", "bool", "float64", "int"}, "number"))
	case listAlias:
		g.printf("type %s []%s\n\n", name, g.elem(2))
	case mapAlias:
		g.printf("type %s map[%s]%s\n\n", name, g.key(), g.elem(2))
	case constant:
		g.printf("const %s = %s\n\n", name, g.pick([]string{"1", "-2.5", "true", `"x\u2028\"y"`, "1 << 63", "3.0", "1e-310"}, "value"))
	}
}

func (g *generator) enum(name string) {
	g.printf("type %s string\n\nconst (\n", name)
	seen := map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(g.T, "members") {
		member := g.pick([]string{name + "A", name + "B", "A" + name, "B" + name, "SSD" + name, "_" + name, name + "__proto__", "toString" + name}, "member")
		value := g.pick(strs, "value")
		if seen[member] || seen["="+value] || g.kinds[member] != 0 {
			continue
		}
		seen[member], seen["="+value] = true, true
		g.printf("\t%s %s = %q\n", member, name, value)
	}
	g.printf(")\n\n")
}

func (g *generator) structure(name, marker string) {
	g.printf("type %s struct {\n", name)
	if marker != "" {
		g.printf("\t%s\n", marker)
	}
	if structs := g.of(plain); len(structs) > 0 && structs[0] != name && g.chance(15, "embed") {
		g.printf("\t%s\n", structs[0])
	}
	seen := map[string]bool{}
	for range rapid.IntRange(0, 6).Draw(g.T, "fields") {
		field := g.pick(fieldNames, "field")
		if seen[field] {
			continue
		}
		seen[field] = true
		typ, tag := g.property(marker)
		g.printf("\t%s %s%s", field, typ, tag)
		if g.chance(30, "documented") {
			g.printf(" // %s", strings.ReplaceAll(g.pick(strs, "doc"), "\n", " "))
		}
		g.printf("\n")
	}
	g.printf("}\n\n")
}

// property draws a type and a tag that mostly agree with each other.
func (g *generator) property(marker string) (typ, tag string) {
	var options []string
	resource := marker == "idl.NamedResource" || marker == "idl.Resource"
	if g.chance(20, "secret") {
		options = append(options, "secret")
	}
	if resource && g.chance(15, "in") {
		options = append(options, "in")
	}
	out := resource && g.chance(20, "out") && !slices.Contains(options, "in")
	if out {
		options = append(options, "out")
	} else if resource && g.chance(20, "replaces") {
		options = append(options, "replaces")
	}
	if g.chance(10, "name") {
		options = append(options, "name="+g.pick([]string{"x", "y", "$ref", "class", "id", "name", "type", "_", "ünï"}, "named"))
	}
	typ, natural := g.value()
	switch {
	case natural && g.chance(40, "optional"):
		options = append(options, "optional")
	case !natural && out && g.chance(30, "pointer"):
		typ = "*" + typ
	case !natural && g.chance(40, "optional"):
		typ = "*" + typ
		options = append(options, "optional")
	}
	if len(options) == 0 {
		return typ, ""
	}
	return typ, " `lumi:\"" + strings.Join(options, ",") + "\"`"
}

// value draws the type of a property, and whether it says by itself that a value may be absent.
func (g *generator) value() (typ string, natural bool) {
	if g.chance(25, "reference") {
		if resources := g.of(named, unnamed); len(resources) > 0 && g.chance(50, "known") {
			return "*" + g.pick(resources, "resource"), true
		}
		return g.pick([]string{"*idl.Resource", "*idl.Asset", "*idl.Archive", "any"}, "marker"), true
	}
	return g.plain(2), false
}

func (g *generator) plain(depth int) string {
	if depth > 0 && g.chance(30, "composite") {
		if g.chance(50, "list") {
			return "[]" + g.elem(depth-1)
		}
		return "map[" + g.key() + "]" + g.elem(depth-1)
	}
	if declared := g.of(plain, enum, stringAlias, numberAlias, listAlias, mapAlias); len(declared) > 0 && g.chance(60, "declared") {
		return g.pick(declared, "type")
	}
	return g.pick([]string{"bool", "float64", "string"}, "primitive")
}

func (g *generator) elem(depth int) string {
	if g.chance(20, "reference") {
		resources := append(g.of(named, unnamed), "idl.Resource", "idl.Asset", "any", "*idl.Archive")
		return g.pick(resources, "element")
	}
	if g.chance(20, "pointer") {
		return "*" + g.plain(depth)
	}
	return g.plain(depth)
}

func (g *generator) key() string {
	if keys := g.of(enum, stringAlias); len(keys) > 0 && g.chance(40, "key") {
		return g.pick(keys, "declared")
	}
	return "string"
}

// of returns the names of the declarations of some kinds.
func (g *generator) of(kinds ...kind) []string {
	var found []string
	for _, name := range g.order {
		if slices.Contains(kinds, g.kinds[name]) {
			found = append(found, name)
		}
	}
	return found
}
