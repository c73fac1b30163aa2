package providertest_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/runtime/providertest"
)

var update = flag.Bool("update", false, "write the reports that come out now to the files that hold them")

// run runs a test, which must fail, and returns its output.
func run(t *testing.T, test func(t providertest.TB)) string {
	t.Helper()
	var text strings.Builder
	say := func(line string) { text.WriteString(line + "\n") }
	r := &providertest.Trial{Ctx: t.Context(), Report: say, Log: say}
	r.Do(func() { test(r) })
	r.End()
	if !r.Failed() {
		t.Error("the test passed, want a failure")
	}
	return text.String()
}

// said returns a report without the list of calls.
func said(report string) string {
	for _, heading := range []string{"all calls:\n", "calls of "} {
		report, _, _ = strings.Cut(report, heading)
	}
	return report
}

// golden compares a report with its golden file.
func golden(t *testing.T, name, report string) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(report), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report); diff != "" {
		t.Errorf("%s (-want +got); run with -update if this is intended:\n%s", path, diff)
	}
}
