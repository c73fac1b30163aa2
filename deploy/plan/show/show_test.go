package show_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/plan/show"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/queue"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestGolden(t *testing.T) {
	golden.Archives(t, "testdata/*.txtar", compareForms)
}

func compareForms(t *testing.T, archive *txtar.Archive) {
	p, o := read(t, archive)
	for i, f := range archive.Files {
		var b bytes.Buffer
		var err error
		switch f.Name {
		case "text":
			err = show.WriteText(&b, p, o)
		case "color":
			err = show.WriteText(&b, p, show.Options{Waits: o.Waits, Findings: o.Findings, Color: true})
		case "json":
			var line bytes.Buffer
			if err = show.WriteJSON(&line, p, o); err == nil {
				err = json.Indent(&b, line.Bytes(), "", "  ")
			}
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// Make escape sequences visible, so that the archive is text.
		got := strings.ReplaceAll(b.String(), "\x1b", "␛")
		golden.Part(t, &archive.Files[i], got)
	}
	// Neither format contains secrets or unescaped control characters.
	var b bytes.Buffer
	must.Do(t, show.WriteText(&b, p, o))
	must.Do(t, show.WriteJSON(&b, p, o))
	if strings.Contains(b.String(), "hunter") {
		t.Error("output contains a secret")
	}
	for _, r := range b.String() {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("output contains the unescaped character %U", r)
		}
	}
}

// scenario is the content of the file "plan" in an archive. Resources are identified by the end of their URN, starting
// with the type. They are found in the snapshots "old" and "new", and their extensions are "checked" and "outputs".
type scenario struct {
	Purpose     plan.Purpose
	Environment string
	Module      string
	Deployment  graph.Deployment
	Digest      string
	Waits       []queue.Wait
	Steps       []struct {
		plan.Step
		Kind string
		URN  string
		Was  string
	}
	// Versions lists the versions in the graph, in deployment order. Type is the type of all provided and used values.
	// The default is "any".
	Versions []struct {
		Type       string
		Module     string
		Deployment graph.Deployment
		Provides   map[string]json.RawMessage
		Config     json.RawMessage
		Uses       []graph.Constraint
	}
	Bound, Moved, Stayed []graph.Binding
	Cleanups             []struct {
		plan.Cleanup
		Deleted []string
	}
	Moves    [][2]string
	Details  []plan.TaskDetails
	Findings []policy.Finding
}

