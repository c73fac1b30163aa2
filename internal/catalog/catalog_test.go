package catalog_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lumi-idl/lumi/internal/catalog"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func small() catalog.Catalog {
	files := fstest.MapFS{
		"d/index.txt":  {Data: []byte("Tags\n    Tag\n    Options\n\nNames\n    Name\n")},
		"e/index.txt":  {Data: []byte("Losses\n    Name\n")},
		"e/Name.md":    {Data: []byte("# Name\n\nA name is lost.\n")},
		"d/Tag.md":     {Data: []byte("# Tag\n\nA tag is short.\n\n```go a.go\ntype T int\n\nvar t T\n```\n\n```json\n{}\n```\n")},
		"d/Name.md":    {Data: []byte("# Name\n\nA name is long.\n")},
		"d/Options.md": {Data: []byte("# Options\n\nNo options.\n")},
	}
	return append(catalog.New("fault", files, "d"), catalog.New("loss", files, "e")...)
}

func TestSelect(t *testing.T) {
	chosen := must.Get(small().Select([]string{"[tag]", "NAME"}, "x explain"))(t)
	const want = `# Tag (fault)

A tag is short.

a.go:

    type T int

    var t T

    {}

# Name (fault)

A name is long.

# Name (loss)

A name is lost.
`
	expect.Equal(t, want, chosen.Explain(func(e catalog.Entry) string { return "# " + e.Code + " (" + e.About + ")" }))
	for code, want := range map[string]string{
		"optoins": `unknown code "optoins"; did you mean "Options"?`,
		"giraffe": `unknown code "giraffe"; 'x explain' lists all codes`,
		"":        `unknown code ""; 'x explain' lists all codes`,
		"../Tag":  `unknown code "../Tag"; 'x explain' lists all codes`,
	} {
		if _, err := small().Select([]string{"Tag", code}, "x explain"); err == nil || err.Error() != want {
			t.Errorf("Select(%q) = %v, want %s", code, err, want)
		}
	}
}

func TestList(t *testing.T) {
	const want = "TAGS:\n    Tag\n    Options\n\nNAMES:\n    Name\n\nLOSSES:\n    Name\n\n"
	expect.Equal(t, want, small().List(strings.ToUpper))
	if got := strings.Join(small().Codes(), " "); got != "Tag Options Name" {
		t.Errorf("Codes = %s, want Tag Options Name", got)
	}
}

func TestNewMissingEntry(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New did not panic, want a panic for a code without a file")
		}
	}()
	catalog.New("fault", fstest.MapFS{"d/index.txt": {Data: []byte("Tags\n    Tag\n")}}, "d")
}
