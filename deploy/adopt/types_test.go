package adopt_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/deploy/adopt"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The JSON Schema agrees with ParseTypes. Only ParseTypes finds duplicate keys.
func TestParseTypes(t *testing.T) {
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(must.Get(os.ReadFile("../../docs/schema/import-types.schema.json"))(t))))(t)
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("types.json", document))
	schema := must.Get(compiler.Compile("types.json"))(t)
	for _, test := range []struct {
		src  string
		want map[string]adopt.Mapping
		err  string
	}{
		{"", map[string]adopt.Mapping{}, ""},
		{"x:index:A: a/b:c:D\n'y': \n", map[string]adopt.Mapping{"x:index:A": {Type: "a/b:c:D", Source: "f:1:12"}, "y": {}}, ""},
		{"x: &t\n  type: a:c/d:D\n  id: arn\ny: *t", map[string]adopt.Mapping{
			"x": {Type: "a:c/d:D", ID: "arn", Source: "f:2:9"}, "y": {Type: "a:c/d:D", ID: "arn", Source: "f:2:9"},
		}, ""},
		{"[a]", nil, "f:1:1: expected one object, such as {aws:index:Vpc: aws:ec2:VPC}"},
		{"a: 1\nb: [x]", nil, `f:1:4: "1": a type token must have three parts, package:module:Type` + "\n" + `f:2:4: "": a type token must have three parts, package:module:Type`},
		{"a: {type: }", nil, `f:1:11: "": a type token must have three parts, package:module:Type`},
		{"a: x:y", nil, `f:1:4: "x:y": a type token must have three parts, package:module:Type`},
		{"a: {id: 1, typ: x}", nil,
			`f:1:4: "": a type token must have three parts, package:module:Type` + "\nf:1:9: expected the name of a property\nf:1:12: unknown key \"typ\"; valid keys are type and id"},
		{"a: {type: A:b:C}", nil, `f:1:11: "A:b:C": a package name must be words that start with a lowercase letter, joined by /`},
		{"a: x:y:Z\na:", nil, "f:2:1: duplicate key"},
		{"a: [", nil, "f:2:1: invalid YAML: did not find expected node content"},
	} {
		got, err := adopt.ParseTypes([]byte(test.src), "f")
		message := ""
		if err != nil {
			message = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" || message != test.err {
			t.Errorf("ParseTypes(%q) = %v, want error %q; (-want +got):\n%s", test.src, err, test.err, diff)
		}
		var value any
		if yaml.Unmarshal([]byte(test.src), &value) == nil && (schema.Validate(value) == nil) != (test.err == "") {
			t.Errorf("Validate(%q) = %v, want accepted: %t", test.src, schema.Validate(value), test.err == "")
		}
	}
}
