package schema_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write the golden file instead of comparing with it")

func TestWrite(t *testing.T) {
	pos := schema.Position{Line: 3, Column: 6}
	tenancy := &schema.Enum{
		Header:  schema.Header{Name: "Tenancy", Doc: "Tenancy <is> shared.", Pos: pos},
		Members: []*schema.Member{{Name: "A", Value: "a & b", Doc: "A is one.", Pos: pos}, {Name: "B", Value: ""}},
	}
	vpc := &schema.Resource{
		Header: schema.Header{Name: "VPC"}, Token: "aws:ec2:VPC", Named: true, NameScope: "t",
		Properties: []*schema.Property{
			{Field: "Name", Name: "name", Type: schema.String, Replaces: true},
			{Field: "T", Name: "t", Type: &schema.Ref{Decl: tenancy}, Pointer: true, Optional: true, Doc: "T.", Pos: pos},
		},
	}
	subnet := &schema.Resource{Header: schema.Header{Name: "Subnet"}, Token: "aws:ec2:Subnet"}
	foreign := &schema.Resource{
		Header: schema.Header{Name: "Zone", Deprecated: "use <Domain>"}, Token: "acme/dns:index:Zone", Was: []string{"acme/dns:index:Area"},
	}
	dns := &schema.Package{Name: "acme/dns", NPM: "@acme/dns", Versions: "^1.2.3", Modules: []*schema.Module{
		{GoName: "dns", Files: []*schema.File{{Name: "zone.go", Decls: []schema.Decl{foreign}}}},
	}}
	p := &schema.Package{Name: "aws", NPM: "@acme/aws", Packages: []*schema.Package{dns}, Modules: []*schema.Module{
		{GoName: "idl", Files: []*schema.File{{Name: "doc.go", Doc: "Package idl is all."}, {
			Name: "rest.go", Decls: []schema.Decl{
				&schema.Config{Header: schema.Header{Name: "Cfg"}, Properties: []*schema.Property{
					{Field: "Key", Name: "key", Type: schema.Any, Secret: true},
				}, Rules: []*schema.Rule{
					{Message: "a <b>", Expr: []any{"||", true, []any{"<", []any{"get", "key"}, 1.5}, []any{"has", "key"}, []any{"==", []any{"default", "é", "key"}, "x"}}},
				}},
				&schema.Alias{
					Header: schema.Header{Name: "L"}, Target: &schema.List{Elem: &schema.Ref{Decl: vpc}},
					Constraints: &schema.Constraints{MinItems: new(0), MaxItems: new(9), Unique: true},
				},
				&schema.Const{Header: schema.Header{Name: "Max"}, Value: uint64(math.MaxUint64 - 2047)},
				&schema.Const{Header: schema.Header{Name: "Zero"}, Value: math.Copysign(0, -1)},
			}}}},
		{Path: "ec2", GoName: "ec2", Files: []*schema.File{{Name: "vpc.go", Decls: []schema.Decl{
			tenancy, vpc, subnet,
			&schema.Union{Header: schema.Header{Name: "U"}, Variants: []*schema.Property{
				{Field: "V", Name: "v", Type: &schema.Ref{Decl: vpc}, Doc: "V is one."},
				{Field: "S", Name: "s", Type: &schema.Ref{Decl: subnet}},
				{Field: "Z", Name: "z", Type: &schema.Ref{Decl: foreign}},
			}},
			&schema.Function{Header: schema.Header{Name: "Find", Deprecated: "use S"}, Token: "aws:ec2:Find", Properties: []*schema.Property{
				{Field: "A", Name: "a", Type: schema.String, Optional: true, Pointer: true},
				{Field: "B", Name: "b", Type: schema.Int, Out: true, Doc: "B is found."},
			}, Rules: []*schema.Rule{{Message: "a is missing", Expr: []any{"has", "a"}}}},
			&schema.Struct{Header: schema.Header{Name: "S"}, Properties: []*schema.Property{
				{Field: "M", Name: "m", Type: &schema.Map{Key: schema.String, Elem: schema.Number}, Out: true, In: true, Constraints: &schema.Constraints{
					MinProperties: new(3), MaxProperties: new(4), KeyPattern: "k",
				}},
				{Field: "N", Name: "n", Type: schema.Number, Constraints: &schema.Constraints{
					Min: new(0.0), ExclusiveMin: new(-0.5), Max: new(1e21), ExclusiveMax: new(2.0), MultipleOf: new(0.1),
				}},
				{Field: "P", Name: "p", Type: schema.String, Constraints: &schema.Constraints{
					MinLength: new(1), MaxLength: new(2), Pattern: `^<\d>`, Format: "uri",
				}},
			}},
		}}}},
	}}
	p.Link()
	got := write(t, p)
	const golden = "testdata/schema.json"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("Write: JSON differs from %s (-want +got):\n%s", golden, diff)
	}
	again := must.Get(schema.Read(strings.NewReader(got)))(t)
	if diff := cmp.Diff(p, again, cmp.Comparer(sameFloat)); diff != "" {
		t.Errorf("Read(Write(p)) differs from p (-want +got):\n%s", diff)
	}
}

