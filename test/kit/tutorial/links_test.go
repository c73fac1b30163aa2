package tutorial_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// link matches a relative link to a file in the repository.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)\s]*)?\)`)

func TestLinks(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"../../../*.md", "../../../docs/*.md", "../../../docs/*/*.md", "../../../examples/*/*.md"} {
		found := must.Get(filepath.Glob(pattern))(t)
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		for i, line := range strings.Split(string(text), "\n") {
			for _, match := range link.FindAllStringSubmatch(line, -1) {
				links++
				if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(match[1]))); err != nil {
					t.Errorf("%s:%d: link to missing file %s", page, i+1, match[1])
				}
			}
		}
	}
	if links == 0 {
		t.Error("found no links, want at least one")
	}
}
