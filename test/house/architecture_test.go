package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// docs/architecture.md mentions every package, and every file it names exists.
func TestArchitecture(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../docs/architecture.md"))(t))
	quoted := regexp.MustCompile("`([^`]+)`")
	var lines [][]string // the quoted words on each line
	for line := range strings.Lines(page) {
		var words []string
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			words = append(words, m[1])
		}
		lines = append(lines, words)
	}
	has := func(names ...string) bool {
		for _, words := range lines {
			all := " " + strings.Join(words, " ") + " "
			found := true
			for _, name := range names {
				found = found && strings.Contains(all, " "+name+" ")
			}
			if found {
				return true
			}
		}
		return false
	}
	for _, name := range sorted(list(t)) {
		rel, ours := strings.CutPrefix(name, module+"/")
		if !ours || strings.HasPrefix(rel, "examples/") || strings.HasPrefix(rel, "test/") || strings.Contains(rel, "/internal/") || strings.Contains(rel, "/testdata/") {
			continue
		}
		if !has(rel) && !has(path.Dir(rel), path.Base(rel)) {
			t.Errorf("docs/architecture.md does not mention %s", rel)
		}
	}
	_, ways, ok := strings.Cut(page, "## Three walkthroughs")
	if !ok {
		t.Fatal("docs/architecture.md has no section \"Three walkthroughs\"")
	}
	for line := range strings.Lines(ways) {
		words := quoted.FindAllStringSubmatch(line, -1)
		if !strings.HasPrefix(line, "| `") || len(words) < 2 {
			continue
		}
		for _, file := range words[1:] {
			if _, err := os.Stat(filepath.Join("../..", words[0][1], file[1])); strings.Contains(file[1], ".") && err != nil {
				t.Errorf("docs/architecture.md names a missing file: %s/%s", words[0][1], file[1])
			}
		}
	}
}
