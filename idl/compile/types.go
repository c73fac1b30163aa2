package compile

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// place is the context in which a type is used. It determines which types may be used by value.
type place int

const (
	byItself      place = iota // the whole type of a property or an alias
	behindPointer              // the target of a property's pointer
	asElement                  // an element of a list or map, with or without a pointer
)

// convert converts a type expression to the model. It returns nil for invalid types, which are reported here or by Go.
func (c *checker) convert(f *sourceFile, expr ast.Expr, at place) schema.Type {
	switch e := ast.Unparen(expr).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return c.convertName(f, e, at)
	case *ast.StarExpr:
		return c.convertPointer(f, e, at)
	case *ast.ArrayType:
		if obj := typeName(f, e.Elt); obj != nil && obj.Pkg() == nil && (obj.Name() == "byte" || obj.Name() == "uint8") {
			c.report(diag.NumericType, e, "byte slices and arrays are not supported").
				Suggestion = "use a base64 string or *idl.Asset"
			return nil
		}
		elem := c.convert(f, e.Elt, asElement)
		if e.Len != nil {
			c.report(diag.ArrayType, e, "fixed-length arrays are not supported").
				Suggestion = "write []" + types.ExprString(e.Elt)
			return nil
		}
		if elem == nil {
			return nil
		}
		return &schema.List{Elem: elem}
	case *ast.MapType:
		key, elem := c.convertKey(f, e.Key), c.convert(f, e.Value, asElement)
		if key == nil || elem == nil {
			return nil
		}
		return &schema.Map{Key: key, Elem: elem}
	case *ast.InterfaceType:
		if e.Methods.NumFields() == 0 {
			return schema.Any
		}
		c.report(diag.InterfaceType, e, "interfaces with methods are not supported").Suggestion = "use a struct, or any for arbitrary values"
	case *ast.StructType:
		c.report(diag.AnonymousStruct, e, "anonymous structs are not supported").
			Suggestion = "declare a struct at the top level and use its name here"
	case *ast.FuncType:
		c.report(diag.FuncType, e, "function types are not supported").Suggestion = "describe data only; logic belongs in the provider"
	case *ast.ChanType:
		c.report(diag.ChanType, e, "channel types are not supported").Suggestion = "use a list: []" + types.ExprString(e.Value)
	default:
		c.rejectInstance(f, e)
	}
	return nil
}

func (c *checker) convertPointer(f *sourceFile, e *ast.StarExpr, at place) schema.Type {
	if inner, ok := ast.Unparen(e.X).(*ast.StarExpr); ok {
		c.report(diag.PointerToPointer, e, "pointers to pointers are not supported").
			Suggestion = "write " + types.ExprString(inner)
		return nil
	}
	if at == asElement {
		return c.convert(f, e.X, asElement)
	}
	c.report(diag.PointerType, e, "a declared type cannot be a pointer").
		Suggestion = "use " + types.ExprString(e) + " in the property declaration"
	return nil
}

// convertName converts a type name to the model.
func (c *checker) convertName(f *sourceFile, expr ast.Expr, at place) schema.Type {
	obj := typeName(f, expr)
	if obj == nil {
		return nil // reported by Go
	}
	if obj.Pkg() == nil {
		return c.convertPredeclared(expr, obj)
	}
	if m := c.markerOf(obj); m != noMarker {
		return c.convertMarker(expr, m, at)
	}
	d := c.decls[obj]
	if d == nil {
		return c.convertForeign(f, expr, obj, at)
	}
	if d.file.source != f.source && !obj.Exported() {
		return nil // reported by Go
	}
	name := types.ExprString(expr)
	switch d.kind {
	case broken, unknownStruct:
		return nil
	case resource:
		if at == byItself {
			c.rejectByValue(expr)
			return nil
		}
	case config:
		c.report(diag.ConfigType, expr, "%s is the provider's configuration and cannot be a property type", name).
			Suggestion = "declare a struct with the shared properties, and embed it in " + name
		return nil
	case function:
		c.report(diag.FunctionType, expr, "%s is a function and cannot be a property type", name).
			Suggestion = "declare a struct with the shared properties, and embed it in " + name
		return nil
	case mixin:
		c.report(diag.MixinType, expr, "%s is a mixin and can only be embedded", name).
			Suggestion = "export it if it is a resource"
		return nil
	}
	d.use(expr)
	ref := &schema.Ref{Decl: d.model}
	if d.file.source != f.source {
		c.reaches = append(c.reaches, reach{at: expr, from: f.source.module, typ: ref})
	}
	return ref
}

