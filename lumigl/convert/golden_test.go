package convert_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/convert"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "update golden files")

// TestGolden converts the files in testdata and compares the results with NAME.snapshot and NAME.losses.
// testdata/README.md lists the files that were written by the tools themselves.
func TestGolden(t *testing.T) {
	for _, name := range sources(t) {
		t.Run(strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(name, "testdata"+string(filepath.Separator))), ".json"), func(t *testing.T) {
			src := read(t, name)
			base := strings.TrimSuffix(name, ".json")
			result, err := convert.Convert(src, convert.Options{})
			snapshot, losses := render(result, err)
			compare(t, base+".snapshot", snapshot)
			compare(t, base+".losses", losses)
			if strings.Contains(losses, "hunter2") {
				t.Error("the losses reveal a secret")
			}
			if err != nil {
				return
			}
			if format := filepath.Base(filepath.Dir(name)); string(result.From) != format {
				t.Errorf("detected format = %s, want %s", result.From, format)
			}
			valid(t, result)
		})
	}
}

func TestRecognize(t *testing.T) {
	const urn = `"urn:lumi:prod::shop:index::aws:ec2/vpc:VPC::main"`
	for src, want := range map[string]convert.Format{
		`{"version": 4, "terraform_version": "1.9.0", "lineage": "l", "resources": []}`: convert.OpenTofu,
		`{"version": 3, "modules": []}`:                                                 convert.OpenTofu,
		`{"encrypted_data": "x"}`:                                                       convert.OpenTofu,
		`{"version": 3, "deployment": {"resources": []}}`:                               convert.Pulumi,
		`{"manifest": {}, "resources": []}`:                                             convert.Pulumi,
		`{"latest": {"resources": []}}`:                                                 convert.Pulumi,
		`{"stack": "s", "latest": {}}`:                                                  convert.Pulumi,
		`{"target": "s", "config": null, "latest": {"time": "t"}}`:                      convert.Pulumi,
		`{"target": "s", "latest": {"time": "t", "resources": null}}`:                   convert.Pulumi,
		`{"latest": {}}`:                                                                "",
		`{"version": 4, "lineage": "l", "resources": {` + urn + `: {"properties": 1}}}`: "",
		`{"terraform_version": "1.9.0", "vertices": {"a": 1}}`:                          "",
		`{"resources": []}`:                                                             "",
		`{"version": 4, "lineage": "l", "resources": [],}`:                              "",
		`[]`: "",
		``:   "",
	} {
		if got := convert.Recognize(src); got != want {
			t.Errorf("Recognize(%s) = %q, want %q", src, got, want)
		}
	}
}

func sources(t testing.TB) []string {
	names, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(names) < 10 {
		t.Fatalf("Glob returned %d files, want at least 10: %v", len(names), err)
	}
	return names
}

func read(t testing.TB, name string) string {
	return string(must.Get(os.ReadFile(name))(t))
}

type example struct {
	name, src string
	root      lumigl.Value
	result    *convert.Result
}

// examples returns the files that can be converted, with their results.
func examples(t testing.TB) []example {
	t.Helper()
	var all []example
	for _, name := range sources(t) {
		src := read(t, name)
		root, err := lumigl.Parser{}.ParseValue(src)
		if err != nil {
			continue
		}
		if result, err := convert.Convert(src, convert.Options{}); err == nil {
			all = append(all, example{name, src, root, result})
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d files were converted, want at least 10", len(all))
	}
	return all
}

// render formats a result as in the golden files.
func render(result *convert.Result, err error) (snapshot, losses string) {
	var refused *convert.RefusedError
	switch {
	case errors.As(err, &refused):
		return "", "refused: " + err.Error() + "\n"
	case err != nil:
		return "", "invalid: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, l := range result.Losses {
		fmt.Fprintln(&b, line(l))
	}
	fmt.Fprintf(&b, "linked: %d\n", result.Linked)
	return textOf(result), b.String()
}

func line(l convert.Loss) string {
	kind := "changed"
	if l.Lost() {
		kind = "lost"
	}
	return fmt.Sprintf("%s %s %s: %s", l.Pointer(), kind, l.Code, l.Message)
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(name, []byte(got), 0o644))
		return
	}
	expect.Equal(t, read(t, name), got, name)
}

// valid checks that the result is a valid snapshot in canonical form.
func valid(t testing.TB, result *convert.Result) {
	t.Helper()
	again, err := lumigl.ParseSnapshot(textOf(result))
	if err != nil {
		t.Fatalf("ParseSnapshot of the result: %s\n%s", err, textOf(result))
	}
	text, err := lumigl.Append(nil, again)
	if err != nil || string(text) != textOf(result) {
		t.Fatalf("the result is not canonical (-result +canonical):\n%v", cmp.Diff(textOf(result), string(text)))
	}
}

// textOf returns the canonical text of a result, or the error if its snapshot is invalid, which no test accepts as text.
func textOf(result *convert.Result) string {
	text, err := lumigl.Append(nil, result.Snapshot)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
