package house

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// layered lists the packages whose files must form layers.
var layered = []string{
	"./deploy/job", "./deploy/plan", "./deploy/run/...", "./deploy/environment", "./internal/cli/...", "./lang/...", "./lumigl", "./runtime", "./taskgraph/...",
}

// use is a reference to a declaration in another file of the same package: the declaration's name, and the reference's
// position.
type use struct{ name, at string }

// A file of a layered package may refer only to functions, types, and variables in lower files. Constants and methods are
// exempt.
func TestFileCycles(t *testing.T) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports
	all := must.Get(packages.Load(&packages.Config{Mode: mode, Dir: "../.."}, layered...))(t)
	for _, p := range all {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
		uses := usesBetweenFiles(p)
		if cycle := cycleOf(uses); cycle != nil {
			var lines []string
			for i, file := range cycle {
				next := cycle[(i+1)%len(cycle)]
				u := uses[file][next]
				lines = append(lines, fmt.Sprintf("%s uses %s of %s", u.at, u.name, next))
			}
			t.Errorf("files of %s form a cycle: break it by moving a declaration\n%s", p.PkgPath, strings.Join(lines, "\n"))
		}
	}
}

// usesBetweenFiles returns the first use of each file of p by each other file, keyed by the using file and then by the
// used one.
func usesBetweenFiles(p *packages.Package) map[string]map[string]use {
	uses := map[string]map[string]use{}
	for _, f := range p.Syntax {
		from := p.Fset.Position(f.Pos()).Filename
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			obj := p.TypesInfo.Uses[id]
			if obj == nil || obj.Parent() != p.Types.Scope() {
				return true
			}
			if _, isConst := obj.(*types.Const); isConst {
				return true
			}
			if to := p.Fset.Position(obj.Pos()).Filename; to != from {
				from, to := filepath.Base(from), filepath.Base(to)
				if uses[from] == nil {
					uses[from] = map[string]use{}
				}
				if _, known := uses[from][to]; !known {
					uses[from][to] = use{obj.Name(), fmt.Sprintf("%s:%d", from, p.Fset.Position(id.Pos()).Line)}
				}
			}
			return true
		})
	}
	return uses
}

// cycleOf returns the shortest cycle of files, or nil if there is none.
func cycleOf(uses map[string]map[string]use) (shortest []string) {
	for _, start := range slices.Sorted(maps.Keys(uses)) {
		from := map[string]string{start: ""}
		for next := []string{start}; len(next) > 0; next = next[1:] {
			for _, to := range slices.Sorted(maps.Keys(uses[next[0]])) {
				if to == start {
					var cycle []string
					for at := next[0]; at != ""; at = from[at] {
						cycle = append(cycle, at)
					}
					if slices.Reverse(cycle); shortest == nil || len(cycle) < len(shortest) {
						shortest = cycle
					}
				} else if _, seen := from[to]; !seen {
					from[to] = next[0]
					next = append(next, to)
				}
			}
		}
	}
	return shortest
}
