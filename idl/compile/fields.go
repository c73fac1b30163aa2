package compile

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// field is a property of a struct, either declared or promoted.
type field struct {
	*schema.Property
	at    ast.Node // the field name, or the embedded struct that promotes the property
	owner *decl    // the struct that declares the property
	tag   options  // empty for promoted properties
}

// flatten returns the properties of a struct, with promoted properties at the position of the embedded struct. Each
// struct is checked only once.
func (c *checker) flatten(d *decl) []*field {
	if d.flattened {
		return d.fields
	}
	d.flattened = true // set early: structs that contain themselves, which Go reports, must not recurse forever
	for _, f := range d.struc.Fields.List {
		if len(f.Names) == 0 {
			c.promote(d, f)
			continue
		}
		tag := c.parseTag(d, f)
		for _, name := range f.Names {
			if p := c.property(d, f, name, tag); p != nil {
				c.addField(d, &field{Property: p, at: name, owner: d, tag: tag})
			} else {
				c.refused[name.Name] = true
			}
		}
	}
	return d.fields
}

// addField adds f to d, or reports a collision if its property name or Go name is taken. Go names must be unique
// because generated structs are flat.
func (c *checker) addField(d *decl, f *field) {
	i := slices.IndexFunc(d.fields, func(other *field) bool { return other.Name == f.Name })
	if i < 0 {
		i = slices.IndexFunc(d.fields, func(other *field) bool { return other.Field == f.Field })
	}
	if i < 0 {
		d.fields = append(d.fields, f)
		return
	}
	c.refused[f.Field] = true
	other := d.fields[i]
	if other.Field == f.Field && other.owner == d && f.owner == d {
		return // reported by Go
	}
	what, help := "two properties named "+f.Name, "rename one of them, or change the property name with `lumi:\"name=…\"`"
	if other.Name != f.Name {
		what = "two fields named " + f.Field
	}
	switch {
	case other.owner == f.owner && other.owner != d:
		help = "embed " + f.owner.spec.Name.Name + " only once"
	case other.Field == f.Field, d.kind == union:
		help = "rename one of them"
	}
	report := c.report(diag.DuplicateProperty, f.at, "%s has %s", d.spec.Name.Name, what)
	report.Suggestion = help
	c.note(report, other.at, "the other is here")
}

// promote adds the properties of an embedded struct.
func (c *checker) promote(d *decl, f *ast.Field) {
	expr := ast.Unparen(f.Type)
	if star, ok := expr.(*ast.StarExpr); ok {
		if d.kind != union || c.markerOf(typeName(d.file, star.X)) != noMarker { // otherwise reported below
			c.report(diag.EmbeddedPointer, expr, "structs must be embedded by value").
				Suggestion = "write " + types.ExprString(star.X)
		}
		expr = star.X
	}
	c.rejectInstance(d.file, expr)
	obj := typeName(d.file, expr)
	if obj == nil {
		return // reported by Go or, for generic types, at the declaration
	}
	m := c.markerOf(obj)
	if m == markerNamedResource {
		d.naming = c.parseNaming(f.Tag)
	} else if f.Tag != nil {
		if elements, ok := c.tagElements(f.Tag); ok {
			c.report(diag.EmbeddedTag, elements[0], "a tag on an embedded struct has no effect").
				Suggestion = "remove it; tags belong on the fields of the embedded struct"
		}
	}
	if m != noMarker {
		if !m.embeds() {
			c.report(diag.EmbeddedType, expr, "%s cannot be embedded", types.ExprString(expr)).
				Suggestion = "give the field a name: " + obj.Name() + " *" + types.ExprString(expr)
		}
		return
	}
	inner := c.decls[obj]
	switch {
	case inner == nil && obj.Pkg() == nil:
		c.rejectEmbedded(expr)
	case inner == nil:
		c.rejectForeign(d.file, expr, obj)
	case inner.kind == broken:
	case d.kind == union:
		c.report(diag.EmbeddedType, expr, "a union can embed only OneOf").Suggestion = "give the field a name: " +
			obj.Name() + " *" + types.ExprString(expr)
	case inner.kind == union:
		c.report(diag.EmbeddedType, expr, "%s cannot be embedded because it is a union", types.ExprString(expr)).
			Suggestion = "give the field a name"
	case inner.struc == nil:
		c.rejectEmbedded(expr)
	default:
		inner.embedders, d.embeds = append(inner.embedders, d), append(d.embeds, inner)
		for _, promoted := range c.flatten(inner) {
			p := *promoted.Property
			if inner.file.source != d.file.source {
				c.reaches = append(c.reaches, reach{at: f.Type, from: d.file.source.module, typ: p.Type})
			}
			p.Pos = c.schemaPos(f.Type.Pos())
			c.addField(d, &field{Property: &p, at: f.Type, owner: promoted.owner})
		}
		if inner.marker == markerNamedResource {
			d.naming = inner.naming
		}
	}
}

