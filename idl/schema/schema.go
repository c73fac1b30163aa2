// Package schema defines the checked model of an IDL package, which is the input of all generators.
//
// A [Package] consists of modules, one per folder of the IDL. A [Module] consists of files, and a [File] of
// declarations in source order. There are eight kinds of declaration ([Resource], [Struct], [Config], [Union],
// [Function], [Enum], [Alias], and [Const]) and four kinds of type ([Primitive], [List], [Map], and [Ref]). Both sets are closed, so type
// switches can be exhaustive.
//
// The model is a graph: types refer to declarations, and cycles are allowed. It is built once, by package compile or
// [Read]. After that, it is immutable and safe for concurrent use. It satisfies all rules of the IDL, so generators
// need not check them.
//
// [Write] and [Read] convert the model to and from JSON for generators not written in Go. Struct tags define the JSON
// form, so a new field is automatically written, read, and included in [Package.Digests].
package schema

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"strconv"
)

// Package is an IDL: the folder passed to cidlc and all folders below it.
type Package struct {
	// Name is the name of the package in type tokens, such as "aws" or "corp/aws".
	Name string `json:"name"`
	// NPM is the name of the npm package, if the IDL has a directive that identifies it.
	NPM string `json:"npm,omitempty"`
	// Versions is the range of versions that another package requires of the npm package, such as "^1.2.3".
	Versions string `json:"versions,omitempty"`
	// Modules is sorted by Path. The root, if present, comes first.
	Modules []*Module `json:"-"`
	// Packages lists other packages, sorted by name, with only the resources that this one refers to, and of
	// these only the names, tokens, and deprecations.
	Packages []*Package `json:"-"`
}

