package compile

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/types"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iancoleman/strcase"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// check checks all declarations and completes the model.
func (c *checker) check() {
	for _, d := range c.order {
		c.fill(d)
	}
	c.checkOptionPlaces()
	c.checkConfigs()
	c.checkReaches()
	c.checkDirectives()
	c.checkRecursion()
	c.checkNesting()
	plain := c.fillEnums()
	c.checkConstraints()
	c.checkConfigReferences()
	c.checkDefaults()
	c.checkRelations()
	c.checkNameScopes()
	c.checkRules()
	c.checkFormerNames()
	c.checkMemberKeys()
	c.assemble(plain)
	c.checkNames()
}

// fill completes the model of a declared type.
func (c *checker) fill(d *decl) {
	switch d.kind {
	case unknownStruct, plainStruct, resource, config, function, mixin:
		fields := c.flatten(d)
		var properties []*schema.Property
		if d.marker == markerNamedResource {
			properties = append(properties, c.nameProperty(d))
		}
		for _, f := range fields {
			c.checkReserved(d, f)
			properties = append(properties, f.Property)
		}
		if d.kind == function && !slices.ContainsFunc(d.fields, func(f *field) bool { return f.Out }) {
			c.report(diag.FunctionResult, d.spec.Name, "%s returns nothing", d.spec.Name.Name).
				Suggestion = "mark the properties that the provider returns with `lumi:\"out\"`"
		}
		switch m := d.model.(type) {
		case *schema.Struct:
			m.Properties = properties
		case *schema.Resource:
			m.Properties = properties
		case *schema.Config:
			m.Properties = properties
		case *schema.Function:
			m.Properties = properties
		}
	case union:
		c.fillUnion(d)
	case alias:
		if t := c.convert(d.file, d.spec.Type, byItself); t != nil {
			d.model.(*schema.Alias).Target = t
		}
	}
}

// engineNames lists the properties that every resource has implicitly. References to results use the same names.
var engineNames = []string{"id", "urn"}

// checkReserved rejects property names reserved by the engine. Properties promoted from another resource are reported
// there.
func (c *checker) checkReserved(d *decl, f *field) {
	read := d.hasResource() || d.marker == markerFunction && f.Out
	if !read || f.owner != d && f.owner.marker != noMarker {
		return
	}
	switch {
	case slices.Contains(engineNames, f.Name):
		report := c.report(diag.ReservedProperty, f.at, "the property name %s is reserved by the engine", f.Name)
		report.Suggestion = "choose another name with `lumi:\"name=…\"`"
		if d.hasResource() {
			report.Suggestion = "remove the field, which programs read with lumi." + f.Name + "(…), or " + report.Suggestion
		}
	case d.marker == markerNamedResource && f.Name == "name":
		c.report(diag.ReservedProperty, f.at, "a named resource already has a property name").
			Suggestion = "remove the field, or choose another name with `lumi:\"name=…\"`"
	case d.marker == markerNamedResource && f.Field == "Name":
		c.report(diag.ReservedProperty, f.at, "a named resource already has a field Name").Suggestion = "rename the field"
	}
}

// checkConfigs checks that the package has at most one configuration and that it is in the root folder.
func (c *checker) checkConfigs() {
	var first *decl
	for _, d := range c.order {
		if d.kind != config {
			continue
		}
		if d.file.source.module.Path != "" {
			c.report(diag.ConfigPlace, d.spec.Name, "the provider's configuration must be in the root folder, not in %s",
				d.file.source.module.Path).Suggestion = "move it to the root of the IDL"
		}
		if first != nil {
			c.note(c.report(diag.MultipleConfigs, d.spec.Name, "%s is a second provider configuration", d.spec.Name.Name),
				first.spec.Name, "the first is here")
			d.model = nil // its names would collide with the first one's
			continue
		}
		first = d
	}
}

// fillEnums adds constants to their enums. It returns the models of all other constants by file.
func (c *checker) fillEnums() map[*sourceFile][]schema.Decl {
	plain := map[*sourceFile][]schema.Decl{}
	first := map[*schema.Enum]map[string]*constDecl{}
	for _, k := range c.consts {
		if owner, ok := k.obj.Type().(*types.Named); ok {
			d := c.decls[owner.Obj()]
			if d != nil && d.kind == broken {
				continue
			}
			if d == nil || d.kind != enum || d.file.source != k.file.source {
				c.rejectConstType(k, owner.Obj(), d)
				continue
			}
			e := d.model.(*schema.Enum)
			if first[e] == nil {
				first[e] = map[string]*constDecl{}
			}
			c.addMember(e, k, first[e])
			continue
		}
		if value, ok := c.constValue(k); ok {
			head := schema.Header{Name: k.name.Name, Pos: c.schemaPos(k.name.Pos())}
			head.Doc, head.Deprecated = deprecation(k.doc)
			m := &schema.Const{Header: head, Value: value}
			plain[k.file], c.idents[m] = append(plain[k.file], m), k.name
		}
	}
	return plain
}

func (c *checker) rejectConstType(k *constDecl, typ *types.TypeName, d *decl) {
	switch {
	case d != nil && isString(typ.Type()):
		c.report(diag.ConstType, k.name, "constants of %s must be in the same folder as the type", typ.Name()).
			Suggestion = "move the constant to the type's folder"
	case d != nil:
		c.report(diag.ConstType, k.name, "%s is not a string type, so it cannot have constants", typ.Name()).
			Suggestion = "declare the constant without a type, or, for an enum, the type as a string"
	default:
		c.report(diag.ConstType, k.name, "constant type %s is not declared in this IDL",
			typ.Pkg().Name()+"."+typ.Name()).Suggestion = "convert it to a bool, a string or a float64"
	}
}

