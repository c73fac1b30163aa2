package adopt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Program is a TypeScript program.
type Program struct {
	Text string
	// Secrets lists the keys of the program's configuration. All are secrets.
	Secrets []string
	// Undefined lists the variables that must be defined before the program runs.
	Undefined []string
}

// Write returns the program that imports resources returned by [Read]. specifier returns the module from which programs
// import an npm package.
func Write(resources []*Resource, specifier func(npm string) string) *Program {
	w := &writer{taken: map[string]bool{"config": true, "lumi": true}, packages: map[string]string{}, variables: map[*lumigl.Vertex]string{}}
	for _, one := range resources {
		if pkg := one.Type.Package(); w.packages[pkg] == "" {
			w.packages[pkg] = w.name(pkg[strings.LastIndexByte(pkg, '/')+1:])
			from := specifier(schema.TSPackageName(&schema.Package{Name: pkg}))
			w.imports = append(w.imports, fmt.Sprintf("import * as %s from %s;\n", w.packages[pkg], schema.TSQuote(from)))
		}
		for target := range one.vertex.References() {
			w.variables[target] = "" // the ones that need a name
		}
	}
	body, wasLong := "", false
	for _, one := range resources {
		text := w.resource(one) + ";\n"
		isLong := strings.Count(text, "\n") > 1
		if body != "" && (isLong || wasLong) {
			body += "\n"
		}
		body, wasLong = body+text, isLong
	}
	slices.Sort(w.imports)
	if w.usesLumi {
		w.imports = slices.Insert(w.imports, 0, "import * as lumi from \"@lumi/lumi\";\n")
	}
	w.Text = strings.Join(w.imports, "") + "\n"
	if len(w.Secrets) > 0 {
		w.Text += w.settings.text(0, len(";")) + ";\n\n"
	}
	if len(w.declarations) > 0 {
		w.Text += strings.Join(w.declarations, "") + "\n"
	}
	w.Text += body
	return &w.Program
}

type writer struct {
	Program
	taken                 map[string]bool   // identifiers
	packages              map[string]string // identifiers by package
	variables             map[*lumigl.Vertex]string
	imports, declarations []string
	settings              layout // the call of lumi.config
	usesLumi              bool
}

// resource returns the statement that constructs a resource, without the semicolon.
func (w *writer) resource(one *Resource) string {
	class := w.class(one.Type)
	stem := one.Name
	if !one.description.Named {
		stem = schema.PropertyName(one.Type.Name())
	}
	call := layout{open: "new " + class + "(", end: ")"}
	if one.IsLookUp {
		call.open = class + ".get("
	}
	if one.description.Named {
		call.items = append(call.items, layout{open: schema.TSQuote(one.Name)})
	}
	arguments := layout{open: "{", end: "}", pad: " "}
	for name, v := range one.vertex.Properties.Members() {
		if name != nameProperty || !one.description.Named {
			arguments.items = append(arguments.items, w.value(v, one.Type, stem, name).named(name))
		}
	}
	id := layout{open: schema.TSQuote(one.ID)}
	options := layout{open: "{", items: []layout{id.named("import")}, end: "}", pad: " "}
	if one.IsLookUp {
		call.items = append(call.items, id)
	} else {
		call.items = append(call.items, arguments, options)
	}
	if _, ok := w.variables[one.vertex]; ok {
		w.variables[one.vertex] = w.name(stem)
		call.open = "const " + w.variables[one.vertex] + " = " + call.open
	}
	return call.text(0, len(";"))
}

// class returns the name of a type's class in the program.
func (w *writer) class(t tokens.Type) string {
	all := w.packages[t.Package()]
	module := strings.TrimSuffix(t.Module(), "/"+schema.PropertyName(t.Name())) // a file, as in aws:ec2/vpc:VPC
	for folder := range strings.SplitSeq(module, "/") {
		if folder != "index" {
			all += "." + schema.TSModuleName(folder)
		}
	}
	return all + "." + t.Name()
}

