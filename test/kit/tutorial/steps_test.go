package tutorial_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	const markdown = "# Title\n```sh\nnot here\n```\n## Do\ntext\n```sh\nls\n## no heading\n```\n```go a/b.go\n" +
		"package a\n```\n```go a/b.go more\nvar b int\n```\n```text\nout\n```\n## Then\n```\nnor here\n```\n"
	got := must.Get(tutorial.Steps(markdown, "Do"))(t)
	want := []tutorial.Step{
		{Line: 7, Kind: tutorial.RunCommands, Text: "ls\n## no heading\n"},
		{Line: 11, Kind: tutorial.WriteFile, File: "a/b.go", Text: "package a\n"},
		{Line: 14, Kind: tutorial.AppendFile, File: "a/b.go", Text: "var b int\n"},
		{Line: 17, Kind: tutorial.ExpectOutput, Text: "out\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Steps of a section (-want +got):\n%s", diff)
	}
}

func TestStepsWholePage(t *testing.T) {
	t.Parallel()
	got, err := tutorial.Steps("# Title\n```sh\nls\n```\n## Do\n```text\nout\n```\n", "")
	want := []tutorial.Step{
		{Line: 2, Kind: tutorial.RunCommands, Text: "ls\n"},
		{Line: 6, Kind: tutorial.ExpectOutput, Text: "out\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Steps of a page: error %v (-want +got):\n%s", err, diff)
	}
}

func TestStepsInvalid(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"## Do\n```\nls\n```\n":   `line 2: info string must be sh, text, or a language and a file path, got ""`,
		"## Do\n```sh\nls\n":      "line 2: unterminated block",
		"## Undo\n```sh\nls\n```": `no code blocks in section "Do"`,
	} {
		if _, err := tutorial.Steps(markdown, "Do"); err == nil || err.Error() != want {
			t.Errorf("Steps(%q) error = %v, want %s", markdown, err, want)
		}
	}
}

func TestResembles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a\n  b\n", "a\nb", true},
		{"done in 0s", "done in 1.25s", true},
		{"a: done", "a: done in 100ms", true},
		{"done", "done in 12s", true},
		{"ok  \ta\t0.014s", "ok  \ta\t(cached)", true},
		{"3 files", "4 files", false},
		{"a\n…\nz", "a\nb\nc\nz", true},
		{"a\n…\nz", "a\nz", true},
		{"a\n…\nz", "a\nb", false},
		{"id … of (x)", "id AB12 of (x)", true},
		{"id … of (x)", "id AB12", false},
		{"a", "a\nb", false},
		{"a", "go: downloading b\na", true},
	} {
		if got := tutorial.Resembles(c.want, c.got); got != c.same {
			t.Errorf("Resembles(%q, %q) = %t, want %t", c.want, c.got, got, c.same)
		}
	}
}