// read builds the plan described by an archive.
func read(t *testing.T, archive *txtar.Archive) (*plan.Plan, show.Options) {
	t.Helper()
	docs := map[string]*lumigl.Snapshot{"old": {}, "new": {}}
	s := scenario{Environment: "prod", Module: "shop"}
	for _, f := range archive.Files {
		var err error
		switch f.Name {
		case "plan":
			d := json.NewDecoder(bytes.NewReader(f.Data))
			d.DisallowUnknownFields()
			err = d.Decode(&s)
		case "old", "new":
			docs[f.Name], err = lumigl.ParseSnapshot(string(f.Data))
		}
		if err != nil {
			t.Fatalf("reading %s: %v", f.Name, err)
		}
	}
	vertex := func(doc, name string) *lumigl.Vertex {
		for v := range docs[doc].Vertices() {
			if p, _ := v.URN().Parts(); fmt.Sprintf("%s::%s", p.Type, p.Name) == name {
				return v
			}
		}
		t.Fatalf("no resource %s in snapshot %s", name, doc)
		return nil
	}
	resource := func(doc, name string) *graph.Resource {
		v := vertex(doc, name)
		return &graph.Resource{
			URN: v.URN(), ID: v.ID, Inputs: v.Properties, Options: v.Options, Source: v.Source,
			Checked: v.Extensions.Get("checked"), Outputs: v.Extensions.Get("outputs"),
			Deployment: map[string]graph.Deployment{"old": 6, "new": 7}[doc],
		}
	}
	p := &plan.Plan{
		Purpose: s.Purpose, Environment: s.Environment, Module: s.Module, Deployment: s.Deployment, Digest: s.Digest,
		Transition: &graph.Transition{Graph: &graph.Graph{Environment: s.Environment}, Bound: s.Bound, Moved: s.Moved, Stayed: s.Stayed},
	}
	for _, one := range s.Versions {
		v := graph.NewVersion(graph.VersionID{Module: one.Module, Deployment: one.Deployment}, nil)
		kind := graph.Type{Form: lumigl.TextOf(cmp.Or(one.Type, "any"))}
		if one.Config != nil {
			v.Config = must.Get(lumigl.Parser{}.ParseValue(string(one.Config)))(t)
		}
		for _, use := range one.Uses {
			use.Type = kind
			v.Uses = append(v.Uses, graph.Edge{Constraint: use})
		}
		for _, name := range slices.Sorted(maps.Keys(one.Provides)) {
			value := must.Get(lumigl.Parser{}.ParseValue(string(one.Provides[name])))(t)
			v.Provides = append(v.Provides, graph.Provided{Name: name, Type: kind, Value: value, Result: value})
		}
		after := must.Get(p.Transition.Graph.Deploy(graph.Update{Version: v}))(t)
		p.Transition.Graph = after.Graph
	}
	for i := range s.Steps {
		one := &s.Steps[i]
		step := &one.Step
		for step.Kind.String() != one.Kind {
			step.Kind++
		}
		if one.Was == "" {
			one.Was = one.URN
		} else if step.Kind == plan.Read { // new
			one.Was = ""
		}
		if step.Kind != plan.Create && step.Kind != plan.Import && (step.Kind != plan.Read || one.Was == one.URN) {
			step.Old = resource("old", one.Was)
			step.URN = step.Old.URN
		}
		if step.Kind != plan.Delete && step.Kind != plan.Forget {
			step.New = resource("new", one.URN)
			step.URN = step.New.URN
		}
		p.Steps = append(p.Steps, step)
	}
	for _, c := range s.Cleanups {
		for _, name := range c.Deleted {
			c.Cleanup.Deleted = append(c.Cleanup.Deleted, resource("old", name))
		}
		p.Cleanups = append(p.Cleanups, c.Cleanup)
	}
	for _, m := range s.Moves {
		p.Moves = append(p.Moves, match.Pair{Old: vertex("old", m[0]), New: vertex("new", m[1])})
	}
	return p, show.Options{Waits: s.Waits, Details: s.Details, Findings: s.Findings}
}

// step returns a step whose resources have a single property each, unless its value is absent.
func step(kind plan.Kind, name string, old, new lumigl.Value) *plan.Step {
	s := &plan.Step{Kind: kind, URN: urn.URN("urn:lumi:prod::shop:index::aws:ec2:Vpc::" + name)}
	for _, side := range []struct {
		resource **graph.Resource
		value    lumigl.Value
	}{{&s.Old, old}, {&s.New, new}} {
		if side.value.Exists() {
			*side.resource = &graph.Resource{URN: s.URN, Inputs: lumigl.ObjectOf(lumigl.Member{Key: "value", Value: side.value})}
		}
	}
	return s
}

func textOf(t *testing.T, steps ...*plan.Step) string {
	t.Helper()
	return textWith(t, show.Options{}, steps...)
}

func textWith(t *testing.T, o show.Options, steps ...*plan.Step) string {
	t.Helper()
	p := &plan.Plan{
		Environment: "prod", Module: "shop", Deployment: 7, Digest: "3f", Steps: steps,
		Transition: &graph.Transition{Graph: &graph.Graph{}},
	}
	var b bytes.Buffer
	must.Do(t, show.WriteText(&b, p, o))
	return b.String()
}