// Compact omits positions, but no text that looks like one.
func TestCompact(t *testing.T) {
	pos := schema.Position{Line: 3, Column: 6}
	p := &schema.Package{Name: "a", Modules: []*schema.Module{{GoName: "a", Files: []*schema.File{{
		Name: "a.go", Doc: `,"pos":{"line":1,"column":2},{"a`, Decls: []schema.Decl{
			&schema.Const{Header: schema.Header{Name: "C", Doc: `[{"b":1},{"`, Pos: pos}, Value: `,{"pos`},
			&schema.Struct{Header: schema.Header{Name: "S", Pos: pos}, Properties: []*schema.Property{
				{Field: "A", Name: "a", Type: &schema.List{Elem: schema.Int}, Pos: pos},
			}, Rules: []*schema.Rule{{Message: "m", Expr: []any{"has", "a"}}}},
		},
	}}}}}
	p.Link()
	const want = `{"version":1,"name":"a","modules":[
{"path":"","goName":"a","files":[
{"name":"a.go","doc":",\"pos\":{\"line\":1,\"column\":2},{\"a","decls":[
{"kind":"const","name":"C","doc":"[{\"b\":1},{\"","type":"string","value":",{\"pos"},
{"kind":"struct","name":"S","properties":[
{"field":"A","name":"a","type":{"kind":"list","elem":{"kind":"int"}}}],"rules":[
{"message":"m","expr":["has","a"]}]}]}]}]}`
	if got := must.Get(schema.Compact(p))(t); string(got) != want {
		t.Errorf("Compact = %s\nwant %s", got, want)
	}
}

