package gostubs

import (
	"crypto/sha256"
	"fmt"
	"go/doc"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// The packages that stubs import besides other stubs.
const (
	contextPath = "context"
	lumiPath    = "github.com/lumi-idl/lumi/runtime"
	tokensPath  = lumiPath + "/tokens"
	urnPath     = lumiPath + "/urn"
)

// scope holds the names shared by the stubs of one module.
type scope struct {
	root    string            // the import path of the output's root
	imports map[string]string // import names by path
	// self, props and ops are the names of receivers and parameters.
	self, props, ops string
	// codecs maps constants of property names to the variables of their codecs.
	codecs map[string]string
}

// newScope chooses names. jennifer only keeps imports distinct from each other; these also differ from the module's
// declarations and predeclared names, and shadow nothing that generated code may use.
func newScope(m *schema.Module, opts Options) *scope {
	s := &scope{root: opts.ImportPath, codecs: map[string]string{}, imports: map[string]string{
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

// codec returns the name of a property's codec variable, or "" if it has none.
func (s *scope) codec(h *schema.Header, p *schema.Property) string {
	if len(s.codecs) == 0 {
		return ""
	}
	return s.codecs[schema.GoPropertyConst(h, p)]
}

// constrained returns a function that reports whether a property of a declaration has a codec variable.
func (s *scope) constrained(h *schema.Header) func(*schema.Property) bool {
	return func(p *schema.Property) bool { return s.codec(h, p) != "" }
}

// input returns the digest of everything that a stub depends on, given the digest of its file.
func (s *scope) input(file [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(file[:], "%q", []any{s.root, s.imports, s.self, s.props, s.ops, s.codecs}))
}

// path returns the import path of a module's stubs.
func (s *scope) path(m *schema.Module) string { return path.Join(s.root, m.Path) }

// file returns an empty file of the module, which adds imports as names are used.
func (s *scope) file(m *schema.Module) *jen.File {
	f := jen.NewFilePathName(s.path(m), m.GoName)
	for p, name := range s.imports {
		f.ImportAlias(p, name)
		if name == path.Base(p) {
			f.ImportName(p, name) // without an alias
		}
	}
	return f
}
