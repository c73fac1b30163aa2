package compile

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/lumi-idl/lumi/idl/diag"
)

// marker is a type of the package that IDL authors import.
type marker string

// The markers, by their names.
const (
	noMarker            marker = ""
	markerResource      marker = "Resource"
	markerNamedResource marker = "NamedResource"
	markerConfig        marker = "Config"
	markerOneOf         marker = "OneOf"
	markerAsset         marker = "Asset"
	markerArchive       marker = "Archive"
	// unknownMarker is whatever is embedded by a name that means nothing, which has been reported or is going to be.
	unknownMarker marker = "?"
)

var markers = []marker{markerResource, markerNamedResource, markerConfig, markerOneOf, markerAsset, markerArchive}

// ownMarkers is the package that IDL authors import.
const ownMarkers = "github.com/lumi-idl/lumi/idl"

// checkMarkers rejects paths that are not import paths.
func checkMarkers(paths []string) error {
	for _, path := range paths {
		var invalid *module.InvalidPathError
		if errors.As(module.CheckImportPath(path), &invalid) {
			return &UsageError{fmt.Sprintf("--marker=%s: invalid import path: %s; expected one such as %s", path, invalid.Err, ownMarkers)}
		}
	}
	return nil
}

// checkMarkersUsed rejects markers that no file imports. Call it without errors in the IDL, which can hide imports.
func (c *checker) checkMarkersUsed() error {
	for _, path := range c.markers {
		if _, imported := c.importOf(path); !imported {
			return &UsageError{fmt.Sprintf("--marker=%s: not imported by any file of the IDL; remove the flag or fix the path", path)}
		}
	}
	return nil
}

// markerOf tells which marker a type is. Packages are recognized by path: ours, those that the command line names, and
// the path that IDL of 2017 imports, wherever that was moved.
func (c *checker) markerOf(obj *types.TypeName) marker {
	if obj == nil || obj.Pkg() == nil || c.sourceOf[obj.Pkg()] != nil || !c.declaresMarkers(obj.Pkg()) ||
		!slices.Contains(markers, marker(obj.Name())) {
		return noMarker
	}
	return marker(obj.Name())
}

func (c *checker) declaresMarkers(pkg *types.Package) bool {
	path := pkg.Path()
	return path == ownMarkers || strings.HasSuffix(path, "/resource/idl") || slices.Contains(c.markers, path)
}

// couldBeMarker reports whether a type is called like a marker, in a package that has an empty struct Resource as the
// markers' have, but that the command line does not name.
func (c *checker) couldBeMarker(obj *types.TypeName) bool {
	if !slices.Contains(markers, marker(obj.Name())) || c.declaresMarkers(obj.Pkg()) {
		return false
	}
	resource := obj.Pkg().Scope().Lookup(string(markerResource))
	if resource == nil {
		return false
	}
	struc, ok := resource.Type().Underlying().(*types.Struct)
	return ok && struc.NumFields() == 0
}

// embeds reports whether the marker does something when it is embedded.
func (m marker) embeds() bool {
	return m == markerResource || m == markerNamedResource || m == markerConfig || m == markerOneOf
}

// classify finds the marker that a struct embeds, directly or through other structs, and thereby its kind.
func (c *checker) classify(d *decl) {
	if d.struc == nil || d.classified {
		return
	}
	d.classified = true
	var first ast.Node
	doubtful := false
	for _, f := range d.struc.Fields.List {
		if len(f.Names) > 0 {
			continue
		}
		m := c.embeddedMarker(d.file, f)
		switch {
		case m == noMarker:
		case m == unknownMarker:
			doubtful = true
		case first == nil:
			first, d.marker = f.Type, m
		default:
			report := c.report(diag.MultipleMarkers, f.Type, "%s embeds a second marker", d.spec.Name.Name)
			report.Suggestion = "remove one of them"
			c.note(report, first, "the first is here")
		}
	}
	switch {
	case d.marker == noMarker && doubtful:
		d.kind = unknownStruct
	case d.marker == noMarker:
	case d.marker == markerOneOf:
		d.kind = union
	case !d.spec.Name.IsExported():
		d.kind = mixin
	case d.marker == markerConfig:
		d.kind = config
	default:
		d.kind = resource
	}
}

// embeddedMarker looks through a pointer, which is reported elsewhere, so that a struct keeps its kind.
func (c *checker) embeddedMarker(f *sourceFile, field *ast.Field) marker {
	expr := ast.Unparen(field.Type)
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	obj := typeName(f, expr)
	if m := c.markerOf(obj); m.embeds() {
		return m
	}
	inner := c.decls[obj]
	switch {
	case inner != nil:
		c.classify(inner)
		if inner.kind == broken || inner.kind == unknownStruct {
			return unknownMarker
		}
		if inner.kind == union { // which is reported
			return noMarker
		}
		return inner.marker
	case obj == nil, obj.Pkg() != nil && c.markerOf(obj) == noMarker:
		return unknownMarker
	}
	return noMarker
}

// typeName returns the declared or predeclared type that an expression names, or nil if it names none.
func typeName(f *sourceFile, expr ast.Expr) *types.TypeName {
	expr = ast.Unparen(expr)
	if selector, ok := expr.(*ast.SelectorExpr); ok {
		expr = selector.Sel
	}
	name, _ := expr.(*ast.Ident)
	obj, _ := f.source.TypesInfo.Uses[name].(*types.TypeName)
	return obj
}
