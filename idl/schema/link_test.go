package schema

import (
	"slices"
	"testing"
)

// A module also imports the modules of alias targets, since generated code names the targets.
func TestImportsThroughAliases(t *testing.T) {
	rule := &Struct{Header: Header{Name: "Rule"}}
	rules := &Alias{Header: Header{Name: "Rules"}, Target: &List{Elem: &Ref{Decl: rule}}}
	group := &Struct{Header: Header{Name: "Group"}, Properties: []*Property{{Type: &Map{Key: String, Elem: &Ref{Decl: rules}}}}}
	module := func(path string, d Decl) *Module {
		return &Module{Path: path, Files: []*File{{Name: "x.go", Decls: []Decl{d}}}}
	}
	pkg := &Package{Modules: []*Module{module("a", group), module("b", rules), module("c", rule)}}
	pkg.Link()
	for i, want := range [][]string{{"b", "c"}, {"c"}, nil} {
		var got []string
		for _, m := range pkg.Modules[i].Imports {
			got = append(got, m.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("module %s imports %v, want %v", pkg.Modules[i].Path, got, want)
		}
	}
}
