package plan_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// completed settles what is desired, where resources have some outputs.
func completed(state, desired *lumigl.Snapshot, outputs ...string) (*lumigl.Snapshot, error) {
	settled, err := plan.Settle(state, desired, plan.Types{Outputs: map[tokens.Type][]string{"a:b:C": outputs}})
	if err != nil {
		return nil, err
	}
	return settled.Snapshot, nil
}

// TestDesiredOwn holds that what a program says itself counts more than what is in the state.
func TestDesiredOwn(t *testing.T) {
	const u = "urn:lumi:prod::p:index::a:b:C::"
	state := parse(t, `{"package": "old", "args": {"old": 1}, "note": 1, "resources": {
		"`+u+`a": {"type": "a:b:C", "id": "1", "properties": {"arn": "old"}, "extensions": {"old": 1}}}}`).(*lumigl.Snapshot)
	desired := parse(t, `{"ref": "$r", "package": "new", "args": {"new": 1}, "note": 2, "resources": {
		"`+u+`a": {"type": "a:b:C", "id": "2", "properties": {"arn": "new"}, "extensions": {"new": 1}}}}`).(*lumigl.Snapshot)
	got, err := completed(state, desired, "arn", "none")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text(t, desired), text(t, got)); d != "" {
		t.Error(d)
	}
}

