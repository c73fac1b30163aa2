package catalog_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/internal/catalog"
	"github.com/lumi-idl/lumi/lumigl/codes"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write the indexes of codes in docs")

// TestIndexes checks that the index on each page lists all codes with the first sentences of their entries. An index is
// the text between the comments "codes" and "end of codes".
func TestIndexes(t *testing.T) {
	marks := regexp.MustCompile(`(?s)(<!-- codes: .*? -->\n).*(<!-- end of codes -->)`)
	for _, test := range []struct {
		page, level, entries string
		catalog              catalog.Catalog
	}{
		{"diagnostics.md", "##", "../idl/diag/catalog", diag.Catalog()},
		{"breaking.md", "###", "../idl/breaking/catalog", breaking.Catalog()},
		{"lumigl.md", "###", "../lumigl/codes/faults", codes.Faults()},
		{"convert.md", "###", "../lumigl/codes/losses", codes.Losses()},
	} {
		name := filepath.Join("../../docs", test.page)
		page := must.Get(os.ReadFile(name))(t)
		if !marks.Match(page) {
			t.Fatalf("%s does not contain the comments that mark an index", name)
		}
		want := marks.ReplaceAllStringFunc(string(page), func(found string) string {
			m := marks.FindStringSubmatch(found)
			return m[1] + index(t, test.catalog, test.level, test.entries) + "\n" + m[2]
		})
		if *update {
			must.Do(t, os.WriteFile(name, []byte(want), 0o644))
		} else if want != string(page) {
			t.Errorf("%s: the index is stale; run go test ./internal/catalog -update", name)
		}
	}
}

// sentence matches the first sentence of an entry.
var sentence = regexp.MustCompile(`(?s)^.*?\.\s`)

// index formats the codes below the titles of their groups. Each code links to its entry in folder.
func index(t *testing.T, c catalog.Catalog, level, folder string) string {
	var b strings.Builder
	for i, e := range c {
		if i == 0 || e.Group != c[i-1].Group {
			fmt.Fprintf(&b, "\n%s %s\n\n", level, e.Group)
		}
		file := folder + "/" + e.Code + ".md"
		if _, err := os.Stat(filepath.Join("../../docs", file)); err != nil {
			t.Errorf("missing entry for %s: %v", e.Code, err)
		}
		fmt.Fprintf(&b, "- [`%s`](%s): %s\n", e.Code, file, strings.Join(strings.Fields(sentence.FindString(e.Text)), " "))
	}
	return b.String()
}