func (c *checker) rejectByValue(expr ast.Expr) {
	name := types.ExprString(expr)
	c.report(diag.ResourceByValue, expr, "the resource %s must be referenced with a pointer", name).
		Suggestion = "write *" + name + " to refer to it"
}

// use records the first use of d as the type of a property or alias.
func (d *decl) use(at ast.Node) {
	if d.usedAt == nil {
		d.usedAt = at
	}
}

func (c *checker) convertPredeclared(expr ast.Expr, obj *types.TypeName) schema.Type {
	if obj.Name() == "any" {
		return schema.Any
	}
	if basic, ok := obj.Type().(*types.Basic); ok {
		if p := primitives[basic.Kind()]; p != "" {
			return p
		}
		c.rejectBasic(expr, basic)
		return nil
	}
	if _, ok := obj.Type().(*types.TypeParam); ok {
		return nil // the generic type is reported at its declaration
	}
	c.report(diag.UnsupportedType, expr, "type %s is not supported", obj.Name()).Suggestion = "use a string"
	return nil
}

// primitives maps the supported basic types to primitive types of the model.
var primitives = map[types.BasicKind]schema.Primitive{
	types.Bool: schema.Bool, types.Float64: schema.Number, types.Int: schema.Int, types.String: schema.String,
}

// rejectBasic reports an unsupported basic type and returns the diagnostic. It returns nil if Go reports the type
// itself.
func (c *checker) rejectBasic(expr ast.Expr, basic *types.Basic) *diag.Diagnostic {
	var d *diag.Diagnostic
	switch {
	case basic.Kind() == types.Invalid:
	case basic.Info()&types.IsComplex != 0:
		d = c.report(diag.NumericType, expr, "complex numbers are not supported")
		d.Suggestion = "use a struct of two float64"
	case basic.Info()&types.IsNumeric != 0 && basic.Kind() != types.Uintptr:
		d = c.report(diag.NumericType, expr, "the numeric types are int and float64, got %s", basic.Name())
		d.Suggestion = "write " + nearestNumber(basic)
		if limits := integerLimits[basic.Kind()]; limits != "" {
			d.Suggestion += ", with " + limits
		} else if strings.HasSuffix(basic.Name(), "64") {
			d.Suggestion += ", or string with format=" + basic.Name() + " for 64-bit ids"
		}
	default:
		d = c.report(diag.UnsupportedType, expr, "type %s is not supported", types.ExprString(expr))
		d.Suggestion = "use a string"
	}
	return d
}

// nearestNumber returns the numeric type of the IDL closest to another one of Go.
func nearestNumber(basic *types.Basic) string {
	if basic.Info()&types.IsInteger != 0 {
		return "int"
	}
	return "float64"
}

// integerLimits maps integer types to the constraints that limit an int to their values.
var integerLimits = map[types.BasicKind]string{
	types.Int8: "min=-128,max=127", types.Int16: "min=-32768,max=32767", types.Int32: "min=-2147483648,max=2147483647",
	types.Uint8: "min=0,max=255", types.Uint16: "min=0,max=65535", types.Uint32: "min=0,max=4294967295", types.Uint: "min=0",
}

// markerTypes maps the markers that are valid property types to primitive types of the model.
var markerTypes = map[marker]schema.Primitive{
	markerResource: schema.AnyResource, markerAsset: schema.Asset, markerArchive: schema.Archive,
}

func (c *checker) convertMarker(expr ast.Expr, m marker, at place) schema.Type {
	name := types.ExprString(expr)
	p, isType := markerTypes[m]
	switch {
	case isType && at != byItself:
		return p
	case m == markerResource:
		c.report(diag.ResourceByValue, expr, "%s must be a pointer", name).
			Suggestion = "write *" + name + " to refer to a resource of any type, or embed it without a field name"
	case isType:
		c.report(diag.AssetByValue, expr, "%s must be a pointer", name).Suggestion = "write *" + name
	case m == markerNamedResource:
		any := strings.TrimSuffix(name, string(markerNamedResource)) + string(markerResource)
		if at == byItself {
			any = "*" + any
		}
		c.report(diag.MarkerType, expr, "%s is not a property type", name).
			Suggestion = "write " + any + " to refer to a resource of any type"
	default:
		c.report(diag.MarkerType, expr, "%s is not a property type", name).Suggestion = "embed it, without a field name"
	}
	return nil
}

