// Package pages_test executes the commands on pages of the documentation.
package pages_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

// The snippets in docs/providers.md, docs/providers, and docs/engines.md form a module that builds and passes the tests in testdata.
func TestProviders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	t.Parallel()
	checkout := must.Get(filepath.Abs("../../.."))(t)
	r := &tutorial.Reader{Dir: t.TempDir(), Env: tutorial.Environment(t, checkout)}
	do := func(page string) {
		text := read(t, filepath.Join(checkout, "docs", page))
		steps, err := tutorial.Steps(text, "")
		if err != nil {
			t.Fatalf("docs/%s: %v", page, err)
		}
		for _, step := range steps {
			if step.Kind == tutorial.WriteFile && !strings.Contains(text, "`"+step.File+"`") {
				t.Errorf("docs/%s:%d: the text must mention %s, since the name in the fence is not rendered", page, step.Line, step.File)
			}
		}
		r.Page = "docs/" + page
		r.Do(t, steps...)
	}
	for _, page := range pages {
		if found := indented.FindString(read(t, filepath.Join(checkout, "docs", page))); found != "" {
			t.Errorf("docs/%s: code block without a fence:\n%s", page, found)
		}
		do(page)
	}
	must.Do(t, os.CopyFS(r.Dir, os.DirFS("testdata")))
	r.Page = "testdata"
	r.Do(t, tutorial.Step{Kind: tutorial.RunCommands, Text: "cidlc idl --out-provider >&2\n" +
		"gofmt -l . >&2\n" + "test -z \"$(gofmt -l .)\"\n" + "go get -t ./...\n" + "go vet ./...\n" + "go test ./...\n"})
	do("engines.md") // in a module of its own
}

// pages lists the pages in reading order. Each page extends the module of the previous one.
var pages = []string{
	"providers.md", "providers/updates.md", "providers/failures.md", "providers/references.md", "providers/secrets.md",
	"providers/functions.md",
}

func TestAllPages(t *testing.T) {
	found := must.Get(filepath.Glob("../../../docs/providers/*.md"))(t)
	want := map[string]bool{}
	for _, page := range found {
		want["providers/"+filepath.Base(page)] = true
	}
	if got := slices.Sorted(slices.Values(pages[1:])); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("pages = %q, want %q", got, slices.Sorted(maps.Keys(want)))
	}
}

// indented matches a code block without a fence.
var indented = regexp.MustCompile(`(?m)^\n {4}\S.*`)

func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}