// value returns a property, or a part of one. path names the place: the resource, the property, and the keys within it.
func (w *writer) value(v lumigl.Value, t tokens.Type, path ...string) layout {
	target, property, isReference := v.Target()
	if content, ok := v.Secret(); ok {
		kind := map[lumigl.Kind]string{lumigl.Text: "string", lumigl.Number: "number", lumigl.Bool: "boolean"}[content.Kind()]
		if kind == "" {
			kind = "any"
		}
		key := w.name(path...)
		w.usesLumi, w.Secrets = true, append(w.Secrets, key)
		w.settings.open, w.settings.pad, w.settings.end = "const config = lumi.config({", " ", "})"
		w.settings.items = append(w.settings.items, layout{open: key + ": lumi.required(lumi." + kind + ", lumi.secretProperty)"})
		return layout{open: "config." + key}
	}
	switch {
	case v.IsUnknown():
		name := w.name(path...)
		w.Undefined = append(w.Undefined, name)
		w.declarations = append(w.declarations, fmt.Sprintf("declare const %s: %sArgs[%s]; // define it\n", name, w.class(t), schema.TSQuote(path[1])))
		return layout{open: name}
	case isReference && property != "":
		w.usesLumi = true
		return layout{open: "lumi.id(" + w.variables[target] + ")"}
	case isReference:
		return layout{open: w.variables[target]}
	}
	all := layout{open: "{", end: "}", pad: " "}
	switch v.Kind() {
	case lumigl.Text:
		text, _ := v.Text()
		return layout{open: schema.TSQuote(text)}
	case lumigl.List:
		all = layout{open: "[", end: "]"}
		for _, part := range v.Elements() {
			all.items = append(all.items, w.value(part, t, path...))
		}
	case lumigl.Object:
		for key, part := range v.Members() {
			all.items = append(all.items, w.value(part, t, append(slices.Clip(path), key)...).named(key))
		}
	case lumigl.Bool:
		value, _ := v.Bool()
		return layout{open: strconv.FormatBool(value)}
	case lumigl.Number:
		literal, _ := v.Literal()
		return layout{open: literal}
	default:
		return layout{open: "null"}
	}
	return all
}

// word matches a part of an identifier, which is also the key of a setting.
var word = regexp.MustCompile(`[A-Za-z0-9]+`)

// name joins the words of a path to a new identifier. It appends a number if the identifier is taken.
func (w *writer) name(path ...string) string {
	stem := ""
	for _, part := range word.FindAllString(strings.Join(path, " "), -1) {
		if stem == "" {
			stem = schema.PropertyName(part)
		} else {
			stem += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	if stem == "" || stem[0] <= '9' {
		stem = "_" + stem
	}
	name := stem
	for n := 2; w.taken[name] || strings.Contains(reserved, " "+name+" "); n++ {
		name = fmt.Sprintf("%s%d", stem, n)
	}
	w.taken[name] = true
	return name
}

// reserved are the words that cannot be variables in modules.
const reserved = " arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
	"false finally for function globalThis if implements import in instanceof interface let new null package private protected public " +
	"return static super switch this throw true try typeof undefined var void while with yield "

// layout is a piece of TypeScript: open, or items between open and end, separated by commas.
type layout struct {
	key, open string
	items     []layout
	end       string
	pad       string // between the items and open or end on a single line
}

// named returns the layout of a member of an object.
func (l layout) named(key string) layout {
	switch {
	case key == "__proto__": // would set the prototype
		l.key = `["__proto__"]: `
	case identifier.MatchString(key):
		l.key = key + ": "
	default:
		l.key = schema.TSQuote(key) + ": "
	}
	return l
}

var identifier = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{Nd}_$]*$`)

// lineWidth is the maximum width of lines that can be broken.
const lineWidth = 120

// text formats a layout on one line if the line fits. indent is the number of spaces before the line, and after is the
// number of columns to keep free.
func (l layout) text(indent, after int) string {
	line := l.line()
	if len(l.items) == 0 || indent+utf8.RuneCountInString(line)+after <= lineWidth {
		return line
	}
	space := strings.Repeat(" ", indent)
	text := l.key + l.open + "\n"
	for _, item := range l.items {
		text += space + "    " + item.text(indent+4, len(",")) + ",\n"
	}
	return text + space + l.end
}

func (l layout) line() string {
	if len(l.items) == 0 {
		return l.key + l.open + l.end
	}
	var items []string
	for _, item := range l.items {
		items = append(items, item.line())
	}
	return l.key + l.open + l.pad + strings.Join(items, ", ") + l.pad + l.end
}