// TestDesired holds what is taken over from the state, and that nothing else differs then.
func TestDesired(t *testing.T) {
	const u = "urn:lumi:prod::p:index::a:b:C::"
	state := parse(t, `{"lineage": "l", "serial": 3, "resources": {
		"`+u+`gone": {"type": "a:b:C", "id": "1", "properties": {}},
		"`+u+`a": {"type": "a:b:C", "id": "2", "properties": {"x": 1, "arn": "arn:a"}, "extensions": {"e": 1}},
		"`+u+`b": {"type": "a:b:C", "id": "3", "properties": {
			"a": {"#ref": "`+u+`a"}, "x": 1, "arn": [{"#ref": "`+u+`a"}], "other": {"#ref": "`+u+`gone"}}}},
		"pending": {"deletes": [{"urn": "`+u+`a", "type": "a:b:C", "id": "0", "properties": {}}]}}`).(*lumigl.Snapshot)
	desired := parse(t, `{"resources": {
		"`+u+`a": {"type": "a:b:C", "properties": {"x": 2}},
		"`+u+`b": {"type": "a:b:C", "properties": {"a": {"#ref": "`+u+`a"}}},
		"`+u+`new": {"type": "a:b:C", "properties": {"b": {"#ref": "`+u+`b"}}}}}`).(*lumigl.Snapshot)
	if !plan.LooksDesired(desired) || plan.LooksDesired(state) || plan.LooksDesired(&lumigl.Snapshot{}) {
		t.Error("what is desired cannot be told from what is there")
	}
	got, err := completed(state, desired, "arn", "other")
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, `{"lineage": "l", "serial": 3, "resources": {
		"`+u+`a": {"type": "a:b:C", "id": "2", "properties": {"x": 2, "arn": "arn:a"}, "extensions": {"e": 1}},
		"`+u+`b": {"type": "a:b:C", "id": "3", "properties": {"a": {"#ref": "`+u+`a"}, "arn": [{"#ref": "`+u+`a"}]}},
		"`+u+`new": {"type": "a:b:C", "properties": {"b": {"#ref": "`+u+`b"}}}},
		"pending": {"deletes": [{"urn": "`+u+`a", "type": "a:b:C", "id": "0", "properties": {}}]}}`)
	if d := cmp.Diff(text(t, want), text(t, got)); d != "" {
		t.Error(d)
	}
	// Each way to print a difference works with what was put together.
	delta, err := diff.Compare(state, got, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := delta.WriteStat(&b, diff.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if applied, err := diff.Apply(state, delta); err != nil || text(t, applied) != text(t, got) {
		t.Error(err)
	}
}

// TestDesiredCircle holds that an output is left out by which resources would depend on each other in a circle, and that
// others are not, also if they refer to what is in one.
func TestDesiredCircle(t *testing.T) {
	const u = "urn:lumi:prod::p:index::a:b:C::"
	ref := func(name string) string { return `{"#ref": "` + u + name + `"}` }
	of := func(resources ...string) *lumigl.Snapshot {
		all := ""
		for i := 0; i < len(resources); i += 2 {
			all += map[bool]string{true: ", "}[i > 0] + `"` + u + resources[i] + `": {"type": "a:b:C", "properties": {` + resources[i+1] + `}}`
		}
		return parse(t, `{"resources": {`+all+`}}`).(*lumigl.Snapshot)
	}
	state := of("a", "", "b", `"arn": `+ref("a"), "c", `"of": `+ref("b"), "d", `"arn": [`+ref("b")+`], "other": "d"`)
	desired := of("c", "", "a", `"of": `+ref("c"), "b", `"of": `+ref("a"), "d", "")
	for _, test := range []struct{ desired, want *lumigl.Snapshot }{
		{desired, of("c", "", "a", `"of": `+ref("c"), "b", `"of": `+ref("a")+`, "arn": `+ref("a"), "d", `"arn": [`+ref("b")+`], "other": "d"`)},
		{of("b", "", "a", `"of": `+ref("b"), "d", ""),
			of("b", "", "a", `"of": `+ref("b"), "d", `"arn": [`+ref("b")+`], "other": "d"`)},
		{of("b", "", "c", `"of": `+ref("b"), "a", `"of": `+ref("c"), "d", ""),
			of("b", "", "c", `"of": `+ref("b"), "a", `"of": `+ref("c"), "d", `"arn": [`+ref("b")+`], "other": "d"`)},
		{of("d", "", "a", `"of": `+ref("d"), "b", `"of": `+ref("a")),
			of("d", `"other": "d"`, "a", `"of": `+ref("d"), "b", `"of": `+ref("a")+`, "arn": `+ref("a"))},
	} {
		got, err := completed(state, test.desired, "arn", "other")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(text(t, test.want), text(t, got)); d != "" {
			t.Error(d)
		}
	}
}

// TestDesiredPending holds that what is pending leads to what there will be, but for what leads to nothing any more.
func TestDesiredPending(t *testing.T) {
	const u = "urn:lumi:prod::p:index::a:b:C::"
	state := parse(t, `{"resources": {
		"`+u+`a": {"type": "a:b:C", "id": "1", "properties": {}},
		"`+u+`gone": {"type": "a:b:C", "id": "2", "properties": {}}},
		"pending": {
			"deletes": [
				{"urn": "`+u+`old", "type": "a:b:C", "id": "3", "properties": {"of": [{"#ref": "`+u+`a"}]}, "extensions": {"e": 1}},
				{"urn": "`+u+`older", "type": "a:b:C", "properties": {"of": {"#ref": "`+u+`old"}, "to": {"#ref": "`+u+`gone"}}}],
			"operations": [
				{"operation": "update", "urn": "`+u+`a", "type": "a:b:C", "id": "1", "properties": {
					"n": 1, "of": [{"#ref": "`+u+`a", "property": "arn"}, {"#ref": "`+u+`gone"}]}}]}}`).(*lumigl.Snapshot)
	pending := func(update string) string {
		return `"pending": {
			"deletes": [
				{"urn": "` + u + `old", "type": "a:b:C", "id": "3", "properties": {"of": [{"#ref": "` + u + `a"}]}, "extensions": {"e": 1}},
				{"urn": "` + u + `older", "type": "a:b:C", "properties": {"of": {"#ref": "` + u + `old"}}}],
			"operations": [
				{"operation": "update", "urn": "` + u + `a", "type": "a:b:C", "id": "1", "properties": {` + update + `}}]}`
	}
	const a, gone = `"` + u + `a": {"type": "a:b:C", "properties": {}}`, `"` + u + `gone": {"type": "a:b:C", "properties": {}}`
	desired := parse(t, `{"resources": {`+a+`}}`).(*lumigl.Snapshot)
	got, err := completed(state, desired)
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, `{"resources": {"`+u+`a": {"type": "a:b:C", "id": "1", "properties": {}}}, `+pending(`"n": 1`)+`}`)
	if d := cmp.Diff(text(t, want), text(t, got)); d != "" {
		t.Error(d)
	}
	delta, err := compare(state, desired, plan.Types{})
	if err != nil {
		t.Fatal(err)
	}
	if applied, err := diff.Apply(state, delta); err != nil || text(t, applied) != text(t, want) {
		t.Error(err)
	}
	// If nothing is gone, nothing is left out.
	if got, err = completed(state, parse(t, `{"resources": {`+a+`, `+gone+`}}`).(*lumigl.Snapshot)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text(t, state), text(t, got)); d != "" {
		t.Error(d)
	}
}

// TestDesiredAny holds that what there will be is valid, whatever there was and whatever is desired.
func TestDesiredAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		state, desired := drawSnapshot(rt, true), drawSnapshot(rt, false)
		settled, err := plan.Settle(state, desired, storage)
		if err != nil {
			rt.Fatal(err)
		}
		if err := settled.Snapshot.Check(); err != nil {
			rt.Fatal(err)
		}
		delta, err := compare(state, desired, storage)
		if err != nil {
			rt.Fatal(err)
		}
		applied, err := diff.Apply(state, delta)
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(text(t, settled.Snapshot), text(t, applied)); d != "" {
			rt.Fatal(d)
		}
	})
}