// sameFloat reports whether a and b are the same float64, distinguishing 0 from -0.
func sameFloat(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func write(t interface{ Fatal(...any) }, p *schema.Package) string {
	var b bytes.Buffer
	if err := schema.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteUnsupportedConstant(t *testing.T) {
	p := &schema.Package{Name: "a", Modules: []*schema.Module{{GoName: "a", Files: []*schema.File{{
		Name: "a.go", Decls: []schema.Decl{&schema.Const{Header: schema.Header{Name: "C"}, Value: 1}},
	}}}}}
	p.Link()
	err := schema.Write(&bytes.Buffer{}, p)
	if want := "schema: a.go: C: a constant cannot be a int"; err == nil || err.Error() != want {
		t.Errorf("Write = %v, want %q", err, want)
	}
}

func TestReadErrors(t *testing.T) {
	// in returns JSON with decl in a file of module m, next to an enum E, a resource R, and a constant C.
	in := func(decl string) string {
		return `{"version": 1, "name": "p", "modules": [{"path": "m", "goName": "m", "files": [{"name": "f.go", "decls": [
			{"kind": "enum", "name": "E", "members": [{"name": "A", "value": "a"}]},
			{"kind": "resource", "name": "R", "token": "p:m:R"},
			{"kind": "const", "name": "C", "type": "bool", "value": true},
			` + decl + `]}]}]}`
	}
	// with refers to other packages.
	with := func(packages string) string {
		return `{"version": 1, "name": "p", "packages": [` + packages + `], "modules": [{"path": "m", "goName": "m", "files": [{"name": "f.go",
			"decls": [{"kind": "alias", "name": "T", "target": {"kind": "ref", "package": "q", "token": "q:m:R"}}]}]}]}`
	}
	foreign := func(decls string) string {
		return with(`{"name": "q", "npm": "q", "modules": [{"path": "m", "goName": "m", "files": [{"name": "f.go", "decls": [` + decls + `]}]}]}`)
	}
	of := func(typ string) string { return in(`{"kind": "alias", "name": "T", "target": ` + typ + `}`) }
	having := func(typ, member string) string {
		return in(`{"kind": "struct", "name": "S", "properties": [{"field": "A", "name": "a", "type": {"kind": "` + typ + `"}, ` + member + `}]}`)
	}
	variant := func(name, typ string) string {
		return `{"field": "` + name + `", "name": "` + name + `", "type": {"kind": "ref", "module": "m", "name": "` + typ + `"}}`
	}
	const fewVariants = `m/f.go: U: a union needs at least two variants, either all resources or all structs`
	tests := []struct{ name, input, want string }{
		{"empty", ``, `missing "version": not a schema written by cidlc`},
		{"syntax", "{\n  \"version\": 1,\n}",
			`line 2, column 15: invalid character ',' at start of value`},
		{"not an object", `[]`, `line 1, column 1: expected object, got array`},
		{"version", `{"version": "1"}`, `line 1, column 13: version: expected integer, got string`},
		{"modules", `{"version": 1, "modules": {}}`, `line 1, column 27: modules: expected array, got object`},
		{"trailing text", `{"version": 1} x`, `line 1, column 16: invalid character 'x' after top-level value`},
		{"other JSON", `{"name": "npm"}`, `missing "version": not a schema written by cidlc`},
		{"newer version", `{"version": 2, "novel": true}`, `unsupported version 2, expected 1`},
		{"missing package name", `{"version": 1}`, `missing package name`},
		{"unknown member", `{"version": 1, "name": "p", "mods": []}`, `line 1, column 29: unknown member "mods"`},
		{"wrong kind of value", "{\"version\": 1,\n\"name\": 3}",
			`line 2, column 9: name: expected string, got number`},
		{"module path", `{"version": 1, "name": "p", "modules": [{"path": "../x", "goName": "x"}]}`,
			`module "../x": the path must be relative and clean`},
		{"module name", `{"version": 1, "name": "p", "modules": [{"path": "x", "goName": "x-y"}]}`,
			`module "x": goName "x-y" is not an identifier`},
		{"duplicate module",
			`{"version": 1, "name": "p", "modules": [{"path": "x", "goName": "x"}, {"path": "x", "goName": "x"}]}`,
			`duplicate module "x"`},
		{"duplicate file",
			`{"version": 1, "name": "p", "modules": [{"path": "x", "goName": "x", "files": [{"name": "a"}, {"name": "a"}]}]}`,
			`module "x": duplicate file "a"`},
		{"file name",
			`{"version": 1, "name": "p", "modules": [{"path": "x", "goName": "x", "files": [{"name": "y/a"}]}]}`,
			`x/y/a: "y/a" is not a file name`},
		{"declaration kind", in(`{"kind": "tuple", "name": "U"}`), `m/f.go: U: unknown declaration kind "tuple"`},
		{"declaration name", in(`{"kind": "union"}`), `m/f.go: declaration 4: name "" is not an identifier`},
		{"declaration not an object", in(`7`),
			`m/f.go: declaration 4: expected object, got number`},
		{"constraint", in(`{"kind": "alias", "name": "X", "target": {"kind": "number"}, "constraints": {"min": "x"}}`),
			`m/f.go: X: min: expected number, got string`},
		{"constraint value not an integer", in(`{"kind": "alias", "name": "X", "target": {"kind": "string"}, "constraints": {"minLength": 1.5}}`),
			`m/f.go: X: minLength: expected integer, got 1.5`},
		{"declaration member", in(`{"kind": "enum", "name": "X", "token": "t"}`),
			`m/f.go: X: unknown member "token"`},
		{"type of a declaration member", in(`{"kind": "struct", "name": "X", "properties": [{"name": "a", "type": []}]}`),
			`m/f.go: X: type: expected object, got array`},
		{"duplicate declaration", in(`{"kind": "struct", "name": "E"}`), `m/f.go: E: declared twice in the module`},
		{"missing token", in(`{"kind": "resource", "name": "X"}`), `m/f.go: X: missing resource token`},
		{"missing name property", in(`{"kind": "resource", "name": "X", "token": "t", "named": true}`),
			`m/f.go: X: the first property of a named resource must be its name`},
		{"name scope of no property", in(`{"kind": "resource", "name": "X", "token": "t", "named": true, "nameScope": "name", "properties": [
			{"field": "Name", "name": "name", "type": {"kind": "string"}}]}`),
			`m/f.go: X: nameScope: no settable property "name" of a named resource`},
		{"name scope without a name", in(`{"kind": "resource", "name": "X", "token": "t", "nameScope": "a", "properties": [
			{"field": "A", "name": "a", "type": {"kind": "string"}}]}`),
			`m/f.go: X: nameScope: no settable property "a" of a named resource`},
		{"function without a token", in(`{"kind": "function", "name": "X", "properties": []}`), `m/f.go: X: missing function token`},
		{"function without results", in(`{"kind": "function", "name": "X", "token": "t", "properties": [
			{"field": "A", "name": "a", "type": {"kind": "string"}}]}`), `m/f.go: X: a function without results`},
		{"reference to a function", in(`{"kind": "function", "name": "X", "token": "t", "properties": [
			{"field": "A", "name": "a", "out": true, "type": {"kind": "ref", "module": "m", "name": "X"}}]}`),
			`m/f.go: X.a: "X" in module "m" cannot be a property type`},
		{"duplicate property", in(`{"kind": "struct", "name": "X", "properties": [
			{"field": "A", "name": "a", "type": {"kind": "bool"}}, {"field": "B", "name": "a", "type": {"kind": "bool"}}]}`),
			`m/f.go: X: duplicate property "a"`},
		{"null property", in(`{"kind": "struct", "name": "X", "properties": [null]}`),
			`m/f.go: X: field "": missing property name`},
		{"null member", in(`{"kind": "enum", "name": "X", "members": [null]}`), `m/f.go: X: member name "" is not an identifier`},
		{"null type", in(`{"kind": "alias", "name": "X", "target": null}`), `m/f.go: X: missing type`},
		{"null constant value", in(`{"kind": "const", "name": "X", "type": "bool"}`), `m/f.go: X: missing value`},
		{"property member", in(`{"kind": "struct", "name": "X", "properties": [{"name": "a", "nullable": true}]}`),
			`m/f.go: X: unknown member "nullable"`},
		{"unnamed property", in(`{"kind": "config", "name": "X", "properties": [{"field": "A"}]}`),
			`m/f.go: X: field "A": missing property name`},
		{"field", in(`{"kind": "config", "name": "X", "properties": [{"name": "a"}]}`),
			`m/f.go: X: property a: field "" is not an identifier`},
		{"default", in(`{"kind": "config", "name": "X", "properties": [{"name": "a", "field": "A", "default": []}]}`),
			`m/f.go: X: property a: the default is not a boolean, a number or a string`},
		{"property without type", in(`{"kind": "config", "name": "X", "properties": [{"name": "a", "field": "A"}]}`),
			`m/f.go: X.a: missing type`},
		{"member name", in(`{"kind": "enum", "name": "X", "members": [{"name": "a-b"}]}`),
			`m/f.go: X: member name "a-b" is not an identifier`},
		{"constant type", in(`{"kind": "const", "name": "X", "type": "int", "value": 1}`),
			`m/f.go: X: unknown constant type "int"`},
		{"constant value", in(`{"kind": "const", "name": "X", "type": "uint64", "value": -1}`),
			`m/f.go: X: value: expected non-negative integer, got -1`},
		{"missing constant value", in(`{"kind": "const", "name": "X", "type": "bool", "value": null}`),
			`m/f.go: X: missing value`},
		{"type kind", of(`{"kind": "integer"}`), `m/f.go: T: unknown type kind "integer"`},
		{"list without elem", of(`{"kind": "list"}`), `m/f.go: T: missing type`},
		{"list with key", of(`{"kind": "list", "key": {"kind": "bool"}}`),
			`m/f.go: T: type of kind "list" cannot have "key"`},
		{"bool with elem", of(`{"kind": "bool", "elem": {"kind": "bool"}}`),
			`m/f.go: T: type of kind "bool" cannot have "elem"`},
		{"bool with name", of(`{"kind": "bool", "name": "E"}`),
			`m/f.go: T: type of kind "bool" cannot have "module" or "name"`},
		{"map without key", of(`{"kind": "map", "elem": {"kind": "bool"}}`), `m/f.go: T: missing type`},
		{"map without elem", of(`{"kind": "map", "key": {"kind": "string"}}`), `m/f.go: T: missing type`},
		{"map with an invalid key type", of(`{"kind": "list", "elem": {"kind": "map", "key":
			{"kind": "ref", "module": "m", "name": "R"}, "elem": {"kind": "bool"}}}`),
			`m/f.go: T: a map key must be a string, an enum, or an alias of string`},
		{"dangling reference", of(`{"kind": "ref", "module": "m", "name": "F"}`), `m/f.go: T: module "m" does not declare "F"`},
		{"reference to an unknown module", of(`{"kind": "ref", "module": "", "name": "E"}`),
			`m/f.go: T: module "" does not declare "E"`},
		{"dangling package", with(``), `m/f.go: T: package "q" has no resource "q:m:R"`},
		{"package without a name", with(`{}`), `package "": missing package name`},
		{"package without an npm package", with(`{"name": "q"}`), `package "q": missing npm`},
		{"two packages", with(`{"name": "q", "npm": "q"}, {"name": "q", "npm": "r"}`), `duplicate package "q"`},
		{"struct of another package", foreign(`{"kind": "struct", "name": "S"}`), `package "q": S: expected a resource without properties`},
		{"resource with properties", foreign(`{"kind": "resource", "name": "R", "token": "q:m:R", "properties": [
			{"field": "A", "name": "a", "type": {"kind": "bool"}}]}`), `package "q": R: expected a resource without properties`},
		{"two resources with one token", foreign(`{"kind": "resource", "name": "R", "token": "t"}, {"kind": "resource", "name": "S", "token": "t"}`),
			`package "q": duplicate token "t"`},
		{"bool with a token", of(`{"kind": "bool", "token": "q:m:R"}`),
			`m/f.go: T: type of kind "bool" cannot have "package" or "token"`},
		{"reference without module", of(`{"kind": "ref", "name": "E"}`), `m/f.go: T: reference to "E": missing module`},
		{"reference to a constant", of(`{"kind": "ref", "module": "m", "name": "C"}`),
			`m/f.go: T: "C" in module "m" cannot be a property type`},
		{"alias to itself", of(`{"kind": "ref", "module": "m", "name": "T"}`),
			`m/f.go: T: the alias refers to itself`},
		{"no variants", in(`{"kind": "union", "name": "U"}`), fewVariants},
		{"one variant", in(`{"kind": "union", "name": "U", "variants": [` + variant("A", "R") + `]}`), fewVariants},
		{"mixed variants", in(`{"kind": "struct", "name": "S"}, {"kind": "union", "name": "U", "variants": [` +
			variant("A", "R") + `, ` + variant("B", "S") + `]}`), fewVariants},
		{"enum variants", in(`{"kind": "enum", "name": "F"}, {"kind": "union", "name": "U", "variants": [` +
			variant("A", "E") + `, ` + variant("B", "F") + `]}`), fewVariants},
		{"duplicate variant type", in(`{"kind": "union", "name": "U", "variants": [` + variant("A", "R") + `, ` + variant("B", "R") + `]}`),
			`m/f.go: U.B: a variant must be a resource or a struct that no other variant uses`},
		{"string variant", in(`{"kind": "union", "name": "U", "variants": [
			{"field": "A", "name": "a", "type": {"kind": "string"}}]}`),
			`m/f.go: U.a: a variant must be a resource or a struct that no other variant uses`},
		{"alias cycle", in(`{"kind": "alias", "name": "T", "target": {"kind": "ref", "module": "m", "name": "U"}},
			{"kind": "alias", "name": "U", "target": {"kind": "ref", "module": "m", "name": "T"}}`),
			`m/f.go: T: the alias refers to itself`},
		{"alias to a list of itself", of(`{"kind": "list", "elem": {"kind": "ref", "module": "m", "name": "T"}}`),
			`m/f.go: T: the alias refers to itself`},
		{"constraint for another type", in(`{"kind": "alias", "name": "T", "target": {"kind": "string"}, "constraints": {"min": 1}}`),
			`m/f.go: T: min applies to numbers, not to strings`},
		{"unknown constraint", having("number", `"constraints": {"mni": 1}`), `m/f.go: S: unknown member "mni"`},
		{"negative count", having("string", `"constraints": {"minLength": -1}`), `m/f.go: S.a: minLength: invalid value -1`},
		{"multipleOf of zero", having("number", `"constraints": {"multipleOf": 0}`), `m/f.go: S.a: multipleOf: invalid value 0`},
		{"invalid pattern", having("string", `"constraints": {"pattern": "("}`),
			"m/f.go: S.a: pattern: error parsing regexp: missing closing ): `(`"},
		{"default of the wrong type", having("number", `"default": "1"`), `m/f.go: S.a: default: 1 is not valid for numbers`},
		{"object default", having("any", `"default": {}`), `m/f.go: S: property a: the default is not a boolean, a number or a string`},
		{"rule without a message", in(`{"kind": "struct", "name": "S", "rules": [{"expr": true}]}`), `m/f.go: S: a rule without a message`},
		{"null rule", in(`{"kind": "struct", "name": "S", "rules": [null]}`), `m/f.go: S: a rule without a message`},
		{"rule of an unknown property", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ["!", ["get", "a"]]}]}`),
			`m/f.go: S: rule "x": unknown property "a"`},
		{"rule of a part of a string", in(`{"kind": "struct", "name": "S", "properties": [{"field": "A", "name": "a", "type": {"kind": "string"}}],
			"rules": [{"message": "x", "expr": ["has", "a", "b"]}]}`), `m/f.go: S: rule "x": unknown property "b"`},
		{"rule with an unknown operator", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ["/", 1, 2]}]}`),
			`m/f.go: S: rule "x": unknown operator /`},
		{"rule of an object", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ["!", {}]}]}`),
			`m/f.go: S: rule "x": unexpected operand map[]`},
		{"rule without operands", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": []}]}`),
			`m/f.go: S: rule "x": missing operator`},
		{"rule with few operands", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ["&&", true]}]}`),
			`m/f.go: S: rule "x": && has 1 operands`},
		{"rule with an odd default", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ["default", null, "a"]}]}`),
			`m/f.go: S: rule "x": <nil> is not a default`},
		{"rule with an odd path", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ["get", 1]}]}`),
			`m/f.go: S: rule "x": 1 is not a property name`},
		{"deep rule", in(`{"kind": "struct", "name": "S", "rules": [{"message": "x", "expr": ` + strings.Repeat(`["!", `, 51) + `true` + strings.Repeat(`]`, 51) + `}]}`),
			`m/f.go: S: rule "x": the expression is nested deeper than 50 levels`},
		{"set of a string", having("string", `"constraints": {"equal": "set"}`), `m/f.go: S.a: equal applies to lists, not to strings`},
		{"fixed and set by programs", having("string", `"fixed": true`), `m/f.go: S: property a: a fixed property must be out`},
		{"computed and required", having("any", `"computed": true`),
			`m/f.go: S: property a: a computed property must be optional, without out, in, or a default`},
		{"computed with a default", having("bool", `"optional": true, "computed": true, "default": true`),
			`m/f.go: S: property a: a computed property must be optional, without out, in, or a default`},
		{"dangling relation", having("bool", `"requiredWith": ["b"]`),
			`m/f.go: S: property a: unknown related property "b"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := schema.Read(strings.NewReader(test.input))
			if want := "schema: " + test.want; err == nil || err.Error() != want {
				t.Errorf("Read = %v\nwant %s", err, want)
			}
		})
	}
}

func TestWriteReadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPackage(t)
		text := write(t, p)
		again, err := schema.Read(strings.NewReader(text))
		if err != nil {
			t.Fatalf("Read: %v in %s", err, text)
		}
		// Models have many cycles, which reflect.DeepEqual handles much faster than cmp.Diff.
		if !reflect.DeepEqual(p, again) {
			t.Fatalf("Read(Write(p)) differs from p: %s became %s", text, write(t, again))
		}
		if text != write(t, again) {
			t.Fatal("Write after Read produced different JSON for the same model")
		}
		compact := must.Get(schema.Compact(p))(t)
		for d := range again.Decls() {
			d.Head().Pos = schema.Position{}
			for _, property := range schema.Properties(d) {
				property.Pos = schema.Position{}
			}
			if e, ok := d.(*schema.Enum); ok {
				for _, m := range e.Members {
					m.Pos = schema.Position{}
				}
			}
		}
		if bare := must.Get(schema.Read(bytes.NewReader(compact)))(t); !reflect.DeepEqual(bare, again) {
			t.Fatalf("Read(Compact(p)) differs from p without positions: %s became %s", compact, write(t, bare))
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(must.Get(os.ReadFile("testdata/schema.json"))(f))
	f.Add([]byte(`{"version": 1, "name": "p", "modules": [{"path": "m", "goName": "m", "files": [{"name": "f.go", "decls": [
		{"kind": "alias", "name": "A", "target": {"kind": "ref", "module": "m", "name": "B"}},
		{"kind": "alias", "name": "B", "target": {"kind": "map", "key": {"kind": "string"}, "elem": {"kind": "any"}}}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := schema.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		text := write(t, p)
		again, err := schema.Read(strings.NewReader(text))
		if err != nil {
			t.Fatalf("Read accepted %q but not its round trip %q: %v", data, text, err)
		}
		if text != write(t, again) {
			t.Fatal("Write after Read produced different JSON for the same model")
		}
	})
}

// drawPackage draws a model with cycles and with every kind of declaration and type.
func drawPackage(t *rapid.T) *schema.Package {
	word := rapid.SampledFrom([]string{"", "a", "\u2028<&>\"\\", "日本\n\tx", "\x00"})
	pos := rapid.Custom(func(t *rapid.T) schema.Position {
		return schema.Position{Line: rapid.IntRange(0, 9).Draw(t, "line"), Column: rapid.IntRange(0, 9).Draw(t, "column")}
	})
	p := &schema.Package{Name: "p"}
	var decls []schema.Decl
	for i, path := range []string{"", "a", "a/b"}[:rapid.IntRange(1, 3).Draw(t, "modules")] {
		m := &schema.Module{Path: path, GoName: fmt.Sprint("m", i)}
		for j := range rapid.IntRange(0, 2).Draw(t, "files") {
			f := &schema.File{Name: fmt.Sprint("f", j, ".go"), Doc: word.Draw(t, "doc")}
			for k := range rapid.IntRange(0, 6).Draw(t, "decls") {
				h := schema.Header{Name: fmt.Sprintf("D%d_%d", j, k), Doc: word.Draw(t, "doc"), Pos: pos.Draw(t, "pos")}
				d := drawDecl(t, h, word)
				f.Decls, decls = append(f.Decls, d), append(decls, d)
			}
			m.Files = append(m.Files, f)
		}
		p.Modules = append(p.Modules, m)
	}
	// Types are drawn last because they refer to declarations.
	for i, d := range decls {
		if a, ok := d.(*schema.Alias); ok {
			a.Target = drawType(t, decls[:i])
		}
		for _, property := range schema.Properties(d) {
			property.Type = drawType(t, decls)
			drawOptions(t, property, word)
		}
	}
	for f := range p.Files() {
		if u := unionIn(f); u != nil {
			f.Decls = append(f.Decls, u)
		}
	}
	p.Link()
	return p
}

// drawOptions draws the options of a property, except flags.
func drawOptions(t *rapid.T, p *schema.Property, word *rapid.Generator[string]) {
	p.Deprecated = word.Draw(t, "deprecated")
	if rapid.Bool().Draw(t, "plain") {
		return
	}
	p.Was, p.ConflictsWith = []string{"old", word.Draw(t, "was")}, []string{p.Name}
	number, count := rapid.Float64().Draw(t, "number"), rapid.IntRange(0, 9).Draw(t, "count")
	switch schema.ValuesOf(p.Type) {
	case "booleans":
		p.Default = false
	case "numbers":
		p.Default, p.Constraints = number, &schema.Constraints{Min: &number, ExclusiveMax: &number}
	case "strings":
		p.Default = word.Draw(t, "default")
		p.Constraints = &schema.Constraints{MinLength: &count, Pattern: "^[\"<]", Says: "[ or <", Format: "uri", Equal: "json"}
	case "lists":
		p.Constraints = &schema.Constraints{MaxItems: &count, Unique: true, Equal: "set"}
	case "maps":
		p.Constraints = &schema.Constraints{MaxProperties: &count, KeyPattern: `^\d`}
	}
}

// unionIn returns a union of the structs in f, or nil if there are too few.
func unionIn(f *schema.File) *schema.Union {
	u := &schema.Union{Header: schema.Header{Name: "U" + strings.TrimSuffix(f.Name, ".go")}}
	for _, d := range f.Decls {
		if s, ok := d.(*schema.Struct); ok {
			u.Variants = append(u.Variants, &schema.Property{Field: s.Name, Name: s.Name, Type: &schema.Ref{Decl: s}, Optional: true})
		}
	}
	if len(u.Variants) < 2 {
		return nil
	}
	return u
}

func drawDecl(t *rapid.T, h schema.Header, word *rapid.Generator[string]) schema.Decl {
	var properties []*schema.Property
	for i := range rapid.IntRange(0, 3).Draw(t, "properties") {
		flag := rapid.Bool()
		properties = append(properties, &schema.Property{
			Field: fmt.Sprint("F", i), Name: fmt.Sprint("f", i), Doc: word.Draw(t, "doc"),
			Pointer: flag.Draw(t, "pointer"), Optional: flag.Draw(t, "optional"), Out: flag.Draw(t, "out"),
			In: flag.Draw(t, "in"), Replaces: flag.Draw(t, "replaces"), Secret: flag.Draw(t, "secret"),
		})
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		named := rapid.Bool().Draw(t, "named")
		if named {
			properties = slices.Insert(properties, 0, &schema.Property{Field: "Name", Name: "name", Replaces: true})
		}
		return &schema.Resource{Header: h, Token: "p:m:" + h.Name, Named: named, Properties: properties}
	case 1:
		return &schema.Struct{Header: h, Properties: properties}
	case 2:
		return &schema.Config{Header: h, Properties: properties}
	case 3:
		e := &schema.Enum{Header: h}
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			e.Members = append(e.Members, &schema.Member{Name: fmt.Sprint("M", i), Value: word.Draw(t, "value")})
		}
		return e
	case 4:
		return &schema.Alias{Header: h}
	}
	const exact = 1 << 53
	value := rapid.OneOf(
		rapid.Bool().AsAny(), word.AsAny(), rapid.Int64Range(-exact, exact).AsAny(),
		rapid.Just[any](uint64(1<<63)), rapid.Float64().AsAny(),
	)
	return &schema.Const{Header: h, Value: value.Draw(t, "value")}
}

// drawType draws a type that may refer to decls.
func drawType(t *rapid.T, decls []schema.Decl) schema.Type {
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		return &schema.List{Elem: drawType(t, decls)}
	case 1:
		var keys []schema.Decl
		for _, d := range decls {
			if _, ok := d.(*schema.Enum); ok {
				keys = append(keys, d)
			}
		}
		var key schema.Type = schema.String
		if len(keys) > 0 && rapid.Bool().Draw(t, "enum key") {
			key = &schema.Ref{Decl: rapid.SampledFrom(keys).Draw(t, "key")}
		}
		return &schema.Map{Key: key, Elem: drawType(t, decls)}
	case 2:
		var targets []schema.Decl
		for _, d := range decls {
			switch d.(type) {
			case *schema.Config, *schema.Const:
			default:
				targets = append(targets, d)
			}
		}
		if len(targets) > 0 {
			return &schema.Ref{Decl: rapid.SampledFrom(targets).Draw(t, "target")}
		}
	}
	return rapid.SampledFrom([]schema.Primitive{
		schema.Bool, schema.Number, schema.String, schema.Any, schema.Asset, schema.Archive, schema.AnyResource,
	}).Draw(t, "primitive")
}
