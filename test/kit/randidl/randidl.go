// Package randidl generates random IDL packages, to test that the code generated from any valid package compiles in Go and
// TypeScript.
//
// Names are drawn from a small pool of likely collisions: with each other after a generator changes their case or adds a
// prefix or suffix, with Go and TypeScript keywords, and with names in generated code. Most choices follow the rules of the
// IDL, so that many of the packages are valid.
package randidl

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/idl/schema"
)

// names is the pool of names for declarations. Names that start with an uppercase letter are exported.
var names = []string{
	"VPC", "Vpc", "vpc", "Type", "Record", "Array", "Object", "Promise", "String", "URN", "Urn", "Lumi", "Token",
	"Tokens", "Context", "Config", "Provider", "T", "TArgs", "TProvider", "TProviderOps", "NewTProvider", "t", "T_Name",
	"Struct", "Func", "Error", "Any", "E", "EA", "A", "B", "C", "Name", "Shape", "Resource", "NamedResource", "Output",
	"Input", "Asset", "Configure", "Partial", "Nil", "Map", "Üml", "Δelta", "X_1", "GroupID", "IAM", "Index", "Default",
	"class", "as", "infer", "shape", "lumi", "number", "context", "tokens", "urn", "configure", "structpb", "iota_", "nil_", "keyof",
	"string_", "fmt", "Å", "ǅ", "SSD", "Valid", "Values", "P", "S", "V", "K", "Ops", "Required",
	"Find", "find", "FindArgs", "FindResult", "FindFunc", "Call",
}

var fieldNames = []string{
	"Bar", "VPC", "IPProtocol", "GroupID", "CIDRIP", "ETag", "Name", "ID", "URN", "Type", "Constructor", "ToString",
	"Class", "New", "Default", "Function", "Valid", "String", "Error", "Props", "P", "S", "Üml", "Δelta", "X1", "A_B", "Å",
	"Args", "Token", "Shape", "Length", "Then", "Prototype", "This", "Await", "T", "E", "Lumi", "ValueOf", "Arguments",
}

// refused lists field names that are invalid in most places. They are chosen rarely, so that most packages remain valid.
var refused = []string{"Name", "ID", "URN", "Constructor", "ToString", "ValueOf", "Lumi"}

var strs = []string{"a", "b", "", "default", "a b", "tab\t", "line\n", "quote\"", "back\\slash", "back`tick", "\u2028", "😀", "*/", "${x}", "</script>"}

// replacements lists replacements suggested for deprecated declarations.
var replacements = []string{"x", "a, b", "*/", "</x>", "@x", "ü"}

// defaults maps types to the default values of optional properties.
var defaults = map[string]string{"*bool": "false", "*float64": "-1e20", "*int": "-3", "*string": "'a, */ b'"}

