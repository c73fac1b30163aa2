package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestSuggestions applies every suggestion that has a replacement, for each case in testdata/rules. The suggestions
// must fix their errors and cause no new ones except unused imports.
func TestSuggestions(t *testing.T) {
	cases, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("Glob found no cases, error %v", err)
	}
	var ran, followed atomic.Int32
	t.Cleanup(func() {
		if all := int(ran.Load()) == len(cases); all && followed.Load() < 20 {
			t.Errorf("suggestions applied in %d cases, want at least 20", followed.Load())
		}
	})
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ran.Add(1)
			if strings.Contains(name, "imports_mistyped") {
				t.Skip("a corrected import reveals errors that it hid before")
			}
			archive := must.Get(txtar.ParseFile(name))(t)
			_, opts := prepare(t, string(archive.Comment), archive.Files[:len(archive.Files)-1])
			_, before, err := load(t, opts)
			if err != nil {
				t.Skip(err)
			}
			known, applied := map[string]bool{}, map[string]bool{}
			var next diag.Position
			for i := range before { // from the end, so that positions stay valid
				d := before[len(before)-1-i]
				known[rule(d)] = true
				overlaps := d.Span.Start.File == next.File && (d.Span.End.Line > next.Line ||
					d.Span.End.Line == next.Line && d.Span.End.Column > next.Column)
				if !overlaps && apply(t, d) {
					applied[rule(d)] = true
					next = d.Span.Start
				}
			}
			if len(applied) == 0 {
				t.Skip("no suggestion contains a replacement")
			}
			followed.Add(1)
			_, after, err := load(t, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range after {
				if (applied[rule(d)] || !known[rule(d)]) && !strings.HasSuffix(d.Message, "imported and not used") {
					t.Errorf("Load after applying all suggestions reported: %s", format(d))
				}
			}
		})
	}
}

// rule identifies a diagnostic by its code and line.
func rule(d diag.Diagnostic) string {
	return fmt.Sprintf("%s:%d: %s: %s", d.Span.Start.File, d.Span.Start.Line, d.Code, d.Message)
}

// replacements matches suggestions that contain a replacement for the source text.
var replacements = regexp.MustCompile(`^(?:write ((?:'[^']*'|.)+?)(?:[,;] .*| to .*)?|did you mean (\S+)\?)$`)

// apply replaces the source text of d if its suggestion contains a replacement. It reports whether it did.
func apply(t *testing.T, d diag.Diagnostic) bool {
	t.Helper()
	m := replacements.FindStringSubmatch(d.Suggestion)
	if m == nil {
		return false
	}
	src := must.Get(os.ReadFile(d.Span.Start.File))(t)
	lines := strings.SplitAfter(string(src), "\n")
	offset := func(p diag.Position) int { return len(strings.Join(lines[:p.Line-1], "")) + p.Column - 1 }
	from, to := offset(d.Span.Start), offset(d.Span.End)
	replacement := m[1] + m[2]
	if src[from] == '"' {
		if d.Code == diag.UnknownOption {
			return false // in an interpreted string, the span covers the whole tag
		}
		replacement = `"` + replacement + `"` // an import path
	}
	text := string(src[:from]) + replacement + string(src[to:])
	must.Do(t, os.WriteFile(d.Span.Start.File, []byte(text), 0o644))
	return true
}
