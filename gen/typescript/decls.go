package typescript

import (
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// enum writes a union type of the values and an object with the same name that contains the constants.
func (f *file) enum(e *schema.Enum) {
	f.doc("", described(e.Doc, e.Deprecated))
	values := make([]string, len(e.Members))
	for i, m := range e.Members {
		values[i] = quote(m.Value)
	}
	f.unionType(e.Name, values)
	f.put("\nexport const ", e.Name, " = {\n")
	keys := schema.MemberKeys(e)
	for i, m := range e.Members {
		f.doc(indent, described(m.Doc, m.Deprecated))
		f.put(indent, keys[i], ": ", values[i], ",\n")
	}
	f.put("} as const;\n")
	f.deprecatedValues(e)
}

// unionType writes a union type, on one line if it fits.
func (f *file) unionType(name string, types []string) {
	f.putFitting(
		"export type "+name+" = "+strings.Join(types, " | ")+";\n",
		"export type "+name+" =\n    | "+strings.Join(types, "\n    | ")+";\n")
}

// alias writes a type alias.
func (f *file) alias(a *schema.Alias) {
	f.doc("", described(schema.AliasDoc(a), a.Deprecated))
	f.put("export type ", a.Name, " = ", f.typ(a.Target), ";\n")
}

// structure writes an interface and a shape with the same name.
func (f *file) structure(s *schema.Struct) {
	f.doc("", described(schema.TypeDoc(s), s.Deprecated))
	f.interfaceOf(s.Name, s.Properties, f.plain)
	f.shapeTable("export const "+s.Name, s.Properties, s.Rules)
	f.deprecated(s.Name, quote(s.Deprecated), s.Deprecated != "")
}

// union writes a union type. For structs, it also writes a shape with the same name.
func (f *file) union(u *schema.Union) {
	f.doc("", described(u.Doc, u.Deprecated))
	var types []string
	if u.Tokens() != nil {
		for _, v := range u.Variants {
			types = append(types, f.typ(v.Type))
		}
		f.unionType(u.Name, types)
		return
	}
	f.usesLumi = true
	f.put("export type ", u.Name, " = lumi.OneOf<{\n")
	for i, v := range u.Variants {
		f.member(i, v, "", ": "+f.typ(v.Type))
	}
	f.put("}>;\n\n")
	f.shapeTable("export const "+u.Name, u.Variants, nil)
	f.deprecated(u.Name, quote(u.Deprecated), u.Deprecated != "")
}

// config writes an interface, its shape, and the function that configures the provider.
func (f *file) config(c *schema.Config) {
	f.doc("", described(schema.TypeDoc(c), c.Deprecated))
	f.interfaceOf(c.Name, c.Properties, f.plain)
	f.shapeTable("const "+shapeName(&c.Header), c.Properties, c.Rules)
	f.deprecated(shapeName(&c.Header), quote(c.Deprecated), c.Deprecated != "")
	f.put("\n")
	f.doc("", "Configures the provider of "+f.pkg.Name+". A program may call it at most once.")
	f.put("export function ", schema.TSConfigure, "(args: ", c.Name, "): void {\n",
		"    lumi.configure(", quote(f.pkg.Name), ", args, ", shapeName(&c.Header), ", ", schema.TSConfigure, ");\n",
		"}\n")
}

// resource writes a class, an interface for its arguments, and a shape.
func (f *file) resource(r *schema.Resource) {
	base, parameters, given, properties, members := "Resource", "", "", r.Properties, r.Properties
	if r.Named {
		// The base class declares the property "name". The parameter is its default.
		base, parameters, given, members = "NamedResource", "name: string, ", "name, ", properties[1:]
		properties = slices.Concat([]*schema.Property{physicalName(properties[0])}, members)
	}
	f.needs(secondGeneration)
	args := schema.TSArgsName(r)
	f.doc("", described(schema.TypeDoc(r), r.Deprecated))
	heading := []string{"export class " + r.Name, "extends lumi." + base + "<" + quote(r.Token) + ">"}
	if len(settable(properties)) > 0 {
		// A class cannot implement an interface that forbids all properties.
		heading = append(heading, "implements "+args)
	}
	f.putFitting(strings.Join(heading, " ")+" {\n", strings.Join(heading, "\n"+indent)+"\n{\n")
	f.put("    /** The type token. */\n",
		"    static readonly type = ", quote(r.Token), ";\n")
	if len(members) > 0 {
		f.put("\n")
	}
	for i, p := range members {
		modifiers := "declare "
		if p.Out || p.Computed || p.Replaces {
			modifiers = "declare readonly "
		}
		annotation := f.argument(p)
		if p.Computed {
			annotation = ": lumi.Output<" + f.typ(p.Type) + ">"
		}
		f.member(i, p, modifiers, annotation)
	}
	parameters += "args" + optionalMark(properties) + ": " + args
	options := "options?: lumi.ResourceOptions<keyof " + args + ">"
	f.put("\n")
	f.putFitting(indent+"constructor("+parameters+", "+options+") {\n",
		indent+"constructor(\n        "+strings.ReplaceAll(parameters, ", ", ",\n        ")+",\n        "+options+",\n    ) {\n")
	f.put("        super(", r.Name, ".type, ", given, "args, ", shapeName(&r.Header), ", options);\n",
		"    }\n\n")
	f.lookUp(r)
	f.put("}\n\n")

	f.arguments(r.Name, args, properties, func(p *schema.Property) string {
		if r.Named && p == properties[0] {
			return "?: lumi.Input<string> | undefined" // never an output that may be absent
		}
		return f.argument(p)
	})
	f.shapeTable("const "+shapeName(&r.Header), properties, r.Rules)
	f.renamed(r)
	f.deprecated(shapeName(&r.Header), quote(r.Deprecated), r.Deprecated != "")
}

// lookUp writes the static method of a resource class that returns an existing resource.
func (f *file) lookUp(r *schema.Resource) {
	name, given := "", ""
	if r.Named {
		name, given = "name: string, ", ", name"
	}
	f.doc(indent, "Returns the "+r.Name+" with the given id, which something else manages.\n"+
		"The provider reads it when a deployment is planned; its properties are outputs.")
	f.put(indent, "static get(", name, "id: lumi.Input<string>): ", r.Name, " {\n",
		"        return lumi.lookUp(", r.Name, ", ", shapeName(&r.Header), ", ", r.Name, ".get, id", given, ");\n",
		"    }\n")
}

// function writes a function, interfaces for its arguments and results, and a shape.
func (f *file) function(fn *schema.Function) {
	f.needs(secondGeneration)
	names := schema.TSNames(fn)
	name, args, results := names[0], names[1], names[2]
	doc := schema.TypeDoc(fn) + "\n\nThe provider is asked when a deployment is planned; the results are outputs."
	f.doc("", described(doc, fn.Deprecated))
	f.put("export function ", name, "(args", optionalMark(fn.Properties), ": ", args, "): ", results, " {\n",
		"    return lumi.call(", quote(fn.Token), ", args, ", shapeName(&fn.Header), ", ", name, ");\n",
		"}\n\n")
	f.arguments(name, args, fn.Properties, f.argument)
	f.doc("", "The results of "+name+".")
	f.interfaceOf(results, slices.DeleteFunc(slices.Clone(fn.Properties), func(p *schema.Property) bool { return !p.Out }), f.argument)
	f.shapeTable("const "+shapeName(&fn.Header), fn.Properties, fn.Rules)
	f.deprecated(shapeName(&fn.Header), quote(fn.Deprecated), fn.Deprecated != "")
}

// arguments writes the interface for the arguments of a resource or function.
func (f *file) arguments(of, name string, properties []*schema.Property, annotation func(*schema.Property) string) {
	f.doc("", "The arguments of "+of+".")
	f.interfaceOf(name, settable(properties), annotation)
}

// physicalName returns the argument that overrides the name that a resource has in the program.
func physicalName(name *schema.Property) *schema.Property {
	p := *name
	p.Optional = true
	p.Doc = strings.Replace(p.Doc, "The resource's name.", "The physical name, by default the resource's name in the program.", 1)
	return &p
}

// interfaceOf writes an interface. Annotation returns the text that follows a property's name. An interface without
// members would accept any value, so one without properties forbids all of them.
func (f *file) interfaceOf(name string, properties []*schema.Property, annotation func(*schema.Property) string) {
	f.put("export interface ", name, " {")
	for i, p := range properties {
		modifiers := ""
		if p.Out {
			modifiers = "readonly "
		}
		f.put(separator(i, "\n", ""))
		f.member(i, p, modifiers, annotation(p))
	}
	if len(properties) == 0 {
		f.put("\n", indent, "[property: string]: never;\n")
	}
	f.put("}\n\n")
}

// member writes the nth property of a class or interface, with its documentation.
func (f *file) member(n int, p *schema.Property, modifiers, annotation string) {
	doc := describedProperty(p)
	if doc != "" {
		f.put(separator(n, "", "\n"))
	}
	f.doc(indent, doc)
	f.put(indent, modifiers, p.Name, annotation, ";\n")
}

// plain returns the text that follows a property's name in an interface for plain data. Structs that resources embed
// may also have outputs.
func (f *file) plain(p *schema.Property) string {
	switch {
	case p.Out:
		return f.argument(p)
	case p.Optional && p.Type != schema.Any:
		return "?: " + f.typ(p.Type) + " | undefined"
	case p.Optional:
		return "?: any"
	}
	return ": " + f.typ(p.Type)
}

// argument returns the text that follows a property's name in the class and the arguments interface of a resource.
func (f *file) argument(p *schema.Property) string {
	f.usesLumi = true
	typ := f.typ(p.Type)
	if p.Optional && p.Type != schema.Any {
		typ += " | undefined"
	}
	switch {
	case p.Out:
		return ": lumi.Output<" + typ + ">"
	case p.Type == schema.Any:
		return optionalMark([]*schema.Property{p}) + ": any"
	}
	return optionalMark([]*schema.Property{p}) + ": lumi.Input<" + typ + ">"
}

// shapeTable writes a declaration of the shape of properties.
func (f *file) shapeTable(declaration string, properties []*schema.Property, rules []*schema.Rule) {
	f.usesLumi, f.loadsLumi = true, true
	f.put(declaration, ": lumi.Shape = ")
	inner := ""
	if len(rules) > 0 {
		f.needs(secondGeneration)
		inner = indent
		f.put("lumi.ruled(\n", inner)
	}
	f.put("{")
	relations := schema.Relations(properties)
	for i, p := range properties {
		f.put(separator(i, "\n", ""), inner, indent, p.Name, ": lumi.", presence(p), "(", f.constrained(f.shape(p.Type), p.Constraints))
		flags := p.Flags()
		slices.Sort(flags)
		for _, flag := range flags {
			switch flag {
			case "out": // part of the result of presence
			case "fixed": // only documented
			case "secret":
				f.put(", lumi.secretProperty")
			case "computed":
				f.needs(secondGeneration)
				f.put(", lumi.computed")
			default:
				f.put(", lumi.", flag)
			}
		}
		f.annotate(p, relations)
		f.put("),\n")
	}
	f.put(inner, "}")
	for i, r := range rules {
		f.put(separator(i, ",\n", ""), indent)
		message, expr := quote(r.Message), literal(r.Expr)
		f.putFitting("["+message+", "+expr+"],\n", "[\n"+indent+indent+message+",\n"+indent+indent+expr+",\n"+indent+"],\n")
	}
	if len(rules) > 0 {
		f.put(")")
	}
	f.put(";\n")
}

// presence returns the name of the runtime function that describes who sets a property and whether it may be absent.
func presence(p *schema.Property) string {
	switch {
	case p.Out && p.Optional:
		return "optionalOut"
	case p.Out:
		return "out"
	case p.Optional:
		return "optional"
	}
	return "required"
}

// shapeName returns the name of the shape of a resource, configuration, or function. The shape is local to its file.
func shapeName(h *schema.Header) string { return h.Name + "$shape" }

// settable returns the properties that programs can set.
func settable(properties []*schema.Property) []*schema.Property {
	return slices.DeleteFunc(slices.Clone(properties), func(p *schema.Property) bool { return p.Out })
}

// optionalMark returns "?" if all properties that programs can set are optional, and "" otherwise.
func optionalMark(properties []*schema.Property) string {
	if slices.ContainsFunc(properties, func(p *schema.Property) bool { return !p.Optional && !p.Out }) {
		return ""
	}
	return "?"
}
