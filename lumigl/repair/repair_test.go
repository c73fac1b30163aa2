package repair

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
)

// outline is what a step is compared by.
func outline(steps []Step) []string {
	var lines []string
	for _, s := range steps {
		lines = append(lines, fmt.Sprintf("%s %d:%d %s: %s", s.Kind, s.Line, s.Column, s.Pointer, s.Message))
	}
	return lines
}

// compact leaves out white space.
func compact(s string) string { return strings.Join(strings.Fields(s), "") }

func keys(doc lumigl.Document) (keys []string) {
	for v := range doc.Base().Vertices() {
		keys = append(keys, v.Key())
	}
	return keys
}

const urnStart = "urn:lumi:e::p:m::a:b:C::"

// resource is one with a name that refers to another, or to none if that is empty.
func resource(name, to string) string {
	return `"` + urnStart + name + `": {` + rest(to) + `}`
}

// entry is a pending one, without its braces.
func entry(name, to string) string {
	return `"urn": "` + urnStart + name + `", ` + rest(to)
}

func rest(to string) string {
	if to == "" {
		return `"type": "a:b:C", "properties": {}`
	}
	return `"type": "a:b:C", "properties": {"to": {"#ref": "` + urnStart + to + `"}}`
}

func TestRepair(t *testing.T) {
	for _, test := range []struct {
		name, src string
		options   Options
		steps     []string
		dead      []string
		want      string // without white space
	}{
		{
			name: "syntax, and what it uncovers",
			src:  "{\"vertices\": {\n  a: {x: 1 'y': True,},// a\n},}",
			steps: []string{
				"syntax 2:3 /vertices: put the key in double quotes: the key a has no quotes",
				"syntax 2:7 /vertices/a: put the key in double quotes: the key x has no quotes",
				"syntax 2:11 /vertices/a: insert a comma: expected a comma between two elements",
				"syntax 2:12 /vertices/a: use double quotes: strings stand in double quotes",
				"syntax 2:17 /vertices/a/y: write true: True is not JSON; it is spelled true",
				"syntax 2:21 /vertices/a: remove the comma: trailing comma",
				"syntax 2:23 /vertices: remove the comma: trailing comma",
				"syntax 2:24 /vertices: remove the comment: JSON has no comments",
				"syntax 3:2 : remove the comma: trailing comma",
			},
			want: `{"vertices":{"a":{"x":1,"y":true}}}`,
		},
		{
			name:    "references, in lists and in objects, with places in the original",
			src:     "{\"vertices\": {\"a\": {\"x\": [1,, {\"#ref\": \"b\"}, {\"y\": {\"#ref\": \"c/~\"}}]}}}",
			options: Options{Drop: DropReferences},
			steps: []string{
				"syntax 1:29 /vertices/a/x: remove the comma: comma without an element before it",
				`reference 1:40 /vertices/a/x/1: drop this reference: there is no vertex "b"`,
				`reference 1:61 /vertices/a/x/2/y: drop this reference: there is no vertex "c/~"`,
			},
			want: `{"vertices":{"a":{"x":[1,{}]}}}`,
		},
		{
			name:    "whoever holds a reference, and who refers to that",
			src:     `{"vertices": {"a": {"x": {"#ref": "b"}}, "b": {"x": {"#ref": "nothing"}}, "c": {"x": {"#ref": "d"}}, "d": {}}}`,
			options: Options{Drop: DropResources},
			steps: []string{
				`resource 1:62 /vertices/b: drop the vertex "b": there is no vertex "nothing"`,
				`resource 0:0 /vertices/a: drop the vertex "a": it refers to "b", which is dropped`,
			},
			want: `{"vertices":{"c":{"x":{"#ref":"d"}},"d":{}}}`,
		},
		{
			name: "whoever holds a reference in a list, in a chain, in a circle, and by two ways",
			src: `{"vertices": {"a": {"x": [1, {"#ref": "nothing"}]}, "b": {"x": {"#ref": "a"}, "y": {"#ref": "d"}},
				"c": {"x": [{"#ref": "b"}, {"#ref": "a"}]}, "d": {"x": {"#ref": "c"}}, "e": {}}}`,
			options: Options{Drop: DropResources},
			steps: []string{
				`resource 1:39 /vertices/a: drop the vertex "a": there is no vertex "nothing"`,
				`resource 0:0 /vertices/b: drop the vertex "b": it refers to "a", which is dropped`,
				`resource 0:0 /vertices/c: drop the vertex "c": it refers to "a", which is dropped`,
				`resource 0:0 /vertices/d: drop the vertex "d": it refers to "c", which is dropped`,
			},
			want: `{"vertices":{"e":{}}}`,
		},
		{
			name: "resources and pending entries",
			src: `{"resources": {` + resource("a", "nothing") + `, ` + resource("b", "b2") + `, ` + resource("b2", "") + `},
"pending": {"deletes": [{` + entry("c", "nothing") + `}, {` + entry("d", "b2") + `}],
"operations": [{"operation": "update", ` + entry("a", "c") + `}, {"operation": "create", ` + entry("e", "b2") + `}]}}`,
			options: Options{Drop: DropResources},
			steps: []string{
				`order 1:208 /resources/urn:lumi:e::p:m::a:b:C::b: put the resources in order: "urn:lumi:e::p:m::a:b:C::b2" stands further down; ` +
					`move it up, before whatever refers to it`,
				`resource 1:93 /resources/urn:lumi:e::p:m::a:b:C::a: drop the resource "urn:lumi:e::p:m::a:b:C::a": ` +
					`there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`pending 2:109 /pending/deletes/0: drop the pending deletion of "urn:lumi:e::p:m::a:b:C::c": ` +
					`there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`pending 0:0 /pending/operations/0: drop the pending update of "urn:lumi:e::p:m::a:b:C::a": ` +
					`it refers to "urn:lumi:e::p:m::a:b:C::c", which is dropped`,
			},
			dead: []string{
				`pending 0:0 /pending/deletes/1: drop the pending deletion of "urn:lumi:e::p:m::a:b:C::d": no provider has made it, since it has no id`,
			},
			want: `{"resources":{` + resource("b2", "") + `,` + resource("b", "b2") + `},"pending":{"deletes":[{` + entry("d", "b2") +
				`}],"operations":[{"operation":"create",` + entry("e", "b2") + `}]}}`,
		},
		{
			name: "references of resources and pending entries",
			src: `{"resources": {` + resource("a", "nothing") + `}, "pending": {"deletes": [{` + entry("a", "nothing") + `}],
"operations": [{"operation": "update", ` + entry("a", "nothing") + `}]}}`,
			options: Options{Drop: DropReferences, Pending: DropAll},
			steps: []string{
				`reference 1:93 /resources/urn:lumi:e::p:m::a:b:C::a/properties/to: drop this reference: there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`reference 1:240 /pending/deletes/0/properties/to: drop this reference: there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`reference 2:123 /pending/operations/0/properties/to: drop this reference: there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`pending 0:0 /pending/operations/0: drop the pending update of "urn:lumi:e::p:m::a:b:C::a"`,
				`pending 0:0 /pending/deletes/0: drop the pending deletion of "urn:lumi:e::p:m::a:b:C::a": no provider has made it, since it has no id`,
			},
			want: `{"resources":{` + resource("a", "") + `}}`,
		},
		{
			name:    "references that lead astray, and others",
			src:     `{"vertices": {"x": {"a": {"#ref": "main-vcp", "property": "p"}, "b": [{"#ref": "nothing"}]}, "main-vpc": {}}}`,
			options: Options{Retarget: true, Drop: DropReferences},
			steps: []string{
				`retarget 1:35 /vertices/x/a: point this reference at "main-vpc": there is no vertex "main-vcp"`,
				`reference 1:80 /vertices/x/b/0: drop this reference: there is no vertex "nothing"`,
			},
			want: `{"vertices":{"x":{"a":{"#ref":"main-vpc","property":"p"},"b":[]},"main-vpc":{}}}`,
		},
		{
			name: "references in options and expressions",
			src: `{"resources": {"` + urnStart + `main": {"type": "a:b:C", "properties": {}}, "` + urnStart + `a": {"type": "a:b:C",
"options": {"dependsOn": [{"#ref": "` + urnStart + `mian"}, {"#ref": "` + urnStart + `nothing"}], "protect": true},
"properties": {"x": [{"4dabf18193072939515e22adb298388d": "63fc8277790b7f8a51f0478af443e94d", "interpolate": ["a", {"#ref": "` + urnStart + `nothing"}]}]}}}}`,
			options: Options{Retarget: true, Drop: DropReferences},
			steps: []string{
				`retarget 2:36 /resources/urn:lumi:e::p:m::a:b:C::a/options/dependsOn/0: point this reference at "urn:lumi:e::p:m::a:b:C::main": ` +
					`there is no resource "urn:lumi:e::p:m::a:b:C::mian"`,
				`reference 2:78 /resources/urn:lumi:e::p:m::a:b:C::a/options/dependsOn/1: drop this reference: ` +
					`there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`reference 3:125 /resources/urn:lumi:e::p:m::a:b:C::a/properties/x/0/interpolate/1: drop the expression with this reference: ` +
					`there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
			},
			want: `{"resources":{"` + urnStart + `main":{"type":"a:b:C","properties":{}},"` + urnStart + `a":{"type":"a:b:C","options":{"dependsOn":[{"#ref":"` +
				urnStart + `main"}],"protect":true},"properties":{"x":[]}}}}`,
		},
		{
			name: "a resource that depends on one that is dropped by its options",
			src: `{"resources": {` + resource("a", "nothing") + `, "` + urnStart + `b": {"type": "a:b:C", "options": {"dependsOn": [{"#ref": "` +
				urnStart + `a"}]}, "properties": {}}}}`,
			options: Options{Drop: DropResources},
			steps: []string{
				`resource 1:93 /resources/urn:lumi:e::p:m::a:b:C::a: drop the resource "urn:lumi:e::p:m::a:b:C::a": ` +
					`there is no resource "urn:lumi:e::p:m::a:b:C::nothing"`,
				`resource 0:0 /resources/urn:lumi:e::p:m::a:b:C::b: drop the resource "urn:lumi:e::p:m::a:b:C::b": it refers to "urn:lumi:e::p:m::a:b:C::a", which is dropped`,
			},
			want: `{"resources":{}}`,
		},
		{
			name:    "another tag",
			src:     `{"ref": "/~", "vertices": {"a": {"x": {"/~": "b"}}}}`,
			options: Options{Drop: DropReferences},
			steps:   []string{`reference 1:46 /vertices/a/x: drop this reference: there is no vertex "b"`},
			want:    `{"ref":"/~","vertices":{"a":{}}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			holds(t, test.src, test.options)
			result, err := Repair(test.src, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.steps, outline(result.Steps)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(test.dead, outline(result.Dead)); d != "" {
				t.Error(d)
			}
			if got := compact(string(result.Text)); got != compact(test.want) {
				t.Errorf("the result is\n%s, want\n%s", got, test.want)
			}
			again, err := lumigl.Parse(string(result.Text))
			if err != nil || !slices.Equal(keys(again), keys(result.Document)) {
				t.Errorf("the document has %s, and the text %s; %v", keys(result.Document), keys(again), err)
			}
		})
	}
}

// TestPending holds which entries are dead, and that those stay which another entry needs.
func TestPending(t *testing.T) {
	content, err := os.ReadFile("testdata/pending.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`pending 0:0 /pending/operations/0: drop the pending update of "urn:lumi:prod::p:index::aws:ec2:VPC::nowhere": there is no such resource any more`,
		`pending 0:0 /pending/operations/1: drop the pending create of "urn:lumi:prod::p:index::aws:ec2:VPC::vpc": the resource is there`,
		`pending 0:0 /pending/operations/3: drop the pending delete of "urn:lumi:prod::p:index::aws:ec2:VPC::vpc": it is there twice`,
		`pending 0:0 /pending/deletes/1: drop the pending deletion of "urn:lumi:prod::p:index::aws:ec2:VPC::vpc": it is there twice`,
		`pending 0:0 /pending/deletes/2: drop the pending deletion of "urn:lumi:prod::p:index::aws:ec2:VPC::vpc": the resource has that id still, so it was not replaced`,
	}
	kept, err := Repair(string(content), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, outline(kept.Dead)); d != "" || len(kept.Steps) > 0 || kept.Dead[0].Offset != 0 {
		t.Errorf("%s%v", d, kept.Steps)
	}
	dropped, err := Repair(string(content), Options{Pending: DropDead})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, outline(dropped.Steps)); d != "" || len(dropped.Dead) > 0 {
		t.Errorf("%s%v", d, dropped.Dead)
	}
	all, err := Repair(string(content), Options{Pending: DropAll})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Steps) != 9 || strings.Contains(string(all.Text), "pending") {
		t.Errorf("%v\n%s", outline(all.Steps), all.Text)
	}
}

// TestChain holds that an entry goes along with the dead one that it was about, and is named before, too.
func TestChain(t *testing.T) {
	const entry = `"urn": "urn:lumi:prod::p:index::a:b:C::x", "type": "a:b:C", "properties": {}`
	const src = `{"resources": {}, "pending": {"deletes": [{` + entry + `}], "operations": [{"operation": "delete", ` + entry + `}]}}`
	want := []string{
		`pending 0:0 /pending/operations/0: drop the pending delete of "urn:lumi:prod::p:index::a:b:C::x": there is no such resource any more`,
		`pending 0:0 /pending/deletes/0: drop the pending deletion of "urn:lumi:prod::p:index::a:b:C::x": no provider has made it, since it has no id`,
	}
	kept, err := Repair(src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, outline(kept.Dead)); d != "" {
		t.Error(d)
	}
	holds(t, src, Options{Pending: DropDead})
	dropped, err := Repair(src, Options{Pending: DropDead})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, outline(dropped.Steps)); d != "" {
		t.Error(d)
	}
}

// TestPendingPlaces holds that steps name the places that entries had in the file, whatever was dropped before them.
func TestPendingPlaces(t *testing.T) {
	const a, b = `"urn": "urn:lumi:prod::p:index::a:b:C::a", "type": "a:b:C"`, `"urn": "urn:lumi:prod::p:index::a:b:C::b", "type": "a:b:C"`
	const src = `{"resources": {}, "pending": {"operations": [
		{"operation": "create", ` + a + `, "properties": {"to": {"#ref": "urn:lumi:prod::p:index::x:y:Z::z"}}},
		{"operation": "update", ` + b + `, "properties": {}}]}}`
	want := []string{
		`pending 2:117 /pending/operations/0: drop the pending create of "urn:lumi:prod::p:index::a:b:C::a": there is no resource "urn:lumi:prod::p:index::x:y:Z::z"`,
		`pending 0:0 /pending/operations/1: drop the pending update of "urn:lumi:prod::p:index::a:b:C::b": there is no such resource any more`,
	}
	result, err := Repair(src, Options{Drop: DropResources, Pending: DropDead})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, outline(result.Steps)); d != "" {
		t.Error(d)
	}
}

// TestPendingAlike holds that an operation that another one differs from in its extensions alone is not there twice.
func TestPendingAlike(t *testing.T) {
	const one = `{"operation": "create", "urn": "urn:lumi:prod::p:index::a:b:C::a", "type": "a:b:C", "properties": {}, "extensions": {"token": "1"}}`
	for second, dead := range map[string]int{strings.Replace(one, `"1"`, `"2"`, 1): 0, one: 1} {
		result, err := Repair(`{"resources": {}, "pending": {"operations": [`+one+", "+second+`]}}`, Options{})
		if err != nil || len(result.Dead) != dead {
			t.Errorf("%s: %v, %v, want %d", second, result, err, dead)
		}
	}
}

// TestRefused holds what is refused, with the places in the original.
func TestRefused(t *testing.T) {
	const urn = "urn:lumi:prod::p:index::a:b:C::"
	for _, test := range []struct {
		name, src string
		options   Options
		code      lumigl.Code
		line      int
		column    int
		dangling  bool
	}{
		{"no outline", `{"vertices": {"a": [}}`, Options{Drop: DropReferences}, lumigl.BracketFault, 1, 21, false},
		{"cut off", `{"vertices": {"a": `, Options{}, lumigl.BracketFault, 1, 20, false},
		{"empty", "", Options{}, lumigl.EmptyFault, 1, 1, false},
		{"a key twice", "{\"vertices\": {\n\"a\": {b: 1, \"b\": 1}}}", Options{}, lumigl.DuplicateKeyFault, 2, 13, false},
		{"dangling", "{vertices: {\"a\": {\"x\": {\"#ref\": \"b\"}}}}", Options{}, lumigl.DanglingFault, 1, 33, true},
		{"astray", `{"vertices": {"main-vpc": {"x": {"#ref": "main-vcp"}}}}`, Options{}, lumigl.DanglingFault, 1, 42, true},
		{"nothing like it", `{"vertices": {"a": {"x": {"#ref": "nothing"}}}}`, Options{Retarget: true}, lumigl.DanglingFault, 1, 35, true},
		{
			"two keys that are as near", `{"vertices": {"front": {}, "frond": {}, "a": {"x": {"#ref": "frons"}}}}`,
			Options{Retarget: true}, lumigl.DanglingFault, 1, 61, true,
		},
		{"another number", `{"vertices": {"vpc-1": {"x": {"#ref": "vpc-10"}}}}`, Options{Retarget: true}, lumigl.DanglingFault, 1, 39, true},
		{
			"a resource that was renamed", `{"resources": {` + resource("network", "") +
				`, "urn:lumi:e::p:m::a:b:D::x": {"type": "a:b:D", "properties": {"l": [{"#ref": "` + urnStart + `cloud"}, {"#ref": "` +
				urnStart + `cloud"}]}}}}`,
			Options{Retarget: true}, lumigl.DanglingFault, 1, 165, true,
		},
		{
			"a circle that the nearest key would make", `{"resources": {"` + urn + `main-vpc": {"type": "a:b:C", "properties": {"x": {"#ref": "` + urn +
				`other"}}}, "` + urn + `other": {"type": "a:b:C", "properties": {"x": {"#ref": "` + urn + `main-vcp"}}}}}`,
			Options{Retarget: true}, lumigl.CycleFault, 0, 0, false,
		},
		{"left out", `{"vertices": {"a": {}, ...}}`, Options{Drop: DropReferences}, lumigl.ElisionFault, 1, 24, false},
		{"a merge, in a comment that one side begins", "{\"vertices\": {\n<<<<<<< a\n/*\n=======\n>>>>>>> b\n*/}}", Options{}, lumigl.ConflictFault, 2, 1, false},
		{
			"a circle", `{"resources": {"` + urn + `x": {"type": "a:b:C", "properties": {"x": {"#ref": "` + urn + `x"}}}}}`,
			Options{Drop: DropResources}, lumigl.CycleFault, 1, 99, false,
		},
		{
			"another type", `{"resources": {"` + urn + `x": {"type": "a:b:D", "properties": {}}}}`,
			Options{}, lumigl.TypeFault, 1, 61, false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			holds(t, test.src, test.options)
			_, err := Repair(test.src, test.options)
			var refusal *RefusedError
			if !errors.As(err, &refusal) {
				t.Fatalf("%v", err)
			}
			f := refusal.Invalid.Faults[0]
			if refusal.Astray != (strings.Contains(f.Message, "did you mean") && !strings.HasSuffix(f.Message, ", which nothing refers to?")) {
				t.Errorf("astray %v: %s", refusal.Astray, f.Message)
			}
			if f.Code != test.code || f.Line != test.line || f.Column != test.column || refusal.Dangling != test.dangling {
				t.Errorf("%d:%d: %s, dangling %v: %v", f.Line, f.Column, f.Code, refusal.Dangling, err)
			}
		})
	}
}

// TestNotes holds that notes have their places in the original, too.
func TestNotes(t *testing.T) {
	_, err := Repair(`{vertices: {"a": {b: 1, "b": 1}}}`, Options{})
	var refusal *RefusedError
	if !errors.As(err, &refusal) || len(refusal.Invalid.Faults) != 1 || len(refusal.Invalid.Faults[0].Notes) != 1 {
		t.Fatal(err)
	}
	if n := refusal.Invalid.Faults[0].Notes[0]; n.Offset != 18 || n.Line != 1 || n.Column != 19 {
		t.Errorf("%+v", n)
	}
}

// TestDeadOneByOne has entries that are dead once others are, and some like them that are not.
func TestDeadOneByOne(t *testing.T) {
	const src = `{"resources": {"u:main": {"type": "a:b:C", "id": "1", "properties": {}},
		"u:none": {"type": "a:b:C", "properties": {}}}, "pending": {"deletes": [
		{"urn": "u:a", "type": "a:b:C", "properties": {}},
		{"urn": "u:main", "type": "a:b:C", "id": "1", "properties": {"to": {"#ref": "u:a"}}},
		{"urn": "u:main", "type": "a:b:C", "id": "2", "properties": {}},
		{"urn": "u:needed", "type": "a:b:C", "properties": {}}
	], "operations": [
		{"operation": "update", "urn": "u:a", "type": "a:b:C", "properties": {}},
		{"operation": "update", "urn": "u:main", "type": "a:b:C", "properties": {"to": {"#ref": "u:needed"}}},
		{"operation": "update", "urn": "u:main", "type": "a:b:C", "id": "1", "properties": {"to": {"#ref": "u:needed"}}},
		{"operation": "update", "urn": "u:main", "type": "a:b:C", "properties": {}},
		{"operation": "create", "urn": "u:main", "type": "a:b:C", "properties": {}},
		{"operation": "create", "urn": "u:main", "type": "a:b:C", "id": "2", "properties": {}},
		{"operation": "create", "urn": "u:new", "type": "a:b:C", "id": "1", "properties": {}},
		{"operation": "create", "urn": "u:none", "type": "a:b:C", "properties": {}},
		{"operation": "delete", "urn": "u:needed", "type": "a:b:C", "properties": {}}
	]}}`
	want := []string{
		`pending 0:0 /pending/operations/0: drop the pending update of "u:a": there is no such resource any more`,
		`pending 0:0 /pending/deletes/0: drop the pending deletion of "u:a": no provider has made it, since it has no id`,
		`pending 0:0 /pending/deletes/1: drop the pending deletion of "u:main": the resource has that id still, so it was not replaced`,
	}
	result, err := Repair(strings.ReplaceAll(src, "u:", urnStart), Options{Pending: DropDead})
	if err != nil {
		t.Fatal(err)
	}
	found := outline(result.Steps)
	for i := range found {
		found[i] = strings.ReplaceAll(found[i], urnStart, "u:")
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
}

// TestMany holds that a file with more faults than anybody would mend is refused, in bounded memory.
func TestMany(t *testing.T) {
	src := `{"vertices":{"a":{"x":[` + strings.Repeat(`{"#ref":"b"},`, maxFaults+1) + `1]}}}`
	_, err := Repair(src, Options{Drop: DropReferences})
	var refusal *RefusedError
	if !errors.As(err, &refusal) || !refusal.Invalid.More || len(refusal.Invalid.Faults) != 1 {
		t.Fatalf("%.200v", err)
	}
}

// TestBroken breaks files that are accepted in the ways that people do, at random places.
func TestBroken(t *testing.T) {
	slips := []string{",", ",,", "}", "{", "]", "[", `"`, "'", ":", "// x\n", "/* x */", "...", "True", "x", `{"#ref": "x"}`, "\n", "\x00"}
	var texts []string
	for _, file := range seeds(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		result, err := Repair(string(content), Options{Drop: DropReferences})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(result.Text))
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(rt, "text")
		for range rapid.IntRange(1, 3).Draw(rt, "slips") {
			at := rapid.IntRange(0, len(text)).Draw(rt, "at")
			gone := rapid.IntRange(0, min(3, len(text)-at)).Draw(rt, "gone")
			text = text[:at] + rapid.SampledFrom(slips).Draw(rt, "slip") + text[at+gone:]
		}
		holds(t, text, Options{
			Drop:     rapid.SampledFrom([]Drop{"", DropReferences, DropResources}).Draw(rt, "drop"),
			Pending:  rapid.SampledFrom([]Pending{"", DropDead, DropAll}).Draw(rt, "pending"),
			Retarget: rapid.Bool().Draw(rt, "retarget"),
		})
	})
}

// TestSyntax holds that mending syntax says nothing about the rest.
func TestSyntax(t *testing.T) {
	mended, err := Syntax(`{"vertices": {"a": {},}}`)
	if err != nil || mended.Text != `{"vertices": {"a": {}}}` || len(mended.Steps) != 1 || mended.Steps[0].Column != 22 || mended.Document.Base().Len() != 1 {
		t.Errorf("%+v, %v", mended, err)
	}
	_, err = Syntax(`{"vertices": {"a": {"x": {"#ref": "b"},}}}`)
	const want = `1:35: there is no vertex "b" (at /vertices/a/x/#ref)`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
