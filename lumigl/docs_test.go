package lumigl_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	explained "github.com/lumi-idl/lumi/lumigl/codes"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var (
	blocks  = regexp.MustCompile("(?s)```json\n(.*?)\n```")
	wrongs  = regexp.MustCompile("(?s)Wrong:\n\n```json\n(.*?)\n```")
	quoteds = regexp.MustCompile("(?s)Wrong, as a string of Go:\n\n```go\n(.*?)\n```")
	rights  = regexp.MustCompile("(?s)Right:\n\n```json\n(.*?)\n```")
)

func TestDocs(t *testing.T) {
	examples := blocks.FindAllStringSubmatch(string(must.Get(os.ReadFile("../docs/lumigl.md"))(t)), -1)
	if len(examples) != 4 {
		t.Errorf("docs/lumigl.md has %d examples, want 4", len(examples))
	}
	for _, example := range examples {
		doc, err := lumigl.Parse(example[1])
		if err != nil {
			t.Errorf("Parse of an example in docs/lumigl.md: %v\n%s", err, example[1])
			continue
		}
		if text, err := lumigl.Append(nil, doc); err != nil || string(text) != example[1]+"\n" {
			t.Errorf("Append of an example in docs/lumigl.md = %v\n%s\nwant\n%s", err, text, example[1])
		}
	}
}

func TestCatalog(t *testing.T) {
	for _, e := range explained.Faults() {
		if e.Code == string(lumigl.SizeFault) || e.Code == string(lumigl.DepthFault) {
			continue // examples would be too long
		}
		var err error
		wrong, right := "", rights.FindStringSubmatch(e.Text)
		if m := wrongs.FindStringSubmatch(e.Text); m != nil {
			wrong = m[1]
		} else if m := quoteds.FindStringSubmatch(e.Text); m != nil {
			if wrong, err = strconv.Unquote(m[1]); err != nil {
				t.Errorf("code %s: cannot unquote the wrong example: %v", e.Code, err)
			}
		}
		found := faultsOf(t, wrong)
		if len(found) == 0 || right == nil {
			t.Errorf("code %s: the wrong example has no faults, or there is no right example", e.Code)
			continue
		}
		for _, f := range found {
			if string(f.Code) != e.Code {
				t.Errorf("code %s: the wrong example has a fault with code %s: %s", e.Code, f.Code, f.Error())
			}
		}
		if _, err := lumigl.Parse(right[1]); err != nil {
			t.Errorf("code %s: Parse of the right example: %v", e.Code, err)
		}
	}
}