// A change in a long list shows only the changed element and its neighbors. Unchanged resources are only counted.
func TestWriteTextLong(t *testing.T) {
	list := func(changed int) lumigl.Value {
		all := make([]lumigl.Value, 1000)
		for i := range all {
			all[i] = lumigl.IntOf(int64(i))
		}
		all[500] = lumigl.IntOf(int64(changed))
		return lumigl.ListOf(all...)
	}
	const want = `Plan for shop in prod, deployment 7

~ update main aws:ec2:Vpc
  ~ value:
    … 499 unchanged
      [499]: 499
    ~ [500]: 1 → 2
      [501]: 501
    … 498 unchanged

1 to update
Digest: 3f
`
	expect.Equal(t, want, textOf(t, step(plan.Update, "main", list(1), list(2))))
	var steps []*plan.Step
	for i := range 100_000 {
		steps = append(steps, step(plan.Same, fmt.Sprint(i), lumigl.IntOf(1), lumigl.IntOf(1)))
	}
	for i := range 1000 {
		steps = append(steps, step(plan.Delete, fmt.Sprint("old", i), lumigl.IntOf(1), lumigl.Value{}))
	}
	got := textOf(t, steps...)
	if lines := strings.Count(got, "\n"); lines != 1000+5 || !strings.HasSuffix(got, "\n\n1000 to delete, 100000 unchanged\nDigest: 3f\n") {
		t.Errorf("WriteText wrote %d lines, want 1005 that end with the totals and the digest:\n%.200s", lines, got)
	}
	const cut = `Plan for shop in prod, deployment 7

- delete old0 aws:ec2:Vpc
- delete old1 aws:ec2:Vpc
… 998 more lines: to see them, redirect the output to a file, as in 'lumi plan > FILE'

1000 to delete, 100000 unchanged
Digest: 3f
`
	expect.Equal(t, cut, textWith(t, show.Options{Limit: 100}, steps...))
}

// Control characters in names are escaped, and long names are clipped.
func TestWriteTextHostileNames(t *testing.T) {
	for _, name := range []string{"\x1b[2Jmain", "two\nlines", "a\u202eb", "\xff", strings.Repeat("long", 10_000), strings.Repeat("a/", 10_000), "/", ""} {
		s := step(plan.Update, name, lumigl.IntOf(1), lumigl.TextOf(name))
		s.Old.ID, s.New.Source, s.Reasons = name, name, []string{"x"}
		got := textOf(t, s)
		for _, r := range got {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("text for the name %.20q contains the unescaped character %U", name, r)
			}
		}
		if len(got) > 2500 || strings.Count(got, "\n") > 10 {
			t.Errorf("text for the name %.20q has %d bytes, want at most 2500 bytes and 10 lines:\n%s", name, len(got), got)
		}
	}
}

func TestWriteTextTitles(t *testing.T) {
	id := graph.VersionID{Module: "a", Deployment: 1}
	deployed := must.Get((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: graph.NewVersion(id, nil)}))(t)
	provisioner := func(tokens.Type) string { return "aws" }
	destroy := must.Get(plan.MakeDestroy(deployed.Graph, "a", provisioner))(t)
	for title, p := range map[string]*plan.Plan{
		"Destroy a in prod\n":    destroy,
		"Cleanup of a in prod\n": plan.MakeCleanup(deployed.Graph, "a", provisioner),
	} {
		var b strings.Builder
		if err := show.WriteText(&b, p, show.Options{}); err != nil || !strings.HasPrefix(b.String(), title) {
			t.Errorf("WriteText() = %v, text\n%s\nwant the title %q", err, b.String(), title)
		}
	}
}

// A look-up of a resource that a module manages suggests the module, or the resource itself, unless the module provides
// the id.
func TestManaged(t *testing.T) {
	const u = "urn:lumi:prod::network:index::aws:ec2:Vpc::main"
	version := graph.NewVersion(graph.VersionID{Module: "network", Deployment: 1}, []*graph.Resource{{URN: u, ID: "vpc-1"}})
	deployed := must.Get((&graph.Graph{Environment: "prod"}).Deploy(graph.Update{Version: version}))(t)
	network := must.Get(lumigl.NewResource("urn:lumi:prod::network:index::lumi:index:Module::network"))(t)
	for _, test := range []struct {
		module string
		id     lumigl.Value
		want   string
	}{
		{"shop", lumigl.TextOf("vpc-1"), `shared looks up main, which module network manages: use lumi.module("network") instead` + "\n\n"},
		{"shop", lumigl.PropertyOf(network, "provides.id"), ""},
		{"network", lumigl.TextOf("vpc-1"), "shared looks up main, which this module manages: use that resource instead\n\n"},
	} {
		read := step(plan.Read, "shared", lumigl.Value{}, lumigl.IntOf(1))
		read.New.ID, read.New.Outputs = "vpc-1", lumigl.ObjectOf()
		read.New.Options = lumigl.ObjectOf(lumigl.Member{Key: graph.ReadOption, Value: test.id})
		p := &plan.Plan{Environment: "prod", Module: test.module, Digest: "3f", Steps: []*plan.Step{read}, Transition: deployed}
		var b bytes.Buffer
		must.Do(t, show.WriteText(&b, p, show.Options{}))
		expect.Equal(t, "Plan for "+test.module+" in prod\n\n"+test.want+"No resources to change\nDigest: 3f\n", b.String())
	}
}