func (c *checker) addMember(e *schema.Enum, k *constDecl, seen map[string]*constDecl) {
	value := constant.StringVal(k.obj.Val())
	if !utf8.ValidString(value) {
		c.rejectUTF8(k)
		return
	}
	if other := seen[value]; other != nil {
		report := c.report(diag.DuplicateValue, k.name, "%s and %s have the same value, %q", other.name.Name, k.name.Name, value)
		report.Suggestion = "remove one of them"
		c.note(report, other.name, "%s is declared here", other.name.Name)
		return
	}
	seen[value] = k
	m := &schema.Member{Name: k.name.Name, Value: value, Pos: c.schemaPos(k.name.Pos())}
	m.Doc, m.Deprecated = deprecation(k.doc)
	e.Members = append(e.Members, m)
}

// checkMemberKeys rejects the key __proto__, which would set the prototype of the generated object instead of adding a
// property.
func (c *checker) checkMemberKeys() {
	for _, d := range c.order {
		e, ok := d.model.(*schema.Enum)
		if !ok || !slices.Contains(schema.MemberKeys(e), "__proto__") {
			continue
		}
		c.report(diag.ReservedName, d.spec.Name, "a constant of %s would be named __proto__ in generated TypeScript", e.Name).
			Suggestion = "rename the constant"
	}
}

func (c *checker) rejectUTF8(k *constDecl) {
	c.report(diag.ConstValue, k.name, "the value of %s is not valid UTF-8", k.name.Name).
		Suggestion = "encode the bytes, for example in base64"
}

// constValue returns the value of a constant that belongs to no enum. It reports invalid values and returns false for
// them.
func (c *checker) constValue(k *constDecl) (any, bool) {
	val := k.obj.Val()
	basic, _ := k.obj.Type().(*types.Basic)
	if basic != nil && (basic.Kind() == types.UntypedRune || basic.Name() == "rune") {
		c.report(diag.ConstValue, k.name, "%s is a rune; rune constants are not supported", k.name.Name).
			Suggestion = "use a string with double quotes, or a number"
		return nil, false
	}
	switch val.Kind() {
	case constant.Bool:
		return constant.BoolVal(val), true
	case constant.String:
		s := constant.StringVal(val)
		if !utf8.ValidString(s) {
			c.rejectUTF8(k)
			return nil, false
		}
		return s, true
	case constant.Int, constant.Float:
		return c.number(k, val, basic != nil && basic.Info()&types.IsInteger != 0)
	}
	c.report(diag.ConstValue, k.name, "%s is a complex number; complex constants are not supported", k.name.Name).
		Suggestion = "declare a constant for each part"
	return nil, false
}

// number converts val to float64. If integer is set, the conversion must be exact; otherwise, the value is rounded. It
// reports a failure and returns false.
func (c *checker) number(k *constDecl, val constant.Value, integer bool) (any, bool) {
	f, exact := constant.Float64Val(val)
	if math.IsInf(f, 0) {
		c.report(diag.ConstValue, k.name, "the value of %s is too large for a float64", k.name.Name).
			Suggestion = "use a string"
		return nil, false
	}
	if !integer {
		return f, true
	}
	if !exact {
		c.report(diag.ConstValue, k.name, "%s cannot be represented exactly as a float64", val.ExactString()).
			Suggestion = "use a string, or add a decimal point to round it"
		return nil, false
	}
	whole := constant.ToInt(val)
	if i, ok := constant.Int64Val(whole); ok {
		return i, true
	}
	if u, ok := constant.Uint64Val(whole); ok {
		return u, true
	}
	return f, true
}

// assemble adds declarations to their files, and modules to the package.
func (c *checker) assemble(plain map[*sourceFile][]schema.Decl) {
	byFile := plain
	for _, d := range c.order {
		if d.model != nil {
			byFile[d.file] = append(byFile[d.file], d.model)
		}
	}
	for _, s := range c.sources {
		for _, f := range s.files {
			decls := byFile[f]
			slices.SortFunc(decls, func(a, b schema.Decl) int {
				p, q := a.Head().Pos, b.Head().Pos
				return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
			})
			f.schema.Decls = decls
		}
		c.pkg.Modules = append(c.pkg.Modules, s.module)
	}
	c.linkForeign()
	c.pkg.Link()
}

// typeToken returns the type token of a resource or function.
func (c *checker) typeToken(d *decl) string { return c.token(d, d.spec.Name.Name) }

// token returns the type token that d would have if it were called name.
func (c *checker) token(d *decl, name string) string {
	module := d.file.source.module.Token()
	if c.tokens == TokensByFile {
		module = path.Join(module, strcase.ToLowerCamel(strings.TrimSuffix(path.Base(d.file.rel), ".go")))
	}
	return c.pkg.Name + ":" + module + ":" + name
}

// exportedName returns name with an upper-case first letter and without leading underscores, or "" if the result would
// not be exported.
func exportedName(name string) string {
	trimmed := strings.TrimLeft(name, "_")
	first, size := utf8.DecodeRuneInString(trimmed)
	if upper := string(unicode.ToUpper(first)) + trimmed[size:]; ast.IsExported(upper) {
		return upper
	}
	return ""
}
