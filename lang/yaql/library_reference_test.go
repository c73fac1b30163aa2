package yaql

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestLibraryReference evaluates the expressions in testdata/reference/*.yaql, one per line, and compares the values
// and error kinds with the reference.
func TestLibraryReference(t *testing.T) {
	ref := startReference(t)
	files, err := filepath.Glob("testdata/reference/*.yaql")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/reference contains no .yaql files: %v", err)
	}
	opts := DefaultOptions()
	opts.Delegates = true
	for _, name := range files {
		f := must.Get(os.Open(name))(t)
		for lines := bufio.NewScanner(f); lines.Scan(); {
			source := lines.Text()
			if source == "" || strings.HasPrefix(source, "#") {
				continue
			}
			compare(t, ref, filepath.Base(name), source, nil, opts)
		}
		f.Close()
	}
}

// TestReferenceSuite repeats the evaluations in the reference's own tests. Functions registered by these tests are
// unknown here.
func TestReferenceSuite(t *testing.T) {
	ref := startReference(t)
	var evaluations []struct {
		Expression string
		Data       any
	}
	d := json.NewDecoder(strings.NewReader(ref.ask(map[string]any{"suite": true}).Value))
	d.UseNumber()
	must.Do(t, d.Decode(&evaluations))
	if len(evaluations) < 500 {
		t.Errorf("the suite has %d evaluations, want at least 500", len(evaluations))
	}
	opts := DefaultOptions()
	opts.Delegates, opts.LimitIterators, opts.MemoryQuota = true, 100, 20_000 // as in the tests of the reference
	varies := regexp.MustCompile(`\b(now|random|characters)\(`)
	for _, e := range evaluations {
		if !varies.MatchString(e.Expression) {
			compare(t, ref, "tests", e.Expression, e.Data, opts)
		}
	}
}

func compare(t *testing.T, ref *reference, where, source string, data any, opts Options) {
	want := ref.ask(map[string]any{
		"expression": source, "data": data, "delegates": true,
		"options": map[string]any{"convertOutputData": true, "limitIterators": opts.LimitIterators, "memoryQuota": opts.MemoryQuota},
	})
	got, kind, err := evaluateEncoded(t, source, data, opts)
	if (kind != kinds[want.Error] || got != want.Value) && !deliberate(source, want, kind, err, opts) {
		t.Errorf("%s: Evaluate(%s) =\n%s%v\nwant\n%s%s %s", where, source, got, orNothing(err), want.Value, want.Error, want.Message)
	}
}
