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

// marker is the name of a marker type, as declared in package [ownMarkers].
type marker string

const (
	noMarker            marker = ""
	markerResource      marker = "Resource"
	markerNamedResource marker = "NamedResource"
	markerConfig        marker = "Config"
	markerOneOf         marker = "OneOf"
	markerFunction      marker = "Function"
	markerAsset         marker = "Asset"
	markerArchive       marker = "Archive"
	// unknownMarker represents an embedded type that cannot be resolved, which is reported elsewhere.
	unknownMarker marker = "?"
)

var markers = []marker{markerResource, markerNamedResource, markerConfig, markerOneOf, markerFunction, markerAsset, markerArchive}

// ownMarkers is the import path of package idl, which declares the markers.
const ownMarkers = "github.com/lumi-idl/lumi/idl"

// checkMarkers returns a *[UsageError] if one of paths is not a valid import path.
func checkMarkers(paths []string) error {
	for _, path := range paths {
		var invalid *module.InvalidPathError
		if errors.As(module.CheckImportPath(path), &invalid) {
			return &UsageError{fmt.Sprintf("--marker=%s: invalid import path: %s; expected one such as %s", path, invalid.Err, ownMarkers)}
		}
	}
	return nil
}

// checkMarkersUsed returns a *[UsageError] if a marker package is not imported by any file. Call it only if the IDL has
// no errors, since errors can hide imports.
func (c *checker) checkMarkersUsed() error {
	for _, path := range c.markers {
		if _, imported := c.importOf(path); !imported {
			return &UsageError{fmt.Sprintf("--marker=%s: not imported by any file of the IDL; remove the flag or fix the path", path)}
		}
	}
	return nil
}

// markerOf returns the marker that obj declares, or noMarker. The marker packages are package idl, the packages given
// on the command line, and any package whose path has the suffix used by IDLs of 2017.
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

// looksLikeMarker reports whether a type is probably a marker from a package missing on the command line: it has a
// marker's name, and its package declares an empty struct named Resource.
func (c *checker) looksLikeMarker(obj *types.TypeName) bool {
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

// embeds reports whether structs can embed the marker.
func (m marker) embeds() bool {
	return m == markerResource || m == markerNamedResource || m == markerConfig || m == markerOneOf || m == markerFunction
}

// classify sets the kind of a struct according to the marker that it embeds, directly or through other structs.
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
	case d.marker == markerFunction:
		d.kind = function
	default:
		d.kind = resource
	}
}

// embeddedMarker returns the marker that an embedded field brings, directly or through its struct. It looks through a
// pointer, which is reported separately.
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
		if inner.kind == union { // reported elsewhere
			return noMarker
		}
		return inner.marker
	case obj == nil, obj.Pkg() != nil && c.markerOf(obj) == noMarker:
		return unknownMarker
	}
	return noMarker
}

// typeName returns the type name that expr refers to, or nil if there is none.
func typeName(f *sourceFile, expr ast.Expr) *types.TypeName {
	expr = ast.Unparen(expr)
	if selector, ok := expr.(*ast.SelectorExpr); ok {
		expr = selector.Sel
	}
	name, _ := expr.(*ast.Ident)
	obj, _ := f.source.TypesInfo.Uses[name].(*types.TypeName)
	return obj
}
