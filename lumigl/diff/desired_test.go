package diff_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
)

// TestDesiredOwn holds that what a program says itself counts more than what is in the state.
func TestDesiredOwn(t *testing.T) {
	const u = "urn:lumi:prod::p:index::a:b:C::"
	state := parse(t, `{"package": "old", "args": {"old": 1}, "note": 1, "resources": {
		"`+u+`a": {"type": "a:b:C", "id": "1", "properties": {"arn": "old"}, "extensions": {"old": 1}}}}`).(*lumigl.Snapshot)
	desired := parse(t, `{"ref": "$r", "package": "new", "args": {"new": 1}, "note": 2, "resources": {
		"`+u+`a": {"type": "a:b:C", "id": "2", "properties": {"arn": "new"}, "extensions": {"new": 1}}}}`).(*lumigl.Snapshot)
	got, err := diff.Desired(state, desired, diff.Outputs{"a:b:C": {"arn", "none"}})
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
	if !diff.LooksDesired(desired) || diff.LooksDesired(state) || diff.LooksDesired(&lumigl.Snapshot{}) {
		t.Error("what is desired cannot be told from what is there")
	}
	got, err := diff.Desired(state, desired, diff.Outputs{"a:b:C": {"arn", "other"}})
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
