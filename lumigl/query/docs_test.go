package query_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/query.md"))(t)
	_, rest, _ := strings.Cut(string(text), "```json\n")
	source, rest, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("docs/query.md contains no snapshot")
	}
	s := must.Get(lumigl.ParseSnapshot(source))(t)
	x := query.New(s.Base())
	rows := regexp.MustCompile("(?m)^\\| `(.*)` \\| (.*) \\|$").FindAllStringSubmatch(rest, -1)
	if len(rows) < 10 {
		t.Errorf("docs/query.md contains %d examples, want at least 10", len(rows))
	}
	for _, row := range rows {
		e, err := query.Compile(row[1])
		if err != nil {
			t.Errorf("Compile(%s): %v", row[1], err)
			continue
		}
		found, err := x.Select(e)
		var names []string
		for _, v := range found {
			names = append(names, v.URN().Name())
		}
		got := strings.Join(names, ", ")
		if got == "" {
			got = "nothing"
		}
		if err != nil || got != row[2] {
			t.Errorf("Select(%s) = %s, %v, want %s", row[1], got, err, row[2])
		}
	}
}
