package gostubs

import (
	"go/doc"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/lumi-idl/lumi/idl/schema"
)

// The packages of the runtime.
const (
	lumiPath   = "github.com/lumi-idl/lumi/runtime"
	tokensPath = lumiPath + "/tokens"
	urnPath    = lumiPath + "/urn"
)

// scope is what the stubs of one module have in common: the names that are taken, and the names of imports.
type scope struct {
	taken   map[string]bool
	aliases map[string]string // by import path
	paths   map[*schema.Module]string
	locals  locals
}

// locals are the names of receivers and parameters in generated code. Each gets underscores until it hides nothing that
// the code inside might refer to.
type locals struct{ self, props, ops string }

func newScope(m *schema.Module, opts Options) *scope {
	s := &scope{
		taken:   map[string]bool{},
		aliases: map[string]string{lumiPath: "lumi", tokensPath: "tokens", urnPath: "urn", "context": "context"},
		paths:   map[*schema.Module]string{},
	}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			for _, name := range schema.GoNames(d) {
				s.taken[name] = true
			}
		}
	}
	for _, alias := range s.aliases {
		s.taken[alias] = true
	}
	for _, other := range m.Imports {
		p := path.Join(opts.ImportPath, other.Path)
		s.paths[other], s.aliases[p] = p, s.claim(other.GoName)
	}
	s.locals = locals{self: s.claim("s"), props: s.claim("p"), ops: s.claim("ops")}
	return s
}

// claim takes a name, with as many underscores as it needs.
func (s *scope) claim(name string) string {
	for s.taken[name] || jen.IsReservedWord(name) || doc.IsPredeclared(name) {
		name += "_"
	}
	s.taken[name] = true
	return name
}

// register tells a file under which names it imports what it uses.
func (s *scope) register(f *jen.File) {
	for p, alias := range s.aliases {
		if alias == path.Base(p) {
			f.ImportName(p, alias)
		} else {
			f.ImportAlias(p, alias)
		}
	}
}
