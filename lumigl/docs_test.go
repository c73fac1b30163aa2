package lumigl_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
)

var (
	blocks   = regexp.MustCompile("(?s)```json\n(.*?)\n```")
	sections = regexp.MustCompile(`(?m)^#### (\S+)$`)
	wrongs   = regexp.MustCompile("(?s)Wrong:\n\n```json\n(.*?)\n```")
	quoteds  = regexp.MustCompile("(?s)Wrong, as a string of Go:\n\n```go\n(.*?)\n```")
	rights   = regexp.MustCompile("(?s)Right:\n\n```json\n(.*?)\n```")
)

// TestDocs holds docs/lumigl.md to what it says: the examples of the language are accepted and canonical, and there is an
// entry for each code, whose wrong example has that fault and no other, and whose right one has none.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/lumigl.md")
	if err != nil {
		t.Fatal(err)
	}
	language, catalog, ok := strings.Cut(string(page), "## What is wrong with a file")
	if !ok {
		t.Fatal("there is no catalog")
	}
	examples := blocks.FindAllStringSubmatch(language, -1)
	if len(examples) != 3 {
		t.Errorf("%d examples of the language", len(examples))
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
	entries := map[string]string{}
	places := sections.FindAllStringSubmatchIndex(catalog, -1)
	for i, place := range places {
		end := len(catalog)
		if i+1 < len(places) {
			end = places[i+1][0]
		}
		entries[catalog[place[2]:place[3]]] = catalog[place[1]:end]
	}
	for _, code := range codes(t) {
		entry, ok := entries[code]
		if !ok {
			t.Errorf("there is no entry for the code %s", code)
			continue
		}
		delete(entries, code)
		if code == string(lumigl.SizeFault) || code == string(lumigl.DepthFault) {
			continue // Their examples would fill the page.
		}
		wrong, right := "", rights.FindStringSubmatch(entry)
		if m := wrongs.FindStringSubmatch(entry); m != nil {
			wrong = m[1]
		} else if m := quoteds.FindStringSubmatch(entry); m != nil {
			if wrong, err = strconv.Unquote(m[1]); err != nil {
				t.Errorf("%s: %v", code, err)
			}
		}
		found := faultsOf(t, wrong)
		if len(found) == 0 || right == nil {
			t.Errorf("%s: the wrong example is right, or there is no right one", code)
			continue
		}
		for _, f := range found {
			if string(f.Code) != code {
				t.Errorf("%s: the wrong example also has the fault %s: %s", code, f.Code, f.Error())
			}
		}
		if _, err := lumigl.Parse(right[1]); err != nil {
			t.Errorf("%s: the right example is wrong: %v", code, err)
		}
	}
	for code := range entries {
		t.Errorf("there is an entry for %s, which is no code", code)
	}
}