// Files yields all files of the package in the order of their modules.
func (p *Package) Files() iter.Seq[*File] {
	return func(yield func(*File) bool) {
		for _, m := range p.Modules {
			for _, f := range m.Files {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// Decls yields all declarations of the package in source order, file by file.
func (p *Package) Decls() iter.Seq[Decl] {
	return func(yield func(Decl) bool) {
		for f := range p.Files() {
			for _, d := range f.Decls {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// Module is a folder of the IDL.
type Module struct {
	// Path is the folder's slash-separated path inside the IDL, such as "ec2", or empty for the root.
	Path string `json:"path"`
	// GoName is the package name used in the folder's Go files.
	GoName string `json:"goName"`
	// Files lists the files of the folder, sorted by name.
	Files []*File `json:"-"`
	// Imports lists the other modules whose structs, enums, or aliases this module uses, directly or through an alias,
	// sorted by path. Resource references are URNs and require no imports. It is set by [Package.Link].
	Imports []*Module `json:"-"`
	// Foreign is the package of a module in [Package.Packages], and nil for other modules.
	Foreign *Package `json:"-"`
}

// Token returns the module's part of a type token, which is its path or, for the root, "index".
func (m *Module) Token() string {
	if m.Path == "" {
		return "index"
	}
	return m.Path
}

// File is a source file of the IDL. Files without declarations are included for their documentation.
type File struct {
	// Module is the module that contains the file.
	Module *Module `json:"-"`
	// Name is the base name of the file, such as "security_group.go".
	Name string `json:"name"`
	// Doc is the package comment of the file, without comment markers.
	Doc string `json:"doc,omitempty"`
	// Decls lists the declarations in source order.
	Decls []Decl `json:"-"`
}

// Path returns the file's slash-separated path inside the IDL, such as "ec2/security_group.go".
func (f *File) Path() string { return path.Join(f.Module.Path, f.Name) }

// Position is a position in a source file. Generators use positions in messages, but never in output.
type Position struct {
	// Line counts from 1. Line and Column are 0 if the position is unknown.
	Line int `json:"line"`
	// Column counts from 1, in bytes.
	Column int `json:"column"`
}

// Decl is a declaration: a *[Resource], *[Struct], *[Config], *[Union], *[Function], *[Enum], *[Alias],
// or *[Const].
type Decl interface {
	// Head returns the fields common to all declarations.
	Head() *Header
}

// Header holds the fields common to all declarations.
type Header struct {
	// File is the source file of the declaration. It is set by [Package.Link].
	File *File `json:"-"`
	// Kind is "resource", "struct", "config", "union", "function", "enum", "alias", or "const". It is set by [Package.Link].
	Kind string `json:"kind"`
	// Name is the name declared in the IDL.
	Name string `json:"name"`
	// Doc is the documentation, without comment markers and without the deprecation paragraph.
	Doc string `json:"doc,omitempty"`
	// Deprecated names the replacement. It is empty if the declaration is not deprecated.
	Deprecated string `json:"deprecated,omitempty"`
	// Pos is the position of the name.
	Pos Position `json:"pos,omitzero"`
}

// Head returns h. It makes every type that embeds a Header a [Decl].
func (h *Header) Head() *Header { return h }

// Foreign returns the other package that contains the declaration, or nil.
func (h *Header) Foreign() *Package { return h.File.Module.Foreign }

// Exported reports whether the declaration is visible outside its module.
func (h *Header) Exported() bool { return IsExported(h.Name) }

// Resource is a resource type: a struct that embeds one of the resource markers.
type Resource struct {
	Header
	// Token is the resource's type token, such as "aws:ec2:SecurityGroup".
	Token string `json:"token"`
	// Was lists the resource's former type tokens, latest first.
	Was []string `json:"was,omitempty"`
	// Named is set if the program names the resource. The first property is then "name", which is required and replaces
	// the resource when changed.
	Named bool `json:"named,omitempty"`
	// NameScope is the property within which names are unique. It is empty if they are unique within a configuration of
	// the provider, or if the program does not name the resource.
	NameScope string `json:"nameScope,omitempty"`
	// Properties lists the declared and promoted properties in source order.
	Properties []*Property `json:"properties,omitempty"`
	// Rules lists the rules of the declaration and of what it embeds in source order.
	Rules []*Rule `json:"rules,omitempty"`
}

// Struct is a plain object type: the type of a property, or a base to embed in other structs.
type Struct struct {
	Header
	// Properties lists the declared and promoted properties in source order.
	Properties []*Property `json:"properties,omitempty"`
	// Rules lists the rules of the declaration and of what it embeds in source order.
	Rules []*Rule `json:"rules,omitempty"`
}

// Rule relates properties of an object that a program sets.
type Rule struct {
	// Message describes objects that break the rule.
	Message string `json:"message"`
	// Expr is false for objects that break the rule: a bool, a float64, a string, or an []any of an operator and its
	// operands. docs/idl.md defines the operators, and which operands are undecided. The operands of "get" and "has" are
	// the names on the path to a property, such as ["get", "limits", "max"]; "default" is "get" with the property's
	// default before these names.
	Expr any `json:"expr"`
}

// JSON returns the expression as JSON.
func (r *Rule) JSON() string {
	text, _ := marshal(r.Expr) // consists of values that JSON has
	return string(text)
}

// Rules returns the rules of a declaration.
func Rules(d Decl) []*Rule {
	switch d := d.(type) {
	case *Resource:
		return d.Rules
	case *Struct:
		return d.Rules
	case *Config:
		return d.Rules
	case *Function:
		return d.Rules
	}
	return nil
}

// Config is the configuration of the package's provider.
type Config struct {
	Header
	// Properties lists the declared and promoted properties in source order.
	Properties []*Property `json:"properties,omitempty"`
	// Rules lists the rules of the declaration and of what it embeds in source order.
	Rules []*Rule `json:"rules,omitempty"`
}

// Union is a type with several variants. If the variants are resources, a value is a resource reference whose type
// identifies the variant. If they are structs, a value is an object with exactly one property.
type Union struct {
	Header
	// Variants lists at least two variants in source order. Their types are distinct [Ref] types that refer either all
	// to a [Resource] or all to a [Struct]. Struct variants are optional properties related by ExactlyOneOf. Resource
	// variants have no name on the wire.
	Variants []*Property `json:"variants"`
}

// Tokens returns the type tokens of the variants, or nil if the variants are structs.
func (u *Union) Tokens() []string {
	var tokens []string
	for _, v := range u.Variants {
		if ref, ok := v.Type.(*Ref); ok {
			if r, ok := ref.Decl.(*Resource); ok {
				tokens = append(tokens, r.Token)
			}
		}
	}
	return tokens
}

// Function is a function of the provider that programs call. A call changes nothing.
type Function struct {
	Header
	// Token is the function's token, such as "aws:ec2:FindImage". No resource has the same token.
	Token string `json:"token"`
	// Properties lists the declared and promoted properties in source order. Those with Out are the results, of which
	// there is at least one; the others are the arguments.
	Properties []*Property `json:"properties"`
	// Rules lists the rules on the arguments, of the declaration and of what it embeds, in source order.
	Rules []*Rule `json:"rules,omitempty"`
}

// Enum is a string type with a fixed set of values.
type Enum struct {
	Header
	// Members lists the constants in source order, file by file. Their values are distinct.
	Members []*Member `json:"members,omitempty"`
}

// Member is a constant of an [Enum].
type Member struct {
	// Name is the name of the constant in the IDL. It is unique in its module.
	Name string `json:"name"`
	// Value is sent on the wire.
	Value string `json:"value"`
	// Doc is the documentation, without comment markers and without the deprecation paragraph.
	Doc string `json:"doc,omitempty"`
	// Deprecated names the replacement. It is empty if the constant is not deprecated.
	Deprecated string `json:"deprecated,omitempty"`
	// Pos is the position of the constant's name.
	Pos Position `json:"pos,omitzero"`
}

// ValueDeprecated returns the replacement for m or, if only the whole enum is deprecated, for e. It returns "" if
// neither is deprecated.
func (e *Enum) ValueDeprecated(m *Member) string { return cmp.Or(m.Deprecated, e.Deprecated) }

// Alias is a named type that is neither a struct nor an enum.
type Alias struct {
	Header
	// Target is the aliased type.
	Target Type `json:"target"`
	// Constraints applies to all values of the alias. It is nil if there are none.
	Constraints *Constraints `json:"constraints,omitempty"`
}

// Const is a constant that does not belong to an enum.
type Const struct {
	Header
	// Type is the Go type of the value. It is set by [Package.Link].
	Type string `json:"type"`
	// Value is a bool, a valid UTF-8 string, a finite float64, or an int64 or uint64 that float64 represents exactly.
	Value any `json:"value"`
}

// Literal formats the value in a syntax shared by most languages, using quote for strings. Numbers parse to the same
// float64.
func (c *Const) Literal(quote func(string) string) string {
	switch v := c.Value.(type) {
	case string:
		return quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(c.Value)
}

// Property is a property of a resource, struct, or configuration, an argument or result of a function, or a variant of a
// union.
type Property struct {
	// Field is the name of the Go field.
	Field string `json:"field"`
	// Name is the name on the wire and in generated TypeScript. It is unique among its siblings.
	Name string `json:"name"`
	// Type is the type of the value, not counting the pointer of an optional property.
	Type Type `json:"type"`
	// Pointer is set if the field is a pointer only so that it can be absent, not because it is a resource reference,
	// asset, or archive.
	Pointer bool `json:"pointer,omitempty"`
	// Optional is set if the property may be absent.
	Optional bool `json:"optional,omitempty"`
	// Out is set if the provider sets the property and programs do not.
	Out bool `json:"out,omitempty"`
	// Fixed properties are out. Create sets them, and Update never changes them.
	Fixed bool `json:"fixed,omitempty"`
	// Computed properties are optional. If a program does not set one, the provider chooses its value.
	Computed bool `json:"computed,omitempty"`
	// In is set if the property is sent to the provider but never read back.
	In bool `json:"in,omitempty"`
	// Replaces is set if changing the property replaces the resource.
	Replaces bool `json:"replaces,omitempty"`
	// Secret is set if the value is sensitive. It is wrapped on the wire and in graphs, and never printed.
	Secret bool `json:"secret,omitempty"`
	// Constraints applies in addition to the constraints of Type. It is nil if there are none.
	Constraints *Constraints `json:"constraints,omitempty"`
	// Default is the value used if an optional property is absent: a bool, a float64, or a string. It is nil if there
	// is no default.
	Default any `json:"default,omitempty"`
	// ConflictsWith lists properties that must be absent if this one is set.
	ConflictsWith []string `json:"conflictsWith,omitempty"`
	// RequiredWith lists properties that must also be set if this one is set.
	RequiredWith []string `json:"requiredWith,omitempty"`
	// ExactlyOneOf lists a group of properties, including this one, of which exactly one must be set. All members of
	// the group have the same list.
	ExactlyOneOf []string `json:"exactlyOneOf,omitempty"`
	// Was lists the property's former names, latest first.
	Was []string `json:"was,omitempty"`
	// Deprecated names the replacement. It is empty if the property is not deprecated.
	Deprecated string `json:"deprecated,omitempty"`
	// Doc is the documentation, without comment markers and without the deprecation paragraph.
	Doc string `json:"doc,omitempty"`
	// Pos is the position of the field name.
	Pos Position `json:"pos,omitzero"`
}

// Flags returns the names of the property's options that are flags in both runtimes. Generators pass all of them to the
// runtime.
func (p *Property) Flags() []string {
	var names []string
	for _, flag := range []struct {
		set  bool
		name string
	}{{p.Replaces, "replaces"}, {p.Out, "out"}, {p.Fixed, "fixed"}, {p.Computed, "computed"}, {p.In, "in"}, {p.Secret, "secret"}} {
		if flag.set {
			names = append(names, flag.name)
		}
	}
	return names
}

// Nilable reports whether the Go type of the property can itself be nil, as for a list, a map, any, or an alias of one
// of these.
func (p *Property) Nilable() bool {
	switch t := Underlying(p.Type).(type) {
	case *List, *Map:
		return true
	case Primitive:
		return t == Any
	}
	return false
}
