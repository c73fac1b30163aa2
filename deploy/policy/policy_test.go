package policy_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestInvalidPolicies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ src, want string }{
		{"", ""},
		{"rules:\n", ""},
		{"- a", "p.yaml:1:1: the file must be an object with the keys rules"},
		{"rule: []", `p.yaml:1:1: unknown key "rule"; did you mean rules?`},
		{"rules: {}", "p.yaml:1:8: rules must be a list"},
		{"rules: [", "p.yaml:2:1: invalid YAML: did not find expected node content"},
		{"rules: []\n---\nrules: []", "p.yaml:2:1: unexpected second document"},
		{"rules: [a]", "p.yaml:1:9: a rule must be an object with the keys name, when, level, message"},
		{"rules: [{}]", "p.yaml:1:9: name is required\np.yaml:1:9: message is required\np.yaml:1:9: when is required"},
		{`rules:
  - name: No_Public
    wen: op == "create"
    when: 1
    level: optional
    message: ""
  - {name: a, when: op == "create", message: m, color: red}
  - {name: a, when: op == "create", message: m}`, `p.yaml:2:11: name must be lowercase words joined by -, such as no-public-buckets
p.yaml:3:5: unknown key "wen"; did you mean when?
p.yaml:4:11: when must be a string
p.yaml:5:12: level must be mandatory or advisory
p.yaml:6:14: message must be a string
p.yaml:7:49: unknown key "color"; valid keys are name, when, level, message
p.yaml:8:12: rule a is already defined on line 7`},
		{`rules:
  - {name: a, message: m, when: op = "create"}
  - {name: b, message: m, when: 'op == "create" and typ == "x"'}
  - {name: c, message: m, when: "op == \"create\" && typ == 1"}
  - name: d
    message: m
    when: |
      has(new.acl) &&
        new.acl == typ
  - name: e
    message: m
    when: >-

      has(new.acl)
      && ö.acl
  - name: f
    message: m
    when: op == "create" ||
      typ == 1 || nw.x
  - {"name": "g", "message": "m", "when": "op =="}
`, `p.yaml:2:36: unknown operator =; to compare, write ==
p.yaml:3:49: unknown operator and; write &&
p.yaml:4:33: unknown variable "typ"; did you mean "type"?
p.yaml:9:20: unknown variable "typ"; did you mean "type"?
p.yaml:15:10: unexpected "ö"; conditions are combined with && or ||
p.yaml:19:7: unknown variable "typ"; did you mean "type"?
p.yaml:19:19: unknown variable "nw"; did you mean "new"?
p.yaml:20:49: unexpected end of expression`},
		{`{"rules": [{"name": "a", "message": "m", "when": "true || x"}]}`, `p.yaml:1:59: unknown variable "x"; put strings in quotes, write a property as new.x; the variables are op, type, urn, module, environment, old, new, options, steps`},
	} {
		_, err := policy.Parse([]byte(test.src), "p.yaml")
		if got := text(err); got != test.want {
			t.Errorf("Parse(%s) = %s\nwant %s", test.src, got, test.want)
		}
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		schema, src string
		valid       bool
	}{
		{"policy", rules, true},
		{"policy", "rules:", true},
		{"policy", "rules: [{name: a, when: b, message: c, level: advisory}]", true},
		{"policy", "rules: [{name: A, when: b, message: c}]", false},
		{"policy", "rules: [{name: a, when: ' ', message: c}]", false},
		{"policy", "rules: [{name: a, when: b}]", false},
		{"policy", "rules: [{name: a, when: b, message: c, level: optional}]", false},
		{"policy", "rule: []", false},
		{"policy-test", cases, true},
		{"policy-test", "cases: [{name: a, op: create, type: t, expect: {a: passed}}]", true},
		{"policy-test", "cases: [{name: a, op: same, type: t, expect: {a: passed}}]", false},
		{"policy-test", "cases: [{name: a, op: create, expect: {a: passed}}]", false},
		{"policy-test", "cases: [{name: a, op: create, steps: [], expect: {a: passed}}]", false},
		{"policy-test", "cases: [{name: a, steps: [{op: create}], expect: {a: passed}}]", false},
		{"policy-test", "cases: [{name: a, op: create, type: t, expect: {a: failed}}]", false},
	} {
		src := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "schema", test.schema+".schema.json")))(t)
		compiler := jsonschema.NewCompiler()
		must.Do(t, compiler.AddResource("schema.json", must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(src)))(t)))
		var value any
		must.Do(t, yaml.Unmarshal([]byte(test.src), &value))
		if err := must.Get(compiler.Compile("schema.json"))(t).Validate(value); (err == nil) != test.valid {
			t.Errorf("Validate(%s) by %s.schema.json = %v, want valid: %t", test.src, test.schema, err, test.valid)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const rules = `rules:
  - name: no-public-buckets
    when: type == "aws:s3:Bucket" && has(new.acl) && new.acl == "public-read"
    message: buckets must not be public
  - name: sealed-passwords
    when: has(new.password) && !isSecret(new.password)
    message: passwords must be secrets
  - name: small-changes
    when: environment == "prod" && steps.filter(s, s.op == "delete").size() > 1
    message: delete resources one by one
  - {name: site, when: 'module == "site" && options.protect && old.size + 1 > 2 && new.on == false && new.none == null && urn != "x"', message: m}
`

const cases = `cases:
  - name: public
    op: create
    type: aws:s3:Bucket
    new: {acl: public-read}
    expect: {no-public-buckets: violated, sealed-passwords: passed, small-changes: passed}
  - name: unknown
    op: create
    type: aws:s3:Bucket
    new: {acl: !unknown , password: !secret {a: [1]}}
    expect: {no-public-buckets: undecided, sealed-passwords: passed}
  - name: several
    environment: prod
    steps:
      - {op: delete, type: aws:s3:Bucket}
      - {op: delete, type: aws:s3:Bucket}
      - {op: update, type: aws:s3:Bucket, new: {acl: !secret x}}
    expect: {small-changes: violated, no-public-buckets: error}
  - name: others
    module: site
    op: update
    type: a:b:C
    urn: u
    old: {size: 2}
    new: {on: false, none: null, date: 2017-06-01}
    options: {protect: true}
    expect: {site: violated}
  - name: wrong
    op: import
    type: aws:s3:Bucket
    new: {acl: !secret public-read}
    expect:
      no-public-buckets: passed
      small-changes: violated
      site: undecided
  - name: missing
    op: create
    type: a:b:C
    new: {password: a}
    expect: {site: passed, sealed-passwords: error}
`

func TestCases(t *testing.T) {
	t.Parallel()
	p := must.Get(policy.Parse([]byte(rules), "p.yaml"))(t)
	results := must.Get(p.Test([]byte(cases), "t.yaml"))(t)
	var got strings.Builder
	for _, r := range results {
		fmt.Fprintf(&got, "%s:%d:%d %t %s\n", r.Case, r.Line, r.Column, r.Passed, strings.Join(r.Failures, "\n"))
	}
	const want = `public:2:5 true 
unknown:7:5 true 
several:12:5 true 
others:19:5 true 
wrong:28:5 false no-public-buckets: got error, want passed: the rule cannot be evaluated: it uses the content of a secret; only isSecret and has accept secrets
small-changes: got passed, want violated
site: got passed, want undecided
missing:36:5 false sealed-passwords: got violated, want error
`
	if got.String() != want {
		t.Errorf("Test() = %s\nwant %s", got.String(), want)
	}
}

func TestInvalidCases(t *testing.T) {
	t.Parallel()
	p := must.Get(policy.Parse([]byte(rules), "p.yaml"))(t)
	_, err := p.Test([]byte(`cases:
  - {}
  - name: a
    op: creat
    type: 1
    new: [1]
    old: {a: !file x, b: .inf}
    expect: {public: passed, site: maybe}
    color: red
  - name: b
    op: create
    steps: [1, {op: create, types: a}]
    expect: 1
`), "t.yaml")
	const want = `t.yaml:2:5: name is required
t.yaml:2:5: op is required
t.yaml:2:5: type is required
t.yaml:2:5: expect is required
t.yaml:4:9: unknown op "creat"; did you mean create?
t.yaml:5:11: type must be a string
t.yaml:6:10: new must be an object
t.yaml:7:14: unknown tag !file; the tags are !secret and !unknown
t.yaml:7:26: unsupported number .inf
t.yaml:8:14: unknown key "public"; valid keys are no-public-buckets, sealed-passwords, small-changes, site
t.yaml:8:36: the result of site must be violated, undecided, passed, or error
t.yaml:9:5: unknown key "color"; valid keys are name, environment, module, steps, expect, op, type, urn, old, new, options
t.yaml:11:9: op cannot be combined with steps
t.yaml:12:13: a step must be an object with the keys op, type, urn, old, new, options
t.yaml:12:16: type is required
t.yaml:12:29: unknown key "types"; did you mean type?
t.yaml:13:13: expect must be an object with the keys no-public-buckets, sealed-passwords, small-changes, site
`
	wrong, _ := errors.AsType[*workspace.Error](err)
	var got string
	for _, p := range wrong.Problems {
		got += fmt.Sprintf("%s:%d:%d: %s\n", wrong.File, p.Line, p.Column, p.Message)
	}
	if got != want {
		t.Errorf("Test() = %s\nwant %s", got, want)
	}
}
