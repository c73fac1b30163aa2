// Package schema is the checked model of an IDL package: what every generator reads, and all that it needs to.
//
// A [Package] holds modules, one a folder of the IDL; a [Module] holds files; a [File] holds declarations in source
// order. There are seven kinds of declaration ([Resource], [Struct], [Config], [Union], [Enum], [Alias] and [Const]) and
// four kinds of type ([Primitive], [List], [Map] and [Ref]). Both sets are closed: a type switch over them is complete.
//
// The model is a graph, since types refer to declarations and circles are legal. It is built once, by package compile
// or by [Read], and only read after that: it is safe for concurrent use. Whatever reaches a generator obeys every rule
// of the IDL, so a generator need not check anything again.
//
// [Write] and [Read] turn the model into JSON and back, for generators that are not written in Go. The fields' tags are
// the JSON form: a field that is added to the model is written, read and part of [Package.Digests] by its declaration.
package schema

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"strconv"
)

// Package is one IDL: everything at and below the folder that cidlc was given.
type Package struct {
	// Name is the package's name as it stands in tokens, such as "aws" or "corp/aws".
	Name string `json:"name"`
	// Modules are sorted by Path, so that the root, where there is one, comes first.
	Modules []*Module `json:"-"`
}

// Files yields every file of the package: module by module, sorted by name.
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

// Decls yields every declaration of the package: file by file, in source order.
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

// Module is one folder of the IDL.
type Module struct {
	// Path is the folder's slash-separated path inside the IDL, such as "ec2"; it is empty for the root.
	Path string `json:"path"`
	// GoName is the name in the folder's package clauses.
	GoName string `json:"goName"`
	// Files are sorted by name.
	Files []*File `json:"-"`
	// Imports are the other modules whose structs, enums and aliases the module's declarations use, be it through an
	// alias, sorted by path. Capabilities import nothing: they are references by URN. [Package.Link] computes it.
	Imports []*Module `json:"-"`
}

// Token is the module's part of a type token: its path, or "index" at the root.
func (m *Module) Token() string {
	if m.Path == "" {
		return "index"
	}
	return m.Path
}

// File is one source file of the IDL. A file that declares nothing is there too, since its documentation is.
type File struct {
	// Module is the folder that the file stands in.
	Module *Module `json:"-"`
	// Name is the file's name without its folder, such as "security_group.go".
	Name string `json:"name"`
	// Doc is the package documentation that the file carries, without comment markers.
	Doc string `json:"doc,omitempty"`
	// Decls are in source order.
	Decls []Decl `json:"-"`
}

// Path is the file's slash-separated path inside the IDL, such as "ec2/security_group.go".
func (f *File) Path() string { return path.Join(f.Module.Path, f.Name) }

// Position is a place in a source file. It is for people: generators use it in messages, never in output.
type Position struct {
	// Line counts from 1. It is 0, like Column, where the position is not known.
	Line int `json:"line"`
	// Column counts bytes, from 1.
	Column int `json:"column"`
}

// Decl is a declaration: a *[Resource], *[Struct], *[Config], *[Union], *[Enum], *[Alias] or *[Const].
type Decl interface {
	// Head returns what declarations of every kind have.
	Head() *Header
}

// Header is what declarations of every kind have.
type Header struct {
	// File is the source file that holds the declaration. [Package.Link] sets it.
	File *File `json:"-"`
	// Kind is "resource", "struct", "config", "union", "enum", "alias" or "const". [Package.Link] sets it.
	Kind string `json:"kind"`
	// Name is the declared name, as in the IDL.
	Name string `json:"name"`
	// Doc is the declaration's documentation, without comment markers and the paragraph about deprecation.
	Doc string `json:"doc,omitempty"`
	// Deprecated says what to use instead, if the declaration is deprecated.
	Deprecated string `json:"deprecated,omitempty"`
	// Pos is the position of the name.
	Pos Position `json:"pos,omitzero"`
}

// Head returns h itself; it makes every type that embeds a Header a [Decl].
func (h *Header) Head() *Header { return h }

// Exported reports whether the declaration is visible outside its module.
func (h *Header) Exported() bool { return IsExported(h.Name) }

// Resource is a struct that embeds one of the resource markers.
type Resource struct {
	Header
	// Token is the resource's type token, such as "aws:ec2:SecurityGroup".
	Token string `json:"token"`
	// Was has former type tokens of the resource, the last one first.
	Was []string `json:"was,omitempty"`
	// Named says that the program names the resource. A named resource's first property is "name", which is required
	// and replaces; it stands in Properties like any other.
	Named bool `json:"named,omitempty"`
	// Properties are the resource's own and those promoted from embedded structs, in source order.
	Properties []*Property `json:"properties,omitempty"`
}

// Struct is a plain object: the type of a property, or a base that other structs embed.
type Struct struct {
	Header
	// Properties are the struct's own and those promoted from embedded structs, in source order.
	Properties []*Property `json:"properties,omitempty"`
}

// Config is the struct that describes the configuration of the package's provider.
type Config struct {
	Header
	// Properties are the struct's own and those promoted from embedded structs, in source order.
	Properties []*Property `json:"properties,omitempty"`
}

