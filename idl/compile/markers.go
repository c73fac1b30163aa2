package compile

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

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
	markerAsset         marker = "Asset"
	markerArchive       marker = "Archive"
)

var markers = []marker{markerResource, markerNamedResource, markerConfig, markerAsset, markerArchive}

// ownMarkers is the package that IDL authors import.
const ownMarkers = "github.com/lumi-idl/lumi/idl"

// markerOf tells which marker a type is. Packages are recognised by path: ours, those that the command line names, and
// the path that IDL of 2017 imports, wherever that was moved.
func (c *checker) markerOf(obj *types.TypeName) marker {
	if obj == nil || obj.Pkg() == nil || c.sourceOf[obj.Pkg()] != nil {
		return noMarker
	}
	path := obj.Pkg().Path()
	if path != ownMarkers && !strings.HasSuffix(path, "/resource/idl") && !slices.Contains(c.markers, path) {
		return noMarker
	}
	if m := marker(obj.Name()); slices.Contains(markers, m) {
		return m
	}
	return noMarker
}

// embeds reports whether the marker does something when it is embedded.
func (m marker) embeds() bool {
	return m == markerResource || m == markerNamedResource || m == markerConfig
}

// classify finds the marker that a struct embeds, directly or through other structs, and thereby its kind.
func (c *checker) classify(d *decl) {
	if d.struc == nil || d.classified {
		return
	}
	d.classified = true
	var first ast.Node
	for _, f := range d.struc.Fields.List {
		if len(f.Names) > 0 {
			continue
		}
		m := c.embeddedMarker(d.file, f)
		switch {
		case m == noMarker:
		case first == nil:
			first, d.marker = f.Type, m
		default:
			c.note(c.report(diag.MultipleMarkers, f.Type, "%s embeds a second marker", d.spec.Name.Name),
				first, "the first one is here")
		}
	}
	switch {
	case d.marker == noMarker:
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
	if inner := c.decls[obj]; inner != nil {
		c.classify(inner)
		return inner.marker
	}
	return noMarker
}

// typeName returns the declared or predeclared type that an expression names, or nil if it names none.
func typeName(f *sourceFile, expr ast.Expr) *types.TypeName {
	switch e := ast.Unparen(expr).(type) {
	case *ast.Ident:
		obj, _ := f.source.TypesInfo.Uses[e].(*types.TypeName)
		return obj
	case *ast.SelectorExpr:
		obj, _ := f.source.TypesInfo.Uses[e.Sel].(*types.TypeName)
		return obj
	}
	return nil
}
