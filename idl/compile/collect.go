package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// checker is the state of one compilation.
type checker struct {
	fset    *token.FileSet
	tree    *tree
	tokens  TokenForm
	markers []string

	pkg      *schema.Package
	headers  map[string]*ast.File // files up to their package clauses, by path
	sources  []*source            // sorted by folder
	sourceOf map[*types.Package]*source
	decls    map[*types.TypeName]*decl
	order    []*decl // the values of decls, in source order
	consts   []*constDecl
	reaches  []reach
	// constrained lists the types of properties and aliases with constraints.
	constrained []constrainedType
	// aliased maps each alias to its constraints.
	aliased map[schema.Decl][]setOption
	// refused holds the names of fields that were reported and are no properties.
	refused map[string]bool
	// read is the set of comments parsed as directives of a type.
	read   map[*ast.Comment]bool
	idents map[schema.Decl]*ast.Ident // the declared names

	others  []*checker                // of other IDLs
	foreign map[*types.TypeName]*decl // their declarations
	wrong   map[*types.Package]bool   // folders of other IDLs with errors, which have been reported
	roots   map[string][]*ast.Comment // see identities

	diags        []*diag.Diagnostic
	reported     map[diag.Code]bool
	blindFolders map[string]bool
	unified      map[string]string // the package name assumed for folders with conflicting package clauses
	plainFolders map[string]bool   // whether a folder contains no code, by path
	texts        map[string][]byte // source files read so far, by path
}

func newChecker(tree *tree, opts Options) *checker {
	return &checker{
		fset:    token.NewFileSet(),
		tree:    tree,
		markers: opts.Markers,
		pkg:     &schema.Package{},

		headers:      map[string]*ast.File{},
		foreign:      map[*types.TypeName]*decl{},
		wrong:        map[*types.Package]bool{},
		roots:        map[string][]*ast.Comment{},
		sourceOf:     map[*types.Package]*source{},
		decls:        map[*types.TypeName]*decl{},
		idents:       map[schema.Decl]*ast.Ident{},
		aliased:      map[schema.Decl][]setOption{},
		refused:      map[string]bool{},
		read:         map[*ast.Comment]bool{},
		reported:     map[diag.Code]bool{},
		blindFolders: map[string]bool{},
		unified:      map[string]string{},
		plainFolders: map[string]bool{},
		texts:        map[string][]byte{},
	}
}

// declKind is the kind of a declared type.
type declKind int

const (
	broken declKind = iota // already reported here or by Go; uses are ignored
	// unknownStruct is a struct whose kind is unknown because it embeds a broken type. Uses are ignored, and properties
	// are checked only against the rules common to all structs.
	unknownStruct
	plainStruct
	resource
	config
	union
	function
	mixin // an unexported struct with a marker; its properties are promoted to the structs that embed it
	enum
	alias
)

// decl is a type declaration.
type decl struct {
	kind   declKind
	spec   *ast.TypeSpec
	obj    *types.TypeName
	file   *sourceFile
	doc    string
	struc  *ast.StructType  // nil unless the type is a struct
	marker marker           // the marker embedded by a resource, config, function, or mixin
	report *diag.Diagnostic // the diagnostic about the underlying basic type, if any
	model  schema.Decl      // nil for broken types and mixins

	classified bool
	embedders  []*decl // structs that embed this one
	embeds     []*decl // structs embedded in this one, in source order
	rules      []*ruleLine
	usedAt     ast.Node    // the first use as the type of a property or alias
	options    []setOption // options valid only in resources or not in functions; see checkOptionPlaces
	directives []setOption
	was        *setOption // former names of a resource
	naming     options    // of the marker NamedResource, set by flatten
	deprecated *setOption
	fields     []*field // own and promoted properties, set by flatten
	flattened  bool
}

// hasResource reports whether the struct directly embeds a resource marker.
func (d *decl) hasResource() bool {
	return d.marker == markerResource || d.marker == markerNamedResource
}

type constDecl struct {
	name *ast.Ident
	obj  *types.Const
	file *sourceFile
	doc  string
}