// Union is a type whose values each are of one of its variants. If these are resources, a value is a capability, whose type
// tells which variant it is. Otherwise they are structs, and a value is an object with one property.
type Union struct {
	Header
	// Variants are at least two, in source order. The type of each is a [Ref] to a [Resource], or that of each is one to a
	// [Struct]; no two have the same type. Those of structs are properties of which all are optional, and exactly one is
	// present, as ExactlyOneOf says. Those of resources have no name on the wire.
	Variants []*Property `json:"variants"`
}

// Tokens returns the type tokens of the variants if these are resources, and nil if they are structs.
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

// Enum is a string type together with all the values it may have.
type Enum struct {
	Header
	// Members are in source order, file by file; no two have the same value.
	Members []*Member `json:"members,omitempty"`
}

// Member is one constant of an [Enum].
type Member struct {
	// Name is the constant's name in the IDL, unique in its module.
	Name string `json:"name"`
	// Value is what stands on the wire.
	Value string `json:"value"`
	// Doc is the constant's documentation, without comment markers and the paragraph about deprecation.
	Doc string `json:"doc,omitempty"`
	// Deprecated says what to use instead, if the value is deprecated.
	Deprecated string `json:"deprecated,omitempty"`
	// Pos is the position of the constant's name.
	Pos Position `json:"pos,omitzero"`
}

// ValueDeprecated says what to use instead of a member, or of the whole enum, if it is deprecated.
func (e *Enum) ValueDeprecated(m *Member) string { return cmp.Or(m.Deprecated, e.Deprecated) }

// Alias is another name for a type that is neither a struct nor an enum.
type Alias struct {
	Header
	// Target is what the alias stands for.
	Target Type `json:"target"`
	// Constraints are those of all values of the alias, or nil.
	Constraints *Constraints `json:"constraints,omitempty"`
}

// Const is a constant that belongs to no enum.
type Const struct {
	Header
	// Type is the Go type of the value. [Package.Link] sets it.
	Type string `json:"type"`
	// Value is a bool, a string of valid UTF-8, an int64 or uint64 that a float64 holds exactly, or a finite float64.
	Value any `json:"value"`
}

// Literal returns the value as most languages write it, given how a language quotes a string. Numbers read back as the
// very same float64.
func (c *Const) Literal(quote func(string) string) string {
	switch v := c.Value.(type) {
	case string:
		return quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(c.Value)
}

// Property is one property of a resource, a struct or a configuration.
type Property struct {
	// Field is the name of the Go field.
	Field string `json:"field"`
	// Name is the name on the wire and in generated TypeScript, unique among the properties beside it.
	Name string `json:"name"`
	// Type is the type of the value, without the pointer that makes it optional.
	Type Type `json:"type"`
	// Pointer says that the field is a pointer for the sake of absence: that is, not because it is a capability, an
	// asset or an archive.
	Pointer bool `json:"pointer,omitempty"`
	// Optional properties may be absent.
	Optional bool `json:"optional,omitempty"`
	// Out properties are set by the provider, never by a program.
	Out bool `json:"out,omitempty"`
	// In properties are sent to the provider and never read back.
	In bool `json:"in,omitempty"`
	// Replaces says that a change of the property needs a new resource in place of the old.
	Replaces bool `json:"replaces,omitempty"`
	// Secret values are wrapped on the wire and in graphs, and never printed.
	Secret bool `json:"secret,omitempty"`
	// Constraints are the property's own, in addition to those of its type, or nil.
	Constraints *Constraints `json:"constraints,omitempty"`
	// Default is the value of an optional property that is absent: a bool, a float64 or a string. It is nil if there is none.
	Default any `json:"default,omitempty"`
	// ConflictsWith names properties that are absent where this one is present.
	ConflictsWith []string `json:"conflictsWith,omitempty"`
	// RequiredWith names properties that are present where this one is.
	RequiredWith []string `json:"requiredWith,omitempty"`
	// ExactlyOneOf names the properties, this one among them, of which exactly one is present. All of them have the list.
	ExactlyOneOf []string `json:"exactlyOneOf,omitempty"`
	// Was has former names of the property, the last one first.
	Was []string `json:"was,omitempty"`
	// Deprecated says what to use instead, if the property is deprecated.
	Deprecated string `json:"deprecated,omitempty"`
	// Doc is the field's documentation, without comment markers and the paragraph about deprecation.
	Doc string `json:"doc,omitempty"`
	// Pos is the position of the field's name.
	Pos Position `json:"pos,omitzero"`
}

// Flags returns the options of the property that the runtimes know as flags of the same names. Generated code passes all
// of them on.
func (p *Property) Flags() []string {
	var names []string
	for _, flag := range []struct {
		set  bool
		name string
	}{{p.Replaces, "replaces"}, {p.Out, "out"}, {p.In, "in"}, {p.Secret, "secret"}} {
		if flag.set {
			names = append(names, flag.name)
		}
	}
	return names
}

// Nilable reports whether a Go value of the property's type can itself say that it is absent: a list, a map or an any,
// also through aliases.
func (p *Property) Nilable() bool {
	switch t := Underlying(p.Type).(type) {
	case *List, *Map:
		return true
	case Primitive:
		return t == Any
	}
	return false
}
