package gostubs

import (
	"crypto/sha256"
	"fmt"
	"go/doc"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// Import paths of the packages that stubs import, other than stubs.
const (
	contextPath = "context"
	lumiPath    = "github.com/lumi-idl/lumi/runtime"
	tokensPath  = lumiPath + "/tokens"
	urnPath     = lumiPath + "/urn"
)

// scope contains the names shared by all stubs of a module.
type scope struct {
	root    string            // the import path of the output folder
	imports map[string]string // import names by path
	// self, props, and ops are the names of receivers and parameters.
	self, props, ops string
	// codecs maps the constant for a property name to the variable of the property's codec.
	codecs map[string]string
	// rules maps the names of declarations to the variables of their rules.
	rules map[string]string
}

// newScope chooses the names for a module. Jennifer only keeps imports distinct from each other. The names chosen here
// also differ from declarations in the module and from predeclared names, and do not shadow any name used by the
// generated code.
func newScope(m *schema.Module, opts Options) *scope {
	s := &scope{root: opts.ImportPath, codecs: map[string]string{}, rules: map[string]string{}, imports: map[string]string{
		contextPath: "context", lumiPath: "lumi", tokensPath: "tokens", urnPath: "urn",
	}}
	taken := map[string]bool{}
	for _, name := range s.imports {
		taken[name] = true
	}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			for _, name := range schema.GoNames(d) {
				taken[name] = true
			}
		}
	}
	claim := func(name string) string {
		for taken[name] || jen.IsReservedWord(name) || doc.IsPredeclared(name) {
			name += "_"
		}
		taken[name] = true
		return name
	}
	for _, other := range m.Imports {
		s.imports[s.path(other)] = claim(other.GoName)
	}
	s.self, s.props, s.ops = claim("s"), claim("p"), claim("ops")
	for _, f := range m.Files {
		for _, d := range f.Decls {
			if len(schema.Rules(d)) > 0 {
				s.rules[d.Head().Name] = claim(schema.PropertyName(d.Head().Name) + "_rules")
			}
			for _, p := range schema.Properties(d) {
				if hasCodec(p) {
					name := schema.GoPropertyConst(d.Head(), p)
					s.codecs[name] = claim(schema.PropertyName(name))
				}
			}
		}
	}
	return s
}

// codec returns the name of the variable for a property's codec, or "" if the property has none.
func (s *scope) codec(h *schema.Header, p *schema.Property) string {
	if len(s.codecs) == 0 {
		return ""
	}
	return s.codecs[schema.GoPropertyConst(h, p)]
}

// constrained returns a function that reports whether a property of h has a codec variable.
func (s *scope) constrained(h *schema.Header) func(*schema.Property) bool {
	return func(p *schema.Property) bool { return s.codec(h, p) != "" }
}

// input returns a digest of everything that a stub depends on. File is the digest of the IDL file.
func (s *scope) input(file [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(file[:], "%q", []any{s.root, s.imports, s.self, s.props, s.ops, s.codecs, s.rules}))
}

// path returns the import path of the stubs of a module.
func (s *scope) path(m *schema.Module) string { return path.Join(s.root, m.Path) }

// file returns an empty file of the module. Names used in the file are imported automatically.
func (s *scope) file(m *schema.Module) *jen.File {
	f := jen.NewFilePathName(s.path(m), m.GoName)
	for p, name := range s.imports {
		f.ImportAlias(p, name)
		if name == path.Base(p) {
			f.ImportName(p, name) // no alias is needed
		}
	}
	return f
}
