package yaql

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLibraryReference evaluates the expressions in testdata/reference/*.yaql, one a line, and compares values and kinds
// of errors with the reference.
func TestLibraryReference(t *testing.T) {
	ref := startReference(t)
	files, err := filepath.Glob("testdata/reference/*.yaql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	opts := DefaultOptions()
	opts.Delegates = true
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			source := lines.Text()
			if source == "" || strings.HasPrefix(source, "#") {
				continue
			}
			want := ref.ask(map[string]any{
				"expression": source, "delegates": true, "options": map[string]any{"convertOutputData": true},
			})
			got, kind, err := evaluateEncoded(t, source, nil, opts)
			if kind != kinds[want.Error] || got != want.Value {
				t.Errorf("%s: %s\n is %s%v, in the reference %s%s %s", filepath.Base(name), source, got, orNothing(err), want.Value, want.Error, want.Message)
			}
		}
		f.Close()
	}
}
