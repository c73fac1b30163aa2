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
		t.Errorf("found %d examples", len(examples))
	}
	for _, example := range examples {
		doc, err := lumigl.Parse(example[1])
		if err != nil {
			t.Errorf("%s\n%v", example[1], err)
			continue
		}
		if text, err := lumigl.Append(nil, doc); err != nil || string(text) != example[1]+"\n" {
			t.Errorf("%s\nis written as\n%s\n%v", example[1], text, err)
		}
	}
}

func TestCatalog(t *testing.T) {
	for _, e := range explained.Faults() {
		if e.Code == string(lumigl.SizeFault) || e.Code == string(lumigl.DepthFault) {
			continue // too long for examples
		}
		var err error
		wrong, right := "", rights.FindStringSubmatch(e.Text)
		if m := wrongs.FindStringSubmatch(e.Text); m != nil {
			wrong = m[1]
		} else if m := quoteds.FindStringSubmatch(e.Text); m != nil {
			if wrong, err = strconv.Unquote(m[1]); err != nil {
				t.Errorf("%s: %v", e.Code, err)
			}
		}
		found := faultsOf(t, wrong)
		if len(found) == 0 || right == nil {
			t.Errorf("%s: the wrong example has no errors, or the right one is missing", e.Code)
			continue
		}
		for _, f := range found {
			if string(f.Code) != e.Code {
				t.Errorf("%s: the wrong example also has the error %s: %s", e.Code, f.Code, f.Error())
			}
		}
		if _, err := lumigl.Parse(right[1]); err != nil {
			t.Errorf("%s: the right example has errors: %v", e.Code, err)
		}
	}
}