// collect records and classifies all declarations.
func (c *checker) collect() {
	for _, s := range c.sources {
		for _, f := range s.files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					c.rejectFunc(d)
				case *ast.GenDecl:
					c.collectGen(f, d)
				}
			}
		}
	}
	enums := map[*types.TypeName]bool{}
	for _, k := range c.consts {
		if named, ok := k.obj.Type().(*types.Named); ok && named.Obj().Pkg() == k.obj.Pkg() {
			enums[named.Obj()] = true
		}
	}
	for _, d := range c.order {
		switch {
		case !enums[d.obj]:
		case d.report != nil:
			d.report.Suggestion = "use string with string constants; enums are strings"
		case d.kind == alias && isString(d.obj.Type()):
			d.kind = enum
		}
	}
	for _, d := range c.order {
		c.classify(d)
	}
	for _, d := range c.order {
		if d.model = d.newModel(c); d.model != nil {
			c.idents[d.model] = d.spec.Name
		}
	}
}

func (c *checker) rejectFunc(d *ast.FuncDecl) {
	if d.Recv != nil {
		c.report(diag.MethodDecl, d.Name, "the IDL cannot declare methods").
			Suggestion = "move the method " + d.Name.Name + " to the provider"
		return
	}
	c.report(diag.FunctionDecl, d.Name, "the IDL cannot declare functions").
		Suggestion = "move the function " + d.Name.Name + " to the provider or the TypeScript package"
}

func (c *checker) collectGen(f *sourceFile, gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			c.collectType(f, gen, spec)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if gen.Tok == token.CONST {
					c.collectConst(f, name, specDoc(gen, spec.Doc, spec.Comment))
					continue
				}
				c.report(diag.VariableDecl, name, "the IDL cannot declare variables").
					Suggestion = "remove it; an IDL contains only types and constants"
			}
		}
	}
}

// specDoc returns the documentation of a declaration. It is the comment above the specification, above an ungrouped
// declaration, or at the end of the line. An undocumented specification inherits the comment of its group. If the group
// is deprecated, so are all of its members.
func specDoc(gen *ast.GenDecl, doc, comment *ast.CommentGroup) string {
	if !gen.Lparen.IsValid() {
		return docText(doc, gen.Doc, comment)
	}
	own, group := docText(doc, comment), docText(gen.Doc)
	if own == "" {
		return group
	}
	_, deprecated := deprecation(own)
	if _, text := deprecation(group); deprecated == "" && text != "" {
		own += "\n\n" + deprecatedMark + text
	}
	return own
}

func (c *checker) collectType(f *sourceFile, gen *ast.GenDecl, spec *ast.TypeSpec) {
	obj, _ := f.source.TypesInfo.Defs[spec.Name].(*types.TypeName)
	d := &decl{spec: spec, obj: obj, file: f, doc: specDoc(gen, spec.Doc, spec.Comment)}
	if gen.Lparen.IsValid() {
		c.parseDirectives(d, spec.Doc)
	} else {
		c.parseDirectives(d, gen.Doc, spec.Doc)
	}
	switch {
	case spec.Name.Name == "_":
		c.report(diag.BlankName, spec.Name, "a type named _ can never be used").Suggestion = "name it, or remove it"
		return
	case spec.Assign.IsValid():
		c.report(diag.AliasDecl, spec, "type aliases declared with = are not supported").
			Suggestion = c.aliasHelp(f, spec)
	case spec.TypeParams != nil:
		c.report(diag.GenericDecl, spec.TypeParams, "generic types are not supported").
			Suggestion = "declare a separate type for each use of " + spec.Name.Name
	case shadowsPredeclared(spec.Name.Name):
		c.rejectReservedName(spec.Name, spec.Name.Name)
	case obj == nil:
		return
	default:
		d.kind = c.declaredKind(d)
	}
	if obj == nil {
		return
	}
	c.decls[obj] = d
	c.order = append(c.order, d)
}

