package codes_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/internal/catalog"
	"github.com/lumi-idl/lumi/lumigl/codes"
	"github.com/lumi-idl/lumi/lumigl/convert"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCatalogsComplete(t *testing.T) {
	constants := regexp.MustCompile(`(?m)^\t\w+(?:Fault|Loss) +Code = "(.*?)"`)
	for _, test := range []struct {
		declared, entries string
		catalog           catalog.Catalog
	}{
		{"../fault.go", "faults/*.md", codes.Faults()},
		{"../convert/losses.go", "losses/*.md", codes.Losses()},
	} {
		source := must.Get(os.ReadFile(test.declared))(t)
		var want []string
		for _, m := range constants.FindAllStringSubmatch(string(source), -1) {
			want = append(want, m[1])
		}
		if diff := cmp.Diff(want, test.catalog.Codes()); diff != "" {
			t.Errorf("codes mismatch (-%s +catalog):\n%s", test.declared, diff)
		}
		files := must.Get(filepath.Glob(test.entries))(t)
		for _, file := range files {
			if code := strings.TrimSuffix(filepath.Base(file), ".md"); !slices.Contains(want, code) {
				t.Errorf("%s does not belong to a declared code", file)
			}
		}
		for _, e := range test.catalog {
			if strings.HasPrefix(e.Text, "#") || len(e.Text) < 10 || !strings.HasSuffix(e.Text, "\n") {
				t.Errorf("%s %s: the entry must consist of a heading with the code, and text: %q", e.About, e.Code, e.Text)
			}
		}
	}
}

func TestLost(t *testing.T) {
	for _, e := range codes.Losses() {
		l := convert.Loss{Code: convert.Code(e.Code)}
		if strings.HasPrefix(e.Group, "Lost ") != l.Lost() {
			t.Errorf("Lost of %s = %t, but it is listed under %q", e.Code, l.Lost(), e.Group)
		}
	}
}
