package aws_test

import (
	"context"
	"os/exec"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func TestOutputIsCurrent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "run", "../../cmd/cidlc", "idl", "--out-pack", "--out-provider", "--check")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("generated code is out of date; run 'make example': %v\n%s", err, out)
	}
}

func TestExampleUsesAllFeatures(t *testing.T) {
	t.Parallel()
	pkg, diags, err := compile.Load(context.Background(), compile.Options{Dir: "idl"})
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	used := map[string]int{}
	for _, m := range pkg.Modules {
		used["module"]++
		for _, f := range m.Files {
			count(used, "package documentation", f.Doc != "")
			for _, d := range f.Decls {
				visitDecl(used, d)
			}
		}
	}
	for feature, atLeast := range map[string]int{
		"resource": 25, "module": 8, "named": 1, "unnamed": 1, "struct": 1, "configuration": 1, "enum": 1, "alias": 1,
		"package documentation": 1, "constant bool": 1, "constant string": 1, "constant int64": 1, "constant float64": 1,
		"unexported struct": 1, "unexported enum": 1, "unexported constant": 1, "recursive struct": 1,
		"shared prefix": 1, "shared suffix or none": 1,
		"optional": 1, "out": 1, "out pointer": 1, "out optional": 1, "in": 1, "replaces": 1, "secret": 1, "name": 1,
		"bool": 1, "number": 1, "string": 1, "any": 1, "asset": 1, "archive": 1, "capability of any type": 1,
		"list": 1, "list of lists": 1, "map": 1, "map with enum keys": 1, "list of capabilities": 1,
		"capability within a module": 1, "capability across modules": 1, "struct across modules": 1,
		"files in a circle": 1, "union": 1, "constraint of a type": 1, "constraint of a property": 1, "default": 1,
		"deprecated property": 1, "deprecated value": 1, "former name": 1, "conflictsWith": 1, "requiredWith": 1,
		"exactlyOneOf": 1, "int": 1, "rule": 1, "computed": 1, "fixed": 1, "equality of lists": 1, "equality of strings": 1, "words": 1,
		"former folder": 1, "function": 1,
	} {
		if used[feature] < atLeast {
			t.Errorf("uses of feature %q = %d, want at least %d", feature, used[feature], atLeast)
		}
	}
}

func count(used map[string]int, feature string, yes bool) {
	if yes {
		used[feature]++
	}
}

func visitDecl(used map[string]int, d schema.Decl) {
	hidden := !d.Head().Exported()
	count(used, "rule", len(schema.Rules(d)) > 0)
	switch d := d.(type) {
	case *schema.Resource:
		used["resource"]++
		count(used, "named", d.Named)
		count(used, "unnamed", !d.Named)
		for _, was := range d.Was {
			count(used, "former folder", tokens.Type(was).Module() != tokens.Type(d.Token).Module())
		}
	case *schema.Struct:
		used["struct"]++
		count(used, "unexported struct", hidden)
	case *schema.Config:
		used["configuration"]++
	case *schema.Function:
		used["function"]++
	case *schema.Enum:
		used["enum"]++
		count(used, "unexported enum", hidden)
		keys := schema.MemberKeys(d)
		count(used, "shared prefix", d.Name+keys[0] == d.Members[0].Name)
		count(used, "shared suffix or none", d.Name+keys[0] != d.Members[0].Name)
		for _, m := range d.Members {
			count(used, "deprecated value", m.Deprecated != "")
		}
	case *schema.Union:
		used["union"]++
		return // variants have no options
	case *schema.Alias:
		used["alias"]++
		count(used, "constraint of a type", d.Constraints != nil)
		visitType(used, d, d.Target)
	case *schema.Const:
		used["constant "+kind(d.Value)]++
		count(used, "unexported constant", hidden)
	}
	for _, p := range schema.Properties(d) {
		visitProperty(used, d, p)
	}
}

func kind(value any) string {
	switch value.(type) {
	case bool:
		return "bool"
	case string:
		return "string"
	case int64:
		return "int64"
	}
	return "float64"
}

func visitProperty(used map[string]int, d schema.Decl, p *schema.Property) {
	count(used, "optional", p.Optional)
	count(used, "out", p.Out && !p.Pointer)
	count(used, "out pointer", p.Out && p.Pointer && !p.Optional)
	count(used, "out optional", p.Out && p.Optional)
	count(used, "in", p.In)
	count(used, "computed", p.Computed)
	count(used, "fixed", p.Fixed)
	count(used, "replaces", p.Replaces)
	count(used, "secret", p.Secret)
	if c := p.Constraints; c != nil {
		used["constraint of a property"]++
		_, list := p.Type.(*schema.List)
		count(used, "equality of lists", list && c.Equal != "")
		count(used, "equality of strings", !list && c.Equal != "")
		count(used, "words", c.Says != "")
	}
	count(used, "default", p.Default != nil)
	count(used, "deprecated property", p.Deprecated != "")
	count(used, "former name", len(p.Was) > 0)
	count(used, "conflictsWith", len(p.ConflictsWith) > 0)
	count(used, "requiredWith", len(p.RequiredWith) > 0)
	count(used, "exactlyOneOf", len(p.ExactlyOneOf) > 0)
	count(used, "name", p.Name != schema.PropertyName(p.Field))
	visitType(used, d, p.Type)
}

func visitType(used map[string]int, d schema.Decl, t schema.Type) {
	switch t := t.(type) {
	case schema.Primitive:
		count(used, string(t), t != schema.AnyResource)
		count(used, "capability of any type", t == schema.AnyResource)
	case *schema.List:
		used["list"]++
		_, nested := t.Elem.(*schema.List)
		count(used, "list of lists", nested)
		ref, _ := t.Elem.(*schema.Ref)
		count(used, "list of capabilities", ref != nil && isResource(ref.Decl))
		visitType(used, d, t.Elem)
	case *schema.Map:
		used["map"]++
		_, enum := t.Key.(*schema.Ref)
		count(used, "map with enum keys", enum)
		visitType(used, d, t.Key)
		visitType(used, d, t.Elem)
	case *schema.Ref:
		same := t.Decl.Head().File.Module == d.Head().File.Module
		count(used, "capability within a module", same && isResource(t.Decl))
		count(used, "capability across modules", !same && isResource(t.Decl))
		count(used, "struct across modules", !same && !isResource(t.Decl))
		count(used, "recursive struct", t.Decl == d && !isResource(t.Decl))
		count(used, "files in a circle", t.Decl.Head().File != d.Head().File && refersTo(t.Decl, d.Head().File))
	}
}

func isResource(d schema.Decl) bool {
	_, ok := d.(*schema.Resource)
	return ok
}

// refersTo reports whether d refers to a declaration in file.
func refersTo(d schema.Decl, file *schema.File) bool {
	found := false
	for _, p := range schema.Properties(d) {
		for ref := range schema.Refs(p.Type) {
			found = found || ref.Decl.Head().File == file
		}
	}
	return found
}
