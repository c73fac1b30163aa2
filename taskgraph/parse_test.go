package taskgraph_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const nameRule = "; use a letter or digit, then up to 127 letters, digits, _, -, and ."

// examples lists texts and their errors, which all parsers in package taskgraph report alike. The schema accepts texts
// marked beyond.
var examples = []struct {
	text, errors string
	beyond       bool
}{
	{text: "[]"},
	{text: "{}"},
	{text: "tasks: []\n...\n"},
	{text: "id: 5\nrelations: [x]"},
	{text: "name: ''\ntasks: []"},
	{text: "type: upgrade\nname: Rolling upgrade\ntasks:\n- id: a"},
	{text: "\uFEFF- {id: a, _id: 7, custom: {x: [1]}}"},
	{text: `[{"id": "a", "requires": "b", "roles": null, "groups": ["/w.*/", "*"]}]`},
	{text: "- &a {id: a, type: shell}\n- {<<: *a, id: b}"},
	{text: "- {id: a, condition: $.node.name = web, version: 2.0, idempotent: false, refresh_on: [a.b], reexecute_on: []}"},
	{text: "- id: a\n  cross_depends: [{name: b, role: self}, {name: b, role: [db, web], policy: any, why: x}]\n" +
		"  cross_depended_by:\n  - {name: c, role: /x/, policy: null}"},
	{text: "- {id: a, test_pre: {cmd: x, timeout: 0.5, retries: 2.0}, test_post: {cmd: y, z: 1}}"},
	{text: "- {id: a, parameters: {timeout: 60, retries: 3, interval: 1, strategy: {type: parallel, amount: 2}}}"},
	{text: "- id: a\n  condition: {yaql_exp: changed($)}\n  roles: {yaql_exp: $.a}\n  requires: [b, {yaql_exp: $.a}]\n" +
		"  cross_depends: [{name: {yaql_exp: $.a}, role: [{yaql_exp: $.a}]}, {yaql_exp: $.a}]\n  cross_depended_by: {yaql_exp: $.a}\n" +
		"  test_pre: {yaql_exp: $.a}\n  test_post: {cmd: {yaql_exp: $.a}, retries: {yaql_exp: $.a}}\n" +
		"  parameters: {timeout: {yaql_exp: $.a}, strategy: {type: parallel, amount: {yaql_exp: $.a}}, list: [{x: {yaql_exp: $.a}}]}"},
	{text: "- {id: g, type: group, fault_tolerance: 2%, parameters: {strategy: {amount: 3.0}}}\n" +
		"- {id: h, type: group, fault_tolerance: 0, parameters: {strategy: {amount: 100%}}}\n" +
		"- {id: i, type: group, fault_tolerance: {yaql_exp: $.a}, parameters: {strategy: {amount: {yaql_exp: $.a}}}}"},

	{text: "- {id: a, role: x, tags: y, required-for: b, cross-depends: [{name: b}], cross-depended-by: [], re-execute-on: []}"},
	{text: "- {id: a, re_execute_on: x, groups: x, tags: [/y/, '*'], rile: b, fault_tolerance: 1}", errors: "f:1:58: task a: unknown attribute \"rile\"; did you mean roles?",
		beyond: true},
	{text: "- {id: a, role: x, groups: y}", errors: "f:1:28: task a: roles and groups are synonyms; use only one of them"},
	{text: "- {id: a, roles: x, role: y, reexecute-on: [], re-execute_on: []}\n- {id: b, tags: [5, /x], role: null, groups: y}", errors: "" +
		"f:1:21: task a: roles and role are the same attribute; use only one of them\n" +
		"f:1:48: task a: reexecute-on and re-execute_on are the same attribute; use only one of them\n" +
		"f:2:18: task b: tags[0] must be a non-empty string\n" +
		"f:2:21: task b: tags[1]: missing / at the end of the regular expression /x"},

	{text: "", errors: "f:1:1: empty file; a graph without tasks is []"},
	{text: "# later", errors: "f:1:1: empty file; a graph without tasks is []"},
	{text: "5", errors: "f:1:1: a graph must be a list of tasks, or an object with type, name, and tasks"},
	{text: "- {id: a}\n---\n- {id: b}", errors: "f:2:1: unexpected second document", beyond: true},
	{text: "- {id: a", errors: "f:2:1: invalid YAML: did not find expected ',' or '}'"},
	{text: "- id: a\n\ttype: b", errors: "f:2:1: invalid YAML: this is a tab; use spaces"},
	{text: "- id: é\n  \ttype: b", errors: "f:2:3: invalid YAML: this is a tab; use spaces"},
	{text: "-\tid: a\n  type: b", errors: "f:1:2: invalid YAML: this is a tab; use spaces"},
	{text: "- \xff", errors: "f:1:3: invalid UTF-8"},
	{text: "typ: a\nname: [5]\ntype: a b\ntasks: 5\nuser: 1", errors: "f:1:1: unknown key \"typ\"; expected type, name, or tasks; " +
		"did you mean type?\nf:2:7: name must be a non-empty string\nf:3:7: type: invalid graph type \"a b\"" + nameRule +
		"\nf:4:8: tasks must be a list\nf:5:1: unknown key \"user\"; expected type, name, or tasks"},
	{text: "tasks:", errors: "f:1:7: tasks must be a list"},
	{text: "tasks: &a [*a]", errors: "f:1:8: aliases expand to more than 100000 values"},
	{text: "- 5\n- {}\n- id: 5\n- id: ä b\n- id: null", errors: "f:1:3: a task must be an object with an id\n" +
		"f:2:3: a task must be an object with an id\nf:3:7: task 5: id must be a string; put it in quotes\n" +
		"f:4:7: task ä b: invalid task name \"ä b\"" + nameRule + "\nf:5:7: task null: a task must be an object with an id"},
	{text: `[{"id": "a\u001b\n"}]`, errors: `f:1:9: task a\x1b\n: invalid task name "a\x1b\n"` + nameRule},
	{text: "- id: a\n- {id: b, id: c}\n- {id: a}", beyond: true, errors: "f:2:11: duplicate key\n" +
		"f:3:8: task a: duplicate task, first defined on line 1"},
	{text: "[\n {\"id\": \"ä\", \"id\": \"b\", \"requires\": 5}]", beyond: true, errors: "f:2:9: task ä: invalid task name \"ä\"" + nameRule + "\n" +
		"f:2:14: duplicate key\nf:2:37: task ä: requires must be a string or a list of strings"},
	{text: "- {id: a, x: [.inf, !foo a, !!int x, !!set {a}]}\n- {id: b, x: {5: b, [a]: c}}", beyond: true, errors: "f:1:15: task a: " +
		".inf is not a valid JSON number; put it in quotes if it is text\nf:1:21: task a: unsupported tag !foo\n" +
		"f:1:29: task a: \"x\" is not a valid !!int value\nf:1:38: task a: unsupported tag !!set\n" +
		"f:2:15: task b: a key must be a string; put it in quotes\nf:2:21: task b: a key must be a string; put it in quotes"},
	{text: "- {id: a, x: " + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "}", beyond: true,
		errors: "f:1:114: task a: nested more than 100 levels deep"},
	{text: "- id: a\n  requires: [b, 5, '', c d]\n  required_for: [null]\n  tasks: {}\n  roles: ''\n  groups: [a]", errors: "" +
		"f:2:17: task a: requires[1] must be a non-empty string\n" +
		"f:2:20: task a: requires[2] must be a non-empty string\n" +
		"f:2:24: task a: requires[3]: invalid task name \"c d\"" + nameRule + "\n" +
		"f:3:18: task a: required_for[0] must be a non-empty string\n" +
		"f:4:10: task a: tasks must be a string or a list of strings\n" +
		"f:6:11: task a: roles and groups are synonyms; use only one of them"},
	{text: "- {id: a, roles: [/web, /]}", errors: "f:1:19: task a: roles[0]: missing / at the end of the regular expression /web\n" +
		"f:1:25: task a: roles[1]: missing / at the end of the regular expression /"},
	{text: "- {id: a, requires: [b, /a(/], required_for: /b, cross_depends: [{name: '/[/'}], tasks: /c/}", errors: "" +
		"f:1:25: task a: requires[1]: invalid regular expression: missing closing ): `a(`\n" +
		"f:1:46: task a: required_for: missing / at the end of the regular expression /b\n" +
		"f:1:73: task a: cross_depends[0].name: invalid regular expression: missing closing ]: `[`\n" +
		"f:1:89: task a: tasks: invalid task name \"/c/\"" + nameRule},
	{text: "- {id: a, requires: [b, /a.*/], required_for: '/^b{2}|c$/', cross-depends: [{name: /(?i)X/}]}"},
	{text: "- {id: a, roles: /a(/}\n- {id: b, condition: $.a +}", beyond: true, errors: "" +
		"f:1:18: task a: roles: invalid regular expression: missing closing ): `a(`\n" +
		"f:2:22: task b: condition: 1:6: unexpected end of expression"},
	{text: "- {id: a, condition: \"'x' in settings:a.b-c and not (cluster:d != null)\"}\n- {id: b, condition: 'cluster:a = 1'}", beyond: true,
		errors: "f:2:22: task b: condition: 1:11: unexpected \"=\""},
	{text: "- id: a\n  type: {yaql_exp: $.a}\n  requires: [{yaql_exp: $.}]\n  condition: {yaql_exp: 'settings:a.b == 1'}\n" +
		"  parameters: {cmd: {yaql_exp: 5}, data: [{x: {yaql_exp: $.a, y: 1}}]}\n  idempotent: {yaql_exp: 'true'}", errors: "" +
		"f:2:9: task a: type must not be an expression\n" +
		"f:3:14: task a: requires[0]: 1:3: unexpected end of expression\n" +
		"f:4:14: task a: condition: 1:9: unexpected character ':'\n" +
		"f:5:21: task a: parameters.cmd must have yaql_exp, a string, as its only key\n" +
		"f:5:47: task a: parameters.data[0].x must have yaql_exp, a string, as its only key\n" +
		"f:6:15: task a: idempotent must be true or false"},
	{text: "- {id: a, version: [], type: 5, condition: 5, idempotent: no, fail_on_error: 0, parameters: []}", errors: "" +
		"f:1:20: task a: version must be a string or a number\nf:1:30: task a: type must be a non-empty string\n" +
		"f:1:44: task a: condition must be a non-empty string\nf:1:59: task a: idempotent must be true or false\n" +
		"f:1:78: task a: fail_on_error must be true or false\nf:1:93: task a: parameters must be an object"},
	{text: "- id: a\n  cross_depends: b\n  cross_depended_by: [b, {}, {name: b c, role: [x, self], policy: some}]", errors: "" +
		"f:2:18: task a: cross_depends must be a list of objects with name, role, and policy\n" +
		"f:3:23: task a: cross_depended_by[0] must be an object with name, role, and policy\n" +
		"f:3:26: task a: cross_depended_by[1].name must be a non-empty string\n" +
		"f:3:37: task a: cross_depended_by[2].name: invalid task name \"b c\"" + nameRule + "\n" +
		"f:3:48: task a: cross_depended_by[2].role must be either self alone or roles\n" +
		"f:3:67: task a: cross_depended_by[2].policy must be all or any"},
	{text: "- {id: a, test_pre: x, test_post: {timeout: -1, retries: 1.5}}", errors: "" +
		"f:1:21: task a: test_pre must be an object with cmd, timeout, and retries\n" +
		"f:1:21: task a: test_pre.cmd must be a non-empty string\n" +
		"f:1:35: task a: test_post.cmd must be a non-empty string\n" +
		"f:1:45: task a: test_post.timeout must be a number of seconds from 0 to 31622400\n" +
		"f:1:58: task a: test_post.retries must be a whole number from 0 to 10000"},
	{text: "- {id: a, parameters: {timeout: 1e400, retries: x, interval: '1', strategy: 5}}\n" +
		"- {id: b, parameters: {strategy: {type: all, amount: 0}}}", errors: "" +
		"f:1:33: task a: parameters.timeout must be a number of seconds from 0 to 31622400\n" +
		"f:1:49: task a: parameters.retries must be a whole number from 0 to 10000\n" +
		"f:1:62: task a: parameters.interval must be a number of seconds from 0 to 31622400\n" +
		"f:1:77: task a: parameters.strategy must be an object with type and amount\n" +
		"f:2:41: task b: parameters.strategy.type must be parallel or one_by_one\n" +
		"f:2:54: task b: parameters.strategy.amount must be a whole number from 1 to 10000, or a percentage from 1% to 100%"},
	{text: "- {id: a, fault_tolerance: 101%}\n- {id: b, fault_tolerance: {a: 5}}\n- {id: c, parameters: {strategy: {amount: 0%}}}\n" +
		"- {id: d, fault_tolerance: '2'}\n- {id: e, fault_tolerance: -1}\n- {id: f, fault_tolerance: 1.5}", errors: "" +
		"f:1:28: task a: fault_tolerance must be a whole number from 0 to 10000, or a percentage from 0% to 100%\n" +
		"f:2:28: task b: fault_tolerance must be a whole number from 0 to 10000, or a percentage from 0% to 100%\n" +
		"f:3:43: task c: parameters.strategy.amount must be a whole number from 1 to 10000, or a percentage from 1% to 100%\n" +
		"f:4:28: task d: fault_tolerance must be a whole number from 0 to 10000, or a percentage from 0% to 100%\n" +
		"f:5:28: task e: fault_tolerance must be a whole number from 0 to 10000, or a percentage from 0% to 100%\n" +
		"f:6:28: task f: fault_tolerance must be a whole number from 0 to 10000, or a percentage from 0% to 100%"},
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, e := range examples {
		g, err := taskgraph.Parse([]byte(e.text), "f")
		expect.Equal(t, e.errors, message(err), e.text)
		if err == nil {
			roundTrip(t, g)
		}
	}
}

func TestParseValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0x1F": "31", "-0x1F": "-31", "1_000": "1000", "+5": "5", "0o17": "15", "0b11": "3", ".5": "0.5", "1.": "1", "1_0.5": "10.5",
		"1.10": "1.10", "1e400": "1e400", "-0": "-0", "100000000000000000000000000": "100000000000000000000000000",
		"0xFFFFFFFFFFFFFFFF": "18446744073709551615", "!!float 5": "5", "!!str 5": `"5"`, "'5'": `"5"`, "!!int '5'": "5",
		"2020-01-01": `"2020-01-01"`, "yes": `"yes"`, "True": "true", "~": "null", "": "null", "[a, {b: c}]": `["a",{"b":"c"}]`,
		"{<<: {a: 1, b: 2}, b: 3}": `{"a":1,"b":3}`, `{"<<": 1}`: `{"\u003c\u003c":1}`, `"\U0001F600\x00"`: `"😀\u0000"`,
		"|\n    a\n    b\n": `"a\nb\n"`, "[&x a, *x]": `["a","a"]`,
	} {
		g, err := taskgraph.Parse([]byte("- id: a\n  x: "+text+"\n"), "f")
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := json.Marshal(g.Tasks[0].Attributes["x"]); string(got) != want {
			t.Errorf("value of %s = %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	var task taskgraph.Task
	must.Do(t, json.Unmarshal([]byte(`{"id": "a b", "_id": 5, "cross_depends": [{"name": "b", "policy": "some"}]}`), &task))
	_, err := task.Spec()
	want := "task a b: invalid task name \"a b\"" + nameRule + "\ntask a b: cross_depends[0].policy must be all or any"
	if message(err) != want {
		t.Errorf("Spec = %v, want %s", err, want)
	}
	for text, want := range map[string]string{
		`{"type": "shell"}`: "a task must be an object with an id", `{"id": 5}`: "id must be a string; put it in quotes",
		"null": "a task must be an object with an id", "[]": "json: cannot unmarshal array into Go value of type map[string]interface {}",
	} {
		if err := json.Unmarshal([]byte(text), &task); message(err) != want {
			t.Errorf("Unmarshal(%s) = %v, want %s", text, err, want)
		}
	}
}

func TestSpecValues(t *testing.T) {
	t.Parallel()
	g := must.Get(taskgraph.Parse([]byte(`
- {id: defaults}
- id: all
  version: 2.10
  type: shell
  groups: [web, /db.*/]
  tasks: m
  requires: a
  required_for: [b, c]
  cross_depends: [{name: d}, {name: e, role: self}, {name: f, role: [x, y], policy: any}]
  cross_depended_by: [{name: g, role: x, policy: all}]
  condition: false
  reexecute_on: []
  refresh_on: a.b
  idempotent: false
  fail_on_error: false
  test_pre: {cmd: pre}
  test_post: {cmd: post, timeout: 0, retries: 2}
  parameters: {timeout: 1.5, retries: 3, interval: 10, strategy: {type: one_by_one, amount: 5}}
- {id: parallel, version: one, parameters: {strategy: {amount: 5}}}
`), "f"))(t)
	all := selector(t, "*")
	events := []string{"deploy_changes"}
	for i, want := range []*taskgraph.Spec{
		{ID: "defaults", Roles: all, ReexecuteOn: events},
		{
			ID: "all", Version: "2.10", Type: "shell", Roles: selector(t, "web", "/db.*/"), Tasks: []string{"m"}, Requires: []string{"a"},
			RequiredFor:     []string{"b", "c"},
			CrossDepends:    []taskgraph.Cross{{Name: "d", Role: all}, {Name: "e", Role: selector(t, "self"), Self: true}, {Name: "f", Role: selector(t, "x", "y"), Any: true}},
			CrossDependedBy: []taskgraph.Cross{{Name: "g", Role: selector(t, "x")}},
			ReexecuteOn:     []string{}, RefreshOn: []string{"a.b"}, Condition: "false", Once: true, Tolerant: true,
			TestPre: &taskgraph.Test{Cmd: "pre", Timeout: time.Minute}, TestPost: &taskgraph.Test{Cmd: "post", Retries: 2},
			Strategy: taskgraph.Share{Number: 1}, Rolling: true, Timeout: 1500 * time.Millisecond, Retries: 3, Interval: 10 * time.Second,
		},
		{ID: "parallel", Version: "one", Roles: all, ReexecuteOn: events, Strategy: taskgraph.Share{Number: 5}},
	} {
		got := must.Get(g.Tasks[i].Spec())(t)
		want.Source = g.Tasks[i]
		want.Parameters, _ = g.Tasks[i].Attributes["parameters"].(map[string]any)
		if diff := cmp.Diff(want, got, cmp.Transformer("", taskgraph.Selector.Strings)); diff != "" {
			t.Errorf("Spec mismatch (-want +got):\n%s", diff)
		}
	}
}

// roundTrip checks that a graph is equal after formatting it as YAML or as JSON and parsing the text.
func roundTrip(t *testing.T, g *taskgraph.Graph) {
	t.Helper()
	same := cmpopts.IgnoreFields(taskgraph.Graph{}, "Warnings", "Synonyms", "nodes")
	text := must.Get(taskgraph.Format(g))(t)
	again, err := taskgraph.Parse(text, "f")
	if diff := cmp.Diff(g, again, same); err != nil || diff != "" {
		t.Fatalf("Parse of formatted YAML = %v, mismatch (-want +got):\n%s\n%s", err, diff, text)
	}
	data := must.Get(json.Marshal(g))(t)
	var back taskgraph.Graph
	if err := json.Unmarshal(data, &back); err != nil || !cmp.Equal(*g, back, same) {
		t.Fatalf("Unmarshal of JSON = %v, mismatch (-want +got):\n%s", err, cmp.Diff(*g, back, same))
	}
	if g.Tasks != nil {
		fromJSON, err := taskgraph.Parse(data, "f")
		if diff := cmp.Diff(g, fromJSON, same); err != nil || diff != "" {
			t.Fatalf("Parse of JSON = %v, mismatch (-want +got):\n%s\n%s", err, diff, data)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	g := must.Get(taskgraph.Parse([]byte(`{"type": "upgrade", "tasks": [{"zzz": {"b": "5", "a": []}, "parameters": {"cmd": "cd x\nmake\n",
		"other": "a: b", "deep": [{"a": null}, "\u001b", ["b\nc"]]}, "requires": ["b", "c"], "id": "a", "type": "shell"}, {"id": "b"}]}`), "f"))(t)
	const want = `type: upgrade
tasks:
  - id: a
    type: shell
    requires: [b, c]
    parameters:
      cmd: |
        cd x
        make
      deep:
        - {a: null}
        - "\e"
        - - |-
            b
            c
      other: 'a: b'
    zzz:
      a: []
      b: "5"
  - id: b
`
	got, err := taskgraph.Format(g)
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("Format = %v, mismatch (-want +got):\n%s", err, diff)
	}
	roundTrip(t, g)
}

// jsonValues lists valid JSON values, including some that are invalid or have another meaning in YAML.
var jsonValues = []string{
	`"\/\ud83d\ude00\ud800 \u0085\u2028\ufeff\\"`, "\"\u0085\u2028\x7f\"", "{\"" + strings.Repeat("k", 2000) + "\"\n:\t1}", "1E400", "-0.0e-0",
	`" a\nb "`, `"a\n "`, `"\na"`, `"a\tb\n\n\n"`, `{"<<":[{"~":"null"}]}`, `"0x1F"`, `"1e400"`, `"---"`, `"- a"`, `"a #b"`, `{"":""}`,
	`"2020-01-01"`, `"\n\n"`, `"a:"`, `"!a"`, `"&a"`, `"'"`, `"=" `, `"\u0000"`, `"\ufffe"`, `"\r\n"`, `"#\n a"`,
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, value := range jsonValues {
		src := []byte("\n [\t{\"id\"\n:\"a\",\"x\":{\"y\":[" + value + ",false ,null]}}\r\n]")
		var want []taskgraph.Task
		if err := json.Unmarshal(src, &want); err != nil {
			t.Fatalf("Unmarshal of %s: %v", value, err)
		}
		g, err := taskgraph.Parse(src, "f")
		if err != nil || !cmp.Equal(want, g.Tasks) {
			t.Errorf("Parse of %s = %v, or other tasks than Unmarshal", value, err)
			continue
		}
		roundTrip(t, g)
	}
}

// FuzzParse checks that Parse does not panic, that JSON has the same meaning as for encoding/json, and that Format does
// not change graphs.
func FuzzParse(f *testing.F) {
	for _, e := range examples {
		f.Add([]byte(e.text))
	}
	for _, value := range jsonValues {
		f.Add([]byte(`[{"id":"a","x":` + value + `}]`))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		g, err := taskgraph.Parse(src, "f")
		if err != nil {
			return
		}
		roundTrip(t, g)
		var tasks []taskgraph.Task
		if text := bytes.TrimPrefix(src, []byte("\uFEFF")); json.Unmarshal(text, &tasks) == nil && g.Synonyms == nil {
			expect.Equal(t, tasks, g.Tasks, "encoding/json and Parse differ")
		}
		for _, task := range g.Tasks {
			if _, err := task.Spec(); err != nil {
				t.Errorf("Spec of a parsed task: %v", err)
			}
		}
	})
}

func TestLocate(t *testing.T) {
	t.Parallel()
	g := must.Get(taskgraph.Parse([]byte("tasks:\n- id: a\n  type: shel\n- id: b\n  requires: [x]\n"), "f"))(t)
	problems := []taskgraph.Problem{
		{Task: "c", Layer: "l", Message: "elsewhere"}, {Task: "b", Attribute: "requires", Message: "x"},
		{Task: "a", Attribute: "type", Message: "shel"}, {Task: "a", Attribute: "parameters", Message: "no cmd"},
	}
	got := message(&taskgraph.Error{File: "f", Problems: g.Locate(problems)})
	expect.Equal(t, "f:2:7: task a: no cmd\nf:3:9: task a: shel\nf:5:13: task b: x\nl: task c: elsewhere", got)
}
