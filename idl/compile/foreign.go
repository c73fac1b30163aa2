package compile

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
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

// openForeign collects the declarations of the IDLs that the folders import, and reports each that has errors once.
func (c *checker) openForeign() {
	type folder struct {
		*packages.Package
		at diag.Span
	}
	imported := map[string][]folder{} // by root
	for _, s := range c.sources {
		for _, importPath := range slices.Sorted(maps.Keys(s.Imports)) {
			pkg := s.Imports[importPath]
			root := c.foreignRoot(pkg)
			at, ok := c.importOf(importPath)
			if root != "" && ok && !slices.ContainsFunc(imported[root], func(f folder) bool { return f.Package == pkg }) {
				imported[root] = append(imported[root], folder{pkg, at})
			}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(imported)) {
		var loaded []*packages.Package
		for _, f := range imported[root] {
			packages.Visit([]*packages.Package{f.Package}, func(pkg *packages.Package) bool {
				if !slices.Contains(loaded, pkg) {
					loaded = append(loaded, pkg)
				}
				return true
			}, nil)
		}
		other := c.collectForeign(root, loaded)
		other.pkg.Versions = versionsOf(imported[root][0].Module)
		if diags := other.sorted(); len(diags) > 0 {
			first, at := diags[0], imported[root][0].at
			for _, f := range imported[root] {
				if slices.ContainsFunc(f.GoFiles, func(name string) bool { return other.tree.display(other.rel(name)) == first.Span.Start.File }) {
					at = f.at
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
		others := append(slices.Clone(c.pkg.Packages), c.pkg)
		if slices.ContainsFunc(others, func(p *schema.Package) bool { return p.Name == other.pkg.Name }) {
			c.reportAt(diag.PackageIdentity, imported[root][0].at, "another IDL is also the package %s", other.pkg.Name).
				Suggestion = "change the directive of one of them"
		}
		c.pkg.Packages = append(c.pkg.Packages, other.pkg)
		for _, s := range other.sources {
			c.foreign[s.Types] = other
		}
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
		names, known := c.rootFiles[dir]
		if !known {
			names = goFiles(dir)
			c.rootFiles[dir] = names
		}
		if len(c.identities(names)) > 0 {
			if rel, err := filepath.Rel(dir, c.tree.root); err == nil && filepath.IsLocal(rel) {
				return ""
			}
			return dir
		}
	}
	return ""
}

// goFiles lists the Go files in a folder, without tests.
func goFiles(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.ContainsAny(e.Name()[:1], "._") {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// collectForeign returns a checker of an IDL that has collected the declarations of the loaded folders.
func (c *checker) collectForeign(root string, loaded []*packages.Package) *checker {
	t := &tree{arg: root, root: root}
	if rel, err := filepath.Rel(c.tree.root, root); err == nil && len(filepath.Join(c.tree.arg, rel)) < len(root) {
		t.arg = filepath.Join(c.tree.arg, rel)
	}
	var within []*packages.Package
	for _, pkg := range loaded {
		if c.foreignRoot(pkg) != root {
			continue
		}
		within = append(within, pkg)
		for _, file := range pkg.GoFiles {
			rel, _ := filepath.Rel(root, file)
			t.files = append(t.files, filepath.ToSlash(rel))
		}
	}
	slices.Sort(t.files)
	other := newChecker(t, Options{Markers: c.markers})
	other.fset = c.fset
	other.applyIdentity(c.identities(c.rootFiles[root]))
	other.adopt(within)
	failure := other.reportGoErrors(within)
	if failure != nil && len(other.diags) == 0 {
		other.reportAt(diag.GoPackage, diag.Span{}, "%s", failure)
	}
	if len(other.diags) == 0 {
		other.collect()
		other.checkFormerNames()
	}
	other.pkg.Modules = nil
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

// foreignDecl returns a type of another IDL, or nil.
func (c *checker) foreignDecl(obj *types.TypeName) (*checker, *decl) {
	other := c.foreign[obj.Pkg()]
	if other == nil {
		return nil, nil
	}
	return other, other.decls[obj]
}

// convertForeign converts a type of another package: a resource of another IDL, or an error.
func (c *checker) convertForeign(f *sourceFile, expr ast.Expr, obj *types.TypeName, at place) schema.Type {
	other, d := c.foreignDecl(obj)
	switch {
	case d == nil || d.kind != resource:
		c.rejectForeign(f, expr, obj)
		return nil
	case at == byItself:
		c.rejectByValue(expr)
		return nil
	}
	if r := c.referred[d]; r != nil {
		return &schema.Ref{Decl: r}
	}
	r := d.model.(*schema.Resource)
	r = &schema.Resource{Header: schema.Header{Name: r.Name, Deprecated: r.Deprecated}, Token: r.Token, Was: r.Was}
	c.referred[d] = r
	m, file := d.file.source.module, d.file.schema
	i, found := slices.BinarySearchFunc(other.pkg.Modules, m.Path, func(m *schema.Module, path string) int { return cmp.Compare(m.Path, path) })
	if !found {
		other.pkg.Modules = slices.Insert(other.pkg.Modules, i, &schema.Module{Path: m.Path, GoName: m.GoName, Foreign: other.pkg})
	}
	m = other.pkg.Modules[i]
	i, found = slices.BinarySearchFunc(m.Files, file.Name, func(f *schema.File, name string) int { return cmp.Compare(f.Name, name) })
	if !found {
		m.Files = slices.Insert(m.Files, i, &schema.File{Module: m, Name: file.Name})
	}
	r.File = m.Files[i]
	r.File.Decls = append(r.File.Decls, r)
	return &schema.Ref{Decl: r}
}

// linkForeign keeps the packages with resources that properties refer to, in a fixed order.
func (c *checker) linkForeign() {
	c.pkg.Packages = slices.DeleteFunc(c.pkg.Packages, func(p *schema.Package) bool { return len(p.Modules) == 0 })
	slices.SortFunc(c.pkg.Packages, func(a, b *schema.Package) int { return cmp.Compare(a.Name, b.Name) })
	for _, p := range c.pkg.Packages {
		for f := range p.Files() {
			slices.SortFunc(f.Decls, func(a, b schema.Decl) int { return cmp.Compare(a.Head().Name, b.Head().Name) })
		}
	}
}

// anonymous reports the import of a resource of an IDL that does not say who it is. It returns false for other types.
func (c *checker) anonymous(obj *types.TypeName) bool {
	struc, ok := obj.Type().Underlying().(*types.Struct)
	if !ok || c.foreign[obj.Pkg()] != nil {
		return false
	}
	for field := range struc.Fields() {
		named, _ := types.Unalias(field.Type()).(*types.Named)
		if named == nil || !field.Embedded() {
			continue
		}
		if m := c.markerOf(named.Obj()); m == markerResource || m == markerNamedResource {
			at, _ := c.importOf(obj.Pkg().Path())
			if !c.hasAt(diag.PackageIdentity, at) {
				c.reportAt(diag.PackageIdentity, at, "the imported IDL does not say which package it is").
					Suggestion = fmt.Sprintf("in the root of that IDL, above a package clause, %s", identityHelp)
			}
			return true
		}
	}
	return false
}