// Source returns a random source file.
func Source(t *rapid.T) string {
	g := &generator{T: t, kinds: map[string]kind{}}
	g.choose(8)
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

// choose chooses the names and kinds of at least one and at most the given number of declarations.
func (g *generator) choose(most int) {
	for range rapid.IntRange(1, most).Draw(g.T, "declarations") {
		name := g.pick(names, "name")
		if _, taken := g.kinds[name]; taken {
			continue
		}
		k := kind(rapid.IntRange(0, int(kindCount)-1).Draw(g.T, "kind"))
		if g.nested && k == config {
			continue
		}
		g.order = append(g.order, name)
		g.kinds[name] = k
	}
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
	union
	function
	kindCount
)

type generator struct {
	*rapid.T
	out   strings.Builder
	order []string
	kinds map[string]kind
	// visible lists the declarations in other folders.
	visible []declaration
	// nested is true if there are other folders. The generator then omits the configuration.
	nested bool
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
	if k := g.kinds[name]; k != constant && ast.IsExported(name) && g.chance(10, "deprecated") {
		g.printf("//lumi:deprecated='use %s'\n", g.pick(replacements, "instead"))
		if k == named || k == unnamed {
			g.printf("//lumi:was='Old%s, X'\n", name)
		}
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
	case union:
		g.union(name)
	case function:
		g.structure(name, "idl.Function")
	case enum:
		g.enum(name)
	case stringAlias:
		g.alias(name, "string")
	case numberAlias:
		g.alias(name, g.pick([]string{"float64", "bool", "float64", "int"}, "number"))
	case listAlias:
		g.alias(name, "[]"+g.elem(2))
	case mapAlias:
		g.alias(name, "map["+g.key()+"]"+g.elem(2))
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

// union declares a union of up to three resources or structs. If there are fewer than two, it declares a struct instead.
func (g *generator) union(name string) {
	types := g.of(plain)
	if resources := g.resources(); len(types) < 2 || g.chance(50, "capabilities") {
		types = resources
	}
	g.printf("type %s struct {\n", name)
	if len(types) > 1 {
		g.printf("\tidl.OneOf\n")
	}
	fields := rapid.Permutation(fieldNames).Draw(g.T, "variants")
	fields = slices.DeleteFunc(fields, func(name string) bool { return slices.Contains(refused, name) })
	for i, typ := range types[:min(len(types), 3)] {
		tag := ""
		if len(types) < 2 {
			tag = " `lumi:\"optional\"`"
		}
		g.printf("\t%s *%s%s\n", fields[i], typ, tag)
	}
	g.printf("}\n\n")
}

func (g *generator) structure(name, marker string) {
	before := g.out.String()
	g.out.Reset()
	g.printf("type %s struct {\n", name)
	if marker != "" {
		g.printf("\t%s\n", g.mixin(name, marker))
	}
	if structs := g.of(plain); len(structs) > 0 && g.chance(15, "embed") {
		// The last element is from another folder, if there is one.
		if embedded := structs[len(structs)-1]; embedded != name {
			g.printf("\t%s\n", embedded)
		}
	}
	seen := map[string]bool{}
	var fields []*property
	for range rapid.IntRange(0, 6).Draw(g.T, "fields") {
		field := g.pick(fieldNames, "field")
		if seen[field] || slices.Contains(refused, field) && !g.chance(5, "refused") {
			continue
		}
		seen[field] = true
		p := &property{field: field}
		p.typ, p.options = g.property(marker)
		fields = append(fields, p)
	}
	if marker == "idl.Function" && !slices.ContainsFunc(fields, func(p *property) bool { return slices.Contains(p.options, "out") }) {
		fields = append(fields, &property{field: "Found", typ: "string", options: []string{"out"}})
	}
	g.relate(fields)
	for _, p := range fields {
		g.printf("\t%s %s", p.field, p.typ)
		if len(p.options) > 0 {
			g.printf(" `lumi:\"%s\"`", strings.Join(p.options, ","))
		}
		if g.chance(30, "documented") {
			g.printf(" // %s", strings.ReplaceAll(g.pick(strs, "doc"), "\n", " "))
		}
		g.printf("\n")
	}
	g.printf("}\n\n")
	text := g.out.String()
	g.out.Reset()
	g.printf("%s%s%s", before, g.rules(fields), text)
}

// rules returns rules about some of the fields that programs set.
func (g *generator) rules(fields []*property) string {
	var lines strings.Builder
	for _, p := range fields {
		form := map[string]string{
			"float64": "%s > -1e9", "int": "2*%s != 7", "string": `len(%[1]s) < 9 && %[1]s != "\x60//"`, "bool": "!%s",
		}[strings.TrimPrefix(p.typ, "*")]
		if form == "" && slices.Contains(p.options, "optional") {
			form = "has(%s)"
		}
		if form != "" && !slices.Contains(p.options, "out") && g.chance(15, "rule") {
			fmt.Fprintf(&lines, "//lumi:rule "+form+" // %s\n", p.field, g.pick(replacements, "message"))
		}
	}
	return lines.String()
}

// property is a field of the current struct.
type property struct {
	field, typ string
	options    []string
}

// relate may add a relation between two of the fields. It ignores outputs, required fields, and fields with a default value
// or a different property name.
func (g *generator) relate(fields []*property) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(p *property) bool {
		return !slices.Contains(p.options, "optional") || slices.ContainsFunc(p.options, func(option string) bool {
			return option == "out" || strings.HasPrefix(option, "default=") || strings.HasPrefix(option, "name=")
		})
	})
	if len(fields) < 2 || !g.chance(50, "related") {
		return
	}
	a, b := fields[0], fields[1]
	rule := g.pick([]string{"conflictsWith=", "requiredWith=", "exactlyOneOf="}, "relation")
	a.options = append(a.options, rule+schema.PropertyName(b.field))
	if rule == "exactlyOneOf=" {
		b.options = append(b.options, rule+schema.PropertyName(a.field))
	}
}

// property returns a random type and mostly valid options for a property.
func (g *generator) property(marker string) (typ string, options []string) {
	resource, isFunction := marker == "idl.NamedResource" || marker == "idl.Resource", marker == "idl.Function"
	if g.chance(20, "secret") {
		options = append(options, "secret")
	}
	if resource && g.chance(15, "in") {
		options = append(options, "in")
	}
	out := (resource && g.chance(20, "out") || isFunction && g.chance(40, "result")) && !slices.Contains(options, "in")
	if out {
		options = append(options, "out")
		if resource && g.chance(30, "fixed") {
			options = append(options, "fixed")
		}
	} else if resource && g.chance(20, "replaces") {
		options = append(options, "replaces")
	}
	if g.chance(10, "name") {
		options = append(options, "name="+g.pick([]string{"x", "y", "$ref", "class", "id", "name", "type", "_", "ünï"}, "named"))
	}
	typ, natural := g.value()
	if !out && g.chance(30, "constrained") {
		options = append(options, g.constraints(typ)...)
	}
	if isFunction {
		options = slices.DeleteFunc(options, func(option string) bool { return strings.HasPrefix(option, "equal=") })
	}
	switch {
	case natural && g.chance(40, "optional"):
		options = append(options, "optional")
		if typ == "any" && g.chance(30, "pointer") {
			typ = "*" + typ
		}
	case !natural && out && g.chance(30, "pointer"):
		typ = "*" + typ
	case !natural && g.chance(40, "optional"):
		typ = "*" + typ
		options = append(options, "optional")
	}
	if resource && slices.Contains(options, "optional") && !out && !slices.Contains(options, "in") && g.chance(20, "computed") {
		options = append(options, "computed")
	} else if value := defaults[typ]; value != "" && slices.Contains(options, "optional") && g.chance(30, "default") {
		options = append(options, "default="+value)
	}
	if !isFunction && g.chance(5, "was") {
		options = append(options, "was="+g.pick([]string{"before", "'old,older'", "$x", "ünï"}, "former"))
	}
	if g.chance(10, "deprecated") {
		options = append(options, "deprecated='use "+g.pick(replacements, "instead")+"'")
	}
	return typ, options
}

// constraints returns random constraints for an unaliased type, or nil if the type has none.
func (g *generator) constraints(typ string) []string {
	var pool []string
	switch {
	case typ == "float64":
		pool = []string{"min=-1", "exclusiveMin=0.5", "max=1e21", "exclusiveMax=7", "multipleOf=0.25"}
	case typ == "int":
		pool = []string{"min=-1", "exclusiveMin=-9", "max=9007199254740991", "multipleOf=2"}
	case typ == "string":
		pool = []string{"minLength=0", "maxLength=9", `pattern='^[a-z\"]{1,3}, \\d'`, "format=uri", `pattern='\\x60'`, "equal=caseless"}
	case strings.HasPrefix(typ, "[]"):
		pool = []string{"minItems=1", "maxItems=2", "unique", "equal=set"}
	case strings.HasPrefix(typ, "map["):
		pool = []string{"minProperties=1", "maxProperties=2", "keyPattern='^a'"}
	default:
		return nil
	}
	return []string{g.pick(pool, "constraint")}
}

// alias declares an alias, in some cases with a constraint in a directive.
func (g *generator) alias(name, typ string) {
	if constraints := g.constraints(typ); constraints != nil && g.chance(40, "directive") {
		g.printf("//lumi:%s\n", strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(constraints[0]))
	}
	g.printf("type %s %s\n\n", name, typ)
}

// value returns a random property type. natural reports whether the type can be optional without a pointer.
func (g *generator) value() (typ string, natural bool) {
	if g.chance(25, "reference") {
		if resources := g.resources(); len(resources) > 0 && g.chance(50, "known") {
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
	if declared := g.of(plain, enum, stringAlias, numberAlias, listAlias, mapAlias, union); len(declared) > 0 && g.chance(60, "declared") {
		// Prefer the last element, which is from the previous folder: generators may mishandle chains of folders.
		if len(g.visible) > 0 && g.chance(50, "last") {
			return declared[len(declared)-1]
		}
		return g.pick(declared, "type")
	}
	return g.pick([]string{"bool", "float64", "int", "string"}, "primitive")
}

func (g *generator) elem(depth int) string {
	if g.chance(20, "reference") {
		resources := append(g.resources(), "idl.Resource", "idl.Asset", "any", "*idl.Archive")
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

// mixin returns the struct to embed in a declaration: the marker, or an earlier struct that embeds the marker.
func (g *generator) mixin(name, marker string) string {
	kinds := map[string]kind{"idl.NamedResource": named, "idl.Resource": unnamed, "idl.Function": function}
	k, ok := kinds[marker]
	if !ok || !g.chance(30, "mixin") {
		return marker
	}
	for _, other := range g.order[:slices.Index(g.order, name)] {
		if g.kinds[other] == k && !ast.IsExported(other) {
			return other
		}
	}
	return marker
}

// resources returns the names of all exported resources, which capabilities can refer to.
func (g *generator) resources() []string {
	return slices.DeleteFunc(g.of(named, unnamed), func(name string) bool {
		return !ast.IsExported(name[strings.LastIndexByte(name, '.')+1:])
	})
}

// of returns the names of the declarations of the given kinds, followed by those in other folders.
func (g *generator) of(kinds ...kind) []string {
	var found []string
	for _, name := range g.order {
		if slices.Contains(kinds, g.kinds[name]) {
			found = append(found, name)
		}
	}
	for _, d := range g.visible {
		if slices.Contains(kinds, d.kind) {
			found = append(found, d.name)
		}
	}
	return found
}
