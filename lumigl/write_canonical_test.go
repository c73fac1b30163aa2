package lumigl_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCanonical(t *testing.T) {
	names, err := filepath.Glob("testdata/valid/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("Glob returned no files: %v", err)
	}
	for _, name := range names {
		src := must.Get(os.ReadFile(name))(t)
		doc, err := lumigl.Parse(string(src))
		if err != nil {
			t.Fatalf("Parse(%s): %v", name, err)
		}
		if again, err := lumigl.Append(nil, doc); err != nil || string(again) != string(src) {
			t.Errorf("Append(%s) = %v\n%s\nwant the original text", name, err, again)
		}
	}
}
