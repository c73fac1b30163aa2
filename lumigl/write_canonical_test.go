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
		t.Fatal("no files: ", err)
	}
	for _, name := range names {
		src := must.Get(os.ReadFile(name))(t)
		doc, err := lumigl.Parse(string(src))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if again, err := lumigl.Append(nil, doc); err != nil || string(again) != string(src) {
			t.Errorf("%s changed to\n%s%v", name, again, err)
		}
	}
}