func (c *checker) rejectEmbedded(expr ast.Expr) {
	name := types.ExprString(expr)
	c.report(diag.EmbeddedType, expr, "%s cannot be embedded because it is not a struct", name).
		Suggestion = "give the field a name"
}

// property returns the property for a named field, or nil if its name is invalid.
func (c *checker) property(d *decl, f *ast.Field, name *ast.Ident, tag options) *schema.Property {
	switch {
	case name.Name == "_":
		c.report(diag.BlankName, name, "a field named _ can never be used").Suggestion = "name it, or remove it"
		return nil
	case !name.IsExported():
		report := c.report(diag.UnexportedField, name, "the field %s is not exported", name.Name)
		if upper := exportedName(name.Name); upper != "" {
			report.Suggestion = "write " + upper
		}
		return nil
	case d.kind == union && (name.Name == "Match" || name.Name == "Lumi"):
		c.report(diag.ReservedField, name, "generated unions have a method named %s", name.Name).Suggestion = "rename the field"
		return nil
	case name.Name == "Lumi":
		c.report(diag.ReservedField, name, "generated structs have a method named Lumi").
			Suggestion = "rename the field; `lumi:\"name=lumi\"` keeps the property's name"
		return nil
	}
	p := &schema.Property{
		Field: name.Name,
		Name:  schema.PropertyName(name.Name),
		Doc:   docText(f.Doc, f.Comment),
		Pos:   c.schemaPos(name.Pos()),
	}
	p.Doc, p.Deprecated = deprecation(p.Doc)
	for _, o := range tag.list {
		if o.name == "deprecated" && p.Deprecated != "" {
			c.rejectDeprecated(o, p.Name)
		}
		o.set(p, o.value)
	}
	var named ast.Node = name
	if o := tag.find("name"); o != nil {
		named = o
	}
	if slices.Contains(prototypeMembers, p.Name) {
		report := c.report(diag.ReservedProperty, named, "every JavaScript object has a member named %s", p.Name)
		report.Suggestion = "choose another name with `lumi:\"name=…\"`"
		if d.kind == union && named == name {
			report.Suggestion = "rename the field"
		}
		return nil
	}
	if d.kind == union {
		c.variant(d, p, f.Type, tag)
		return p
	}
	for _, o := range tag.list {
		if !d.accepts(o) {
			d.options = append(d.options, o)
		}
	}
	tag.unread = tag.unread || d.kind == unknownStruct // d may be a union
	if !c.setType(d.file, p, f.Type, tag) {
		p.Type, p.Default = invalidType, nil // so that the names are still checked
		return p
	}
	isPlaced := d.marker != markerConfig && d.marker != markerFunction // otherwise, the options are errors anyway
	if p.Computed && !p.Optional && isPlaced {
		c.report(diag.ComputedWithoutOptional, tag.find("computed"), "a computed property must be optional").
			Suggestion = "add the option optional, or write out if programs must not set the property"
	}
	if p.Fixed && !p.Out && isPlaced {
		c.report(diag.FixedWithoutOut, tag.find("fixed"), "a fixed property must be out").
			Suggestion = "add the option out, or write replaces if programs set the property"
	}
	if p.Constraints != nil {
		c.constrained = append(c.constrained, constrainedType{&p.Type, constraintsIn(tag.list)})
	}
	return p
}

// invalidType is the type of properties whose type is invalid.
const invalidType = schema.Primitive("invalid")

