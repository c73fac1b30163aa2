package compile

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Properties can refer to the resources of other IDLs, which the go command loads together with this one. Each is
// another checker, which only collects declarations: that is enough to know the resources and their tokens.

// openForeign collects the declarations of the IDLs that the folders import. It reports the first error in each at an
// import.
func (c *checker) openForeign() {
	imported := map[string][]*packages.Package{} // by root
	var roots []string                           // in the order of imports, since paths differ between machines
	for _, s := range c.sources {
		for _, importPath := range slices.Sorted(maps.Keys(s.Imports)) {
			pkg := s.Imports[importPath]
			if root := c.foreignRoot(pkg); root != "" && !slices.Contains(imported[root], pkg) {
				if imported[root] == nil {
					roots = append(roots, root)
				}
				imported[root] = append(imported[root], pkg)
			}
		}
	}
	for _, root := range roots {
		other := c.collectForeign(root, imported[root])
		at, _ := c.importOf(imported[root][0].PkgPath)
		if diags := other.sorted(); len(diags) > 0 {
			first := diags[0]
			for _, pkg := range imported[root] {
				if slices.ContainsFunc(other.rels(pkg.GoFiles), func(rel string) bool { return other.tree.display(rel) == first.Span.Start.File }) {
					at, _ = c.importOf(pkg.PkgPath)
				}
			}
			d := c.reportAt(first.Code, at, "the imported IDL has errors: %s", first.Message)
			d.Notes = append([]diag.Note{{Span: first.Span, Message: "the error is here"}}, first.Notes...)
			d.Suggestion = first.Suggestion
			for _, s := range other.sources {
				c.wrong[s.Types] = true
			}
			continue
		}
		if slices.ContainsFunc(append(c.others, c), func(o *checker) bool { return o.pkg.Name == other.pkg.Name }) {
			c.reportAt(diag.PackageIdentity, at, "another IDL is also the package %s", other.pkg.Name).
				Suggestion = "change the directive of one of them"
		}
		c.others = append(c.others, other)
		maps.Copy(c.foreign, other.decls)
	}
}

// foreignRoot returns the root of the IDL that contains a package: the nearest folder in its module, at or above the
// package's, with a directive that identifies an IDL. It returns "" if there is none, or if this IDL is in that folder.
func (c *checker) foreignRoot(pkg *packages.Package) string {
	if pkg.Module == nil || len(pkg.GoFiles) == 0 || c.sourceOf[pkg.Types] != nil || c.declaresMarkers(pkg.Types) {
		return ""
	}
	dir := filepath.Dir(pkg.GoFiles[0])
	for p := pkg.PkgPath; len(p) >= len(pkg.Module.Path); p, dir = path.Dir(p), filepath.Dir(dir) {
		if len(c.identities(dir)) == 0 {
			continue
		}
		if rel, err := filepath.Rel(dir, c.tree.root); err == nil && filepath.IsLocal(rel) {
			return ""
		}
		return dir
	}
	return ""
}

// collectForeign returns a checker of another IDL that has collected the declarations of the imported folders and those
// that they import.
func (c *checker) collectForeign(root string, imported []*packages.Package) *checker {
	t := &tree{arg: root, root: root}
	if rel, err := filepath.Rel(c.tree.root, root); err == nil && len(filepath.Join(c.tree.arg, rel)) < len(root) {
		t.arg = filepath.Join(c.tree.arg, rel)
	}
	var folders []*packages.Package
	packages.Visit(imported, nil, func(pkg *packages.Package) {
		if c.foreignRoot(pkg) != root {
			return
		}
		folders = append(folders, pkg)
		for _, file := range pkg.GoFiles {
			rel, _ := filepath.Rel(root, file)
			t.files = append(t.files, filepath.ToSlash(rel))
		}
	})
	slices.Sort(t.files)
	other := newChecker(t, Options{Markers: c.markers})
	other.fset = c.fset
	other.applyIdentity(c.identities(root))
	other.pkg.Versions = versionsOf(imported[0].Module)
	other.adopt(folders)
	if err := other.reportGoErrors(folders); err != nil {
		other.reportAt(diag.GoPackage, diag.Span{}, "%s", err)
	}
	if len(other.diags) == 0 {
		other.collect()
		other.checkFormerNames()
	}
	return other
}

// versionsOf returns the versions of an npm package that fit a module required by go.mod: any for one that is replaced,
// or has no release.
func versionsOf(m *packages.Module) string {
	if m.Replace != nil || m.Version == "" || module.IsPseudoVersion(m.Version) {
		return "*"
	}
	return "^" + strings.TrimPrefix(strings.TrimSuffix(m.Version, semver.Build(m.Version)), "v")
}

// convertForeign converts a type of another package: a resource of another IDL, or an error.
func (c *checker) convertForeign(f *sourceFile, expr ast.Expr, obj *types.TypeName, at place) schema.Type {
	switch d := c.foreign[obj]; {
	case d == nil || d.kind != resource:
		c.rejectForeign(f, expr, obj)
	case at == byItself:
		c.rejectByValue(expr)
	default:
		d.use(expr)
		return &schema.Ref{Decl: d.model}
	}
	return nil
}

// linkForeign adds the packages of other IDLs with the resources that properties refer to.
func (c *checker) linkForeign() {
	for _, other := range c.others {
		for _, d := range other.order {
			if r, ok := d.model.(*schema.Resource); ok && d.usedAt != nil {
				*r = schema.Resource{Header: schema.Header{File: r.File, Name: r.Name, Deprecated: r.Deprecated}, Token: r.Token, Was: r.Was}
				r.File.Decls = append(r.File.Decls, r)
			}
		}
		for _, s := range other.sources {
			s.module.Files = slices.DeleteFunc(s.module.Files, func(f *schema.File) bool {
				f.Doc = ""
				return len(f.Decls) == 0
			})
			if len(s.module.Files) > 0 {
				other.pkg.Modules = append(other.pkg.Modules, s.module)
			}
		}
		if len(other.pkg.Modules) > 0 {
			c.pkg.Packages = append(c.pkg.Packages, other.pkg)
		}
	}
	slices.SortFunc(c.pkg.Packages, func(a, b *schema.Package) int { return cmp.Compare(a.Name, b.Name) })
}

// anonymous reports the import of an IDL that does not say who it is. It returns false for other packages.
func (c *checker) anonymous(obj *types.TypeName) bool {
	if c.foreign[obj] != nil || !slices.ContainsFunc(obj.Pkg().Imports(), c.declaresMarkers) {
		return false
	}
	if at, _ := c.importOf(obj.Pkg().Path()); !c.hasAt(diag.PackageIdentity, at) {
		c.reportAt(diag.PackageIdentity, at, "the imported IDL does not say which package it is").
			Suggestion = "in the root of that IDL, write " + packageDirective + "=NAME above a package clause"
	}
	return true
}