// failing is a writer whose Write always fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrors(t *testing.T) {
	p := &plan.Plan{Transition: &graph.Transition{Graph: &graph.Graph{}}}
	if err := show.WriteText(failing{}, p, show.Options{}); err != os.ErrClosed { //nolint:errorlint // The error is not wrapped.
		t.Errorf("WriteText() = %v, want %v", err, os.ErrClosed)
	}
	if err := show.WriteJSON(failing{}, p, show.Options{}); err != os.ErrClosed { //nolint:errorlint // The error is not wrapped.
		t.Errorf("WriteJSON() = %v, want %v", err, os.ErrClosed)
	}
}

func TestExamplesInDocs(t *testing.T) {
	archive := must.Get(txtar.ParseFile("testdata/manual.txtar"))(t)
	manual := must.Get(os.ReadFile("../../../docs/plan.md"))(t)
	for _, f := range archive.Files {
		if f.Name != "text" {
			continue
		}
		var shown strings.Builder
		for line := range strings.Lines(string(f.Data)) {
			if line != "\n" {
				shown.WriteString("    ")
			}
			shown.WriteString(line)
		}
		if !strings.Contains(string(manual), shown.String()) {
			t.Errorf("docs/plan.md does not contain the output\n%s", shown.String())
		}
	}
}

// The schema accepts the JSON of all archives and rejects invalid plans.
func TestJSONSchema(t *testing.T) {
	src := must.Get(os.ReadFile("../../../docs/schema/plan.schema.json"))(t)
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(src)))(t)
	compiler := jsonschema.NewCompiler()
	must.Do(t, compiler.AddResource("plan.schema.json", document))
	schema := must.Get(compiler.Compile("plan.schema.json"))(t)
	var plans []string
	names, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range names {
		archive := must.Get(txtar.ParseFile(name))(t)
		for _, f := range archive.Files {
			if f.Name == "json" {
				plans = append(plans, string(f.Data))
			}
		}
	}
	var values []any
	var want []bool
	for _, plan := range plans {
		for _, change := range []struct {
			from, to string
			accepted bool
		}{
			{"", "", true}, {`"version": 1`, `"version": 2`, false}, {`"digest"`, `"digets"`, false},
			{`"kind": "update"`, `"kind": "upgrade"`, false}, {`"possible": true`, `"possible": "yes"`, false},
			{`"change": "changed"`, `"change": "modified"`, false}, {`"kind": "stale"`, `"kind": "old"`, false},
			{`"result": "violated"`, `"result": "failed"`, false}, {`"task": 1`, `"task": "1"`, false}, {`"provisioner": "git"`, `"by": "git"`, false},
		} {
			changed := strings.Replace(plan, change.from, change.to, 1)
			if changed == plan && !change.accepted {
				continue
			}
			value := must.Get(jsonschema.UnmarshalJSON(strings.NewReader(changed)))(t)
			values, want = append(values, value), append(want, change.accepted)
			if err := schema.Validate(value); (err == nil) != change.accepted {
				t.Errorf("Validate with %q replaced by %q = %v, want accepted: %t", change.from, change.to, err, change.accepted)
			}
		}
	}
	// Users of the schema use other validators.
	id := document.(map[string]any)["$id"]
	var documents []map[string]any
	for _, value := range values {
		documents = append(documents, map[string]any{"schema": id, "document": value})
	}
	input := must.Get(json.Marshal(map[string]any{"schemas": []any{document}, "documents": documents}))(t)
	scripts := filepath.Join("..", "..", "..", "lumigl", "testdata")
	for _, command := range [][]string{
		{"/usr/bin/python3", filepath.Join(scripts, "validate.py")}, {"node", filepath.Join(scripts, "ajv", "validate.mjs")},
	} {
		t.Run(filepath.Base(command[0]), func(t *testing.T) {
			cmd := exec.Command(command[0], command[1])
			cmd.Stdin = bytes.NewReader(input)
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("validator not installed: %v", err)
			}
			var got []bool
			must.Do(t, json.Unmarshal(out, &got))
			expect.Equal(t, want, got)
		})
	}
}
