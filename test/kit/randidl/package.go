package randidl

import (
	"fmt"
	"go/ast"
	"path"
	"strings"

	"pgregory.net/rapid"
)

// Root is the import path of the packages that [Package] generates.
const Root = "example.com/shop/idl"

// folders lists the folders of a package, each of which may import the previous ones. Stubs use the same names.
var folders = []struct{ dir, name string }{
	{"context/urn", "urn"}, {"context", "context"}, {"my.mod", "lumi"}, {"", "shop"},
}

// declaration is a declaration that another folder may use.
type declaration struct {
	name string // qualified
	kind kind
}

// Package returns the random sources of a package of several folders that use each other's declarations, by
// slash-separated path.
func Package(t *rapid.T) map[string]string {
	files := map[string]string{}
	var visible []declaration
	imports := map[string]string{}
	for i, folder := range folders {
		if folder.dir != "" && rapid.IntRange(0, 2).Draw(t, "folder") == 0 {
			continue
		}
		g := &generator{T: t, kinds: map[string]kind{}, visible: visible, nested: true}
		g.choose(4)
		// Half of the declarations are in their own file.
		for j, names := range [][]string{g.order[:len(g.order)/2], g.order[len(g.order)/2:]} {
			g.out.Reset()
			for _, name := range names {
				g.declare(name)
			}
			files[path.Join(folder.dir, fmt.Sprintf("file%d.go", j))] = source(folder.name, g.out.String(), imports)
		}
		alias := fmt.Sprintf("from%d", i)
		for _, name := range g.order {
			if ast.IsExported(name) {
				visible = append(visible, declaration{alias + "." + name, g.kinds[name]})
			}
		}
		imports[alias] = path.Join(Root, folder.dir)
	}
	return files
}

// source returns a whole file with the imports that its body needs.
func source(name, body string, imports map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", name)
	if strings.Contains(body, "idl.") {
		b.WriteString("import \"github.com/lumi-idl/lumi/idl\"\n")
	}
	for i := range folders {
		if alias := fmt.Sprintf("from%d", i); strings.Contains(body, alias+".") {
			fmt.Fprintf(&b, "import %s %q\n", alias, imports[alias])
		}
	}
	return b.String() + "\n" + body
}
