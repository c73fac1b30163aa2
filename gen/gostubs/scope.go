package gostubs

import (
	"go/doc"
	"go/token"
	"path"

	"github.com/lumi-idl/lumi/idl/schema"
)

// The packages that stubs import, beside each other.
const (
	contextPath = "context"
	lumiPath    = "github.com/lumi-idl/lumi/runtime"
	tokensPath  = lumiPath + "/tokens"
	urnPath     = lumiPath + "/urn"
)

// scope is what the stubs of one module have in common: the names that are taken, and the names of imports.
type scope struct {
	taken   map[string]bool
	aliases map[string]string // by import path
	paths   map[*schema.Module]string
	// self, props and ops are the names of receivers and parameters. Like those of imports they hide nothing that the
	// code around them might refer to.
	self, props, ops string
}

func newScope(m *schema.Module, opts Options) *scope {
	s := &scope{
		taken:   map[string]bool{},
		aliases: map[string]string{contextPath: "context", lumiPath: "lumi", tokensPath: "tokens", urnPath: "urn"},
		paths:   map[*schema.Module]string{},
	}
	for _, alias := range s.aliases {
		s.taken[alias] = true
	}
	for _, f := range m.Files {
		for _, d := range f.Decls {
			for _, name := range schema.GoNames(d) {
				s.taken[name] = true
			}
		}
	}
	for _, other := range m.Imports {
		p := path.Join(opts.ImportPath, other.Path)
		s.paths[other], s.aliases[p] = p, s.claim(other.GoName)
	}
	s.self, s.props, s.ops = s.claim("s"), s.claim("p"), s.claim("ops")
	return s
}

// claim takes a name, with as many underscores as it needs.
func (s *scope) claim(name string) string {
	for s.taken[name] || token.IsKeyword(name) || doc.IsPredeclared(name) {
		name += "_"
	}
	s.taken[name] = true
	return name
}