// prototypeMembers lists the members that every JavaScript object inherits. A property with such a name would seem
// present even when it is absent.
var prototypeMembers = []string{
	"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
	"hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}

// accepts reports whether an option is valid in d, whatever embeds d. Functions accept out for their results. Nothing
// keeps or compares their arguments.
func (d *decl) accepts(o setOption) bool {
	if d.marker == markerFunction {
		return o.name == "out" || !o.resources && o.name != "equal" && o.name != "was"
	}
	return d.hasResource() || !o.resources
}

// checkOptionPlaces checks options valid only in resources. Plain structs may have such options if only resources embed
// them, so this check runs once all structs are known.
func (c *checker) checkOptionPlaces() {
	for _, d := range c.order {
		for _, o := range d.options {
			by, at := d.outsider(o, map[*decl]bool{})
			switch {
			case d.marker == markerConfig:
				c.report(diag.OptionPlace, o, "%s has no effect in a provider's configuration", o.text).Suggestion = "remove it"
			case d.marker == markerFunction:
				c.report(diag.OptionPlace, o, "%s has no effect in a function", o.text).Suggestion = "remove it"
			case by != nil:
				c.rejectPlace(o, d, by, at)
			}
		}
	}
}

// rejectPlace reports an option of d that is valid only in resources. The cause is by, which is d or a struct that
// embeds it; at is the node that uses by as a type, or nil.
func (c *checker) rejectPlace(o setOption, d, by *decl, at ast.Node) {
	name := d.spec.Name.Name
	what := "is a plain struct"
	help := "remove it, or embed " + name + " in a resource"
	switch {
	case at != nil && by == d:
		help = "remove it, or set the option on the property that contains the struct"
	case by != d:
		what = "is embedded in the plain struct " + by.spec.Name.Name
		switch by.marker {
		case markerConfig:
			what = "is embedded in the provider's configuration, " + by.spec.Name.Name
		case markerFunction:
			what = "is embedded in the function " + by.spec.Name.Name
		}
		help = "remove it, or embed " + name + " only in resources"
	}
	report := c.report(diag.OptionPlace, o, "%s applies only to properties of resources, but %s %s", o.text, name, what)
	report.Suggestion = help
	if at != nil {
		c.note(report, at, "%s is used as a type here", by.spec.Name.Name)
	}
}

// outsider reports whether d is used where o is invalid. If so, by is d itself or a struct that embeds it without being
// a resource, and at is the node that uses by as a type, if any. If only resources use d, by is nil.
func (d *decl) outsider(o setOption, visited map[*decl]bool) (by *decl, at ast.Node) {
	switch {
	case d.marker == markerConfig, d.marker == markerFunction && o.name != "out":
		return d, nil
	case d.marker != noMarker, d.kind == unknownStruct, visited[d]:
		return nil, nil
	case d.usedAt != nil, len(d.embedders) == 0:
		return d, d.usedAt
	}
	visited[d] = true
	for _, e := range d.embedders {
		if by, at := e.outsider(o, visited); by != nil {
			return by, at
		}
	}
	return nil, nil
}

// setType sets the type of a property and checks whether it must be a pointer. It returns false if the type is invalid.
func (c *checker) setType(f *sourceFile, p *schema.Property, expr ast.Expr, tag options) bool {
	expr = ast.Unparen(expr)
	star, pointer := expr.(*ast.StarExpr)
	if !pointer {
		if p.Type = c.convert(f, expr, byItself); p.Type == nil {
			return false
		}
		if p.Optional && p.Type != schema.Any {
			c.report(diag.OptionalWithoutPointer, tag.find("optional"), "an optional property must be a pointer").
				Suggestion = "change its type to *" + types.ExprString(expr)
			return false
		}
		return true
	}
	if _, double := ast.Unparen(star.X).(*ast.StarExpr); double {
		c.convertPointer(f, star, byItself)
		return false
	}
	if p.Type = c.convert(f, star.X, behindPointer); p.Type == nil {
		return false
	}
	if byReference(p.Type) {
		return true
	}
	absent := p.Optional || p.Out || p.Computed
	p.Pointer = absent && p.Type != schema.Any // any can itself be nil
	if !absent && !tag.unread {
		c.report(diag.PointerWithoutOptional, star, "a required property cannot be a pointer, got %s", types.ExprString(star)).
			Suggestion = "add the option optional, as in `lumi:\"optional\"`, or write " + types.ExprString(star.X)
		return false
	}
	return true
}

// byReference reports whether properties of type t are pointers even if they are required.
func byReference(t schema.Type) bool {
	return t == schema.Asset || t == schema.Archive || t == schema.AnyResource || isCapability(t)
}