// convertKey converts the key type of a map to the model. It reports invalid keys and returns nil for them.
func (c *checker) convertKey(f *sourceFile, expr ast.Expr) schema.Type {
	obj, t := typeName(f, expr), f.source.TypesInfo.TypeOf(expr)
	if obj != nil {
		t = obj.Type()
	}
	d := c.decls[obj]
	switch {
	case obj == nil && (t == nil || t == types.Typ[types.Invalid]), d != nil && d.kind == broken: // already reported
	case obj != nil && t == types.Typ[types.String]:
		return schema.String
	case obj == nil || obj.Pkg() == nil || !isString(t) || c.markerOf(obj) != noMarker:
		if types.Comparable(f.source.TypesInfo.TypeOf(expr)) { // Go reports keys that are not comparable
			c.report(diag.MapKey, expr, "map keys must be strings, got %s", types.ExprString(expr)).
				Suggestion = keyHelp
		}
	case d == nil:
		c.rejectForeign(f, expr, obj)
	default:
		d.use(expr)
		return &schema.Ref{Decl: d.model}
	}
	return nil
}

const keyHelp = "use string or a type defined as string"

func (c *checker) rejectForeign(f *sourceFile, expr ast.Expr, obj *types.TypeName) {
	if c.throughLink(f.source.Imports[obj.Pkg().Path()]) || c.wrong[obj.Pkg()] {
		return // the link or import has been reported
	}
	if c.outside(f.source, obj.Pkg()) == "" && c.anonymous(obj) {
		return
	}
	c.report(diag.ForeignType, expr, "%s is not declared in this IDL", types.ExprString(expr)).
		Suggestion = c.foreignHelp(f, obj)
}

// foreignHelp suggests a replacement for a type declared outside the IDL.
func (c *checker) foreignHelp(f *sourceFile, obj *types.TypeName) string {
	name := obj.Pkg().Path() + "." + obj.Name()
	outside := c.outside(f.source, obj.Pkg())
	d := c.foreign[obj]
	switch {
	case d != nil && d.kind == resource:
		return "a property can refer to it as *" + obj.Pkg().Name() + "." + obj.Name() + " or *idl.Resource"
	case d != nil:
		return "declare a type for such values in this IDL; of another IDL, use only resources, by their types or as *idl.Resource"
	case c.looksLikeMarker(obj):
		return "if it is meant as a marker, add --marker=" + obj.Pkg().Path()
	case outside != "":
		return outside
	case knownTypes[name] != "":
		return "use " + knownTypes[name] + " for such values"
	}
	return "declare a type for such values in this IDL"
}

// knownTypes maps standard library types that are common in other tools' properties to their IDL counterparts.
var knownTypes = map[string]string{
	"encoding/json.Number":     "float64",
	"encoding/json.RawMessage": "any",
	"math/big.Float":           "string",
	"math/big.Int":             "string",
	"math/big.Rat":             "string",
	"net.HardwareAddr":         "string",
	"net.IP":                   "string",
	"net.IPMask":               "string",
	"net.IPNet":                "string",
	"net/http.Header":          "map[string][]string",
	"net/mail.Address":         "string",
	"net/netip.Addr":           "string",
	"net/netip.AddrPort":       "string",
	"net/netip.Prefix":         "string",
	"net/url.URL":              "string",
	"net/url.Values":           "map[string][]string",
	"regexp.Regexp":            "string",
	"time.Duration":            "a float64 of seconds",
	"time.Time":                "an RFC 3339 string",
}

// rejectInstance reports the use of a generic type from outside the IDL. Generic types in the IDL are reported at their
// declaration.
func (c *checker) rejectInstance(f *sourceFile, expr ast.Expr) {
	var generic ast.Expr
	switch e := expr.(type) {
	case *ast.IndexExpr:
		generic = e.X
	case *ast.IndexListExpr:
		generic = e.X
	}
	if obj := typeName(f, generic); obj != nil && obj.Pkg() != nil && c.decls[obj] == nil {
		c.rejectForeign(f, expr, obj)
	}
}
