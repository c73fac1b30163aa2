package deployments

import (
	"cmp"
	"slices"

	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
)

// warnUndeclared warns of settings that none of the programs declare. declared lists the desired states of the programs.
func warnUndeclared(s *workspace.Session, settings []lumiyaml.Setting, declared ...*lumigl.Snapshot) {
	keys := s.Workspace.Names() // a misspelt module is a shared setting
	for _, desired := range declared {
		for key := range desired.Field("config").Members() {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(settings, func(a, b lumiyaml.Setting) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for _, one := range settings {
		if slices.Contains(keys, one.Key) {
			continue
		}
		help := ""
		if near := suggest.Name(one.Key, keys); near != "" {
			help = "; did you mean " + near + "?"
		}
		s.Say("warning: %s: no program declares this configuration%s", one, help)
	}
}
