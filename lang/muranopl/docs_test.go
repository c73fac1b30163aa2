package muranopl_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestPage compares the files in docs/muranopl.md with the inputs of its commands and its code with the example of this
// package. It also checks the page's other classes. The tests of cmd/lumi run the commands.
func TestPage(t *testing.T) {
	var files []string
	for _, pattern := range []string{"murano/*.yaml", "env.json"} {
		found := must.Get(filepath.Glob("../../cmd/lumi/testdata/examples/" + pattern))(t)
		files = append(files, found...)
	}
	var known []string
	for _, file := range append(files, "example_test.go", "../../docs/muranopl.md") {
		text := must.Get(os.ReadFile(file))(t)
		known = append(known, strings.ReplaceAll(string(text), "\t", "")) // only Go code contains tabs
	}
	page, known := known[len(known)-1], known[:len(known)-1]
	blocks := regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(page, -1)
	found := 0
	for _, block := range blocks {
		if slices.ContainsFunc(known, func(text string) bool { return strings.Contains(text, block[2]) }) {
			found++
			continue
		}
		trees, err := catalog.Decode("docs/muranopl.md", []byte(block[2]))
		if err != nil || block[1] != "yaml" {
			t.Errorf("a block of docs/muranopl.md is in no file (Decode error: %v):\n%s", err, block[2])
			continue
		}
		classes := muranopl.Declarations{"A": {Name: "A", Tree: trees[0]}}
		for _, e := range muranopl.Check(muranopl.Resolvers{classes, desired.Library(nil)}, []string{"A"}, muranopl.Known{}) {
			t.Error(e)
		}
	}
	if found != len(files)+1 {
		t.Errorf("%d blocks are in files, want %d", found, len(files)+1)
	}
}