// aliasHelp suggests how to rewrite a type declared with =.
func (c *checker) aliasHelp(f *sourceFile, spec *ast.TypeSpec) string {
	const remove, removeSign = "remove it", "remove the ="
	if spec.TypeParams != nil {
		return remove
	}
	itself := "use " + types.ExprString(spec.Type) + " itself"
	switch right := ast.Unparen(spec.Type).(type) {
	case *ast.StructType, *ast.MapType:
		return removeSign
	case *ast.ArrayType:
		if right.Len == nil {
			return removeSign
		}
	case *ast.StarExpr:
		return itself
	case *ast.Ident, *ast.SelectorExpr:
		obj := typeName(f, right)
		if obj == nil {
			return itself
		}
		basic, isBasic := obj.Type().(*types.Basic)
		switch {
		case isBasic && primitives[basic.Kind()] != "":
			return removeSign
		case isBasic && basic.Info()&types.IsNumeric != 0:
			return "write " + spec.Name.Name + " " + nearestNumber(basic)
		case obj.Pkg() == nil && obj.Name() != "any":
			return "use a string"
		case obj.Pkg() != nil && c.sourceOf[obj.Pkg()] == nil && c.markerOf(obj) == noMarker:
			return c.foreignHelp(f, obj)
		}
		return itself
	}
	return remove
}

// declaredKind classifies a declaration by its syntax alone. Structs are refined to resources and string types to enums
// once all declarations are known.
func (c *checker) declaredKind(d *decl) declKind {
	right := ast.Unparen(d.spec.Type)
	switch right := right.(type) {
	case *ast.StructType:
		d.struc = right
		return plainStruct
	case *ast.InterfaceType:
		if right.Methods.NumFields() == 0 {
			c.report(diag.DefinedType, right, "cannot define %s as another name for any", d.spec.Name.Name).
				Suggestion = "use any itself"
			return broken
		}
	case *ast.Ident, *ast.SelectorExpr:
		other := typeName(d.file, right)
		if other == nil || other.Pkg() != nil && shadowsPredeclared(other.Name()) {
			return broken
		}
		if basic, ok := other.Type().(*types.Basic); ok && other.Pkg() == nil {
			if primitives[basic.Kind()] == "" {
				d.report = c.rejectBasic(right, basic)
				return broken
			}
			return alias
		}
		switch {
		case other.Pkg() == nil && other.Name() != "any":
			c.convertPredeclared(right, other)
			return broken
		case other.Pkg() != nil && c.sourceOf[other.Pkg()] == nil && c.markerOf(other) == noMarker:
			c.rejectForeign(d.file, right, other)
			return broken
		}
		c.report(diag.DefinedType, right, "cannot define %s as another name for %s", d.spec.Name.Name, other.Name()).
			Suggestion = "use " + types.ExprString(right) + " itself"
		return broken
	}
	return alias
}

func (c *checker) collectConst(f *sourceFile, name *ast.Ident, doc string) {
	if name.Name == "_" {
		c.report(diag.BlankName, name, "a constant named _ can never be used").Suggestion = "name it, or remove it"
		return
	}
	obj, ok := f.source.TypesInfo.Defs[name].(*types.Const)
	if !ok || obj.Val().Kind() == constant.Unknown {
		return
	}
	c.consts = append(c.consts, &constDecl{name: name, obj: obj, file: f, doc: doc})
}

// newModel returns an empty model declaration that references can point to, or nil for broken types and mixins.
func (d *decl) newModel(c *checker) schema.Decl {
	head := schema.Header{Name: d.spec.Name.Name, Pos: c.schemaPos(d.spec.Name.Pos()), File: d.file.schema}
	head.Doc, head.Deprecated = deprecation(d.doc)
	if o := d.deprecated; o != nil {
		if head.Deprecated != "" {
			c.rejectDeprecated(o, d.spec.Name.Name)
		}
		head.Deprecated = o.value
	}
	switch d.kind {
	case plainStruct:
		return &schema.Struct{Header: head}
	case resource:
		return &schema.Resource{Header: head, Token: c.typeToken(d), Named: d.marker == markerNamedResource}
	case config:
		return &schema.Config{Header: head}
	case union:
		return &schema.Union{Header: head}
	case function:
		return &schema.Function{Header: head, Token: c.typeToken(d)}
	case enum:
		return &schema.Enum{Header: head}
	case alias:
		return &schema.Alias{Header: head}
	}
	return nil
}

func isString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.String
}
