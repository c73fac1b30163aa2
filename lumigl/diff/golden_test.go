package diff_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestGolden compares the two documents in each archive in testdata with each form of output in the archive. The file
// replaces lists one type and path per line.
func TestGolden(t *testing.T) {
	golden.Archives(t, "testdata/*.txtar", compareForms)
}

func compareForms(t *testing.T, archive *txtar.Archive) {
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	old, new := parse(t, files["old"]), parse(t, files["new"])
	replaces := diff.Replaces{}
	for line := range strings.Lines(files["replaces"]) {
		token, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		replaces[tokens.Type(token)] = append(replaces[tokens.Type(token)], path)
	}
	d := must.Get(diff.Compare(old, new, diff.Options{Replaces: replaces}))(t)
	forms := map[string]func(*bytes.Buffer) error{
		"text":  func(b *bytes.Buffer) error { return d.WriteText(b, diff.TextOptions{Context: 1}) },
		"color": func(b *bytes.Buffer) error { return d.WriteText(b, diff.TextOptions{Context: 1, Color: true}) },
		"stat":  func(b *bytes.Buffer) error { return d.WriteStat(b, diff.TextOptions{}) },
		"json":  func(b *bytes.Buffer) error { return d.WriteJSON(b) },
	}
	for i, f := range archive.Files {
		write := forms[f.Name]
		if write == nil {
			continue
		}
		var b bytes.Buffer
		must.Do(t, write(&b))
		// Make escape sequences visible so that the archive is text.
		got := strings.ReplaceAll(b.String(), "\x1b", "␛")
		golden.Part(t, &archive.Files[i], got)
		if strings.Contains(got, "hunter") {
			t.Errorf("%s reveals a secret", f.Name)
		}
	}
}

func parse(t testing.TB, src string) lumigl.Document {
	t.Helper()
	return must.Get(lumigl.Parse(src))(t)
}

func TestManual(t *testing.T) {
	archive := must.Get(txtar.ParseFile("testdata/manual.txtar"))(t)
	manual := must.Get(os.ReadFile("../../docs/diff.md"))(t)
	var shown strings.Builder
	for line := range strings.Lines(string(archive.Files[len(archive.Files)-1].Data)) {
		if line != "\n" {
			shown.WriteString("    ")
		}
		shown.WriteString(line)
	}
	if !strings.Contains(string(manual), shown.String()) {
		t.Errorf("docs/diff.md does not contain the actual output:\n%s", shown.String())
	}
}
