package repair

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
)

// FuzzRepair holds that whatever the input is, the result is accepted, or the file is refused with a reason; that a file
// which was accepted is left alone; and that what was mended needs no mending.
func FuzzRepair(f *testing.F) {
	for _, file := range seeds(f) {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for options := range uint8(18) {
			f.Add(string(content), options)
		}
	}
	f.Add(`{"vertices":{"a":{"x":[{"#ref":"b"},1],},"c":{"#ref":"a"}}}`, uint8(1))
	f.Add(`{"vertices":{"main":{"x":[{"#ref":"mian"},{"#ref":"nothing","property":"p"}]},"c":{"#ref":"a"}}}`, uint8(10))
	f.Add("\ufeff{vertices:{a:{/**/ b=True}}}", uint8(0))
	f.Fuzz(func(t *testing.T, src string, choice uint8) {
		if len(src) > 1<<16 {
			t.Skip("long inputs find nothing that short ones do not")
		}
		options := Options{
			Drop:     []Drop{"", DropReferences, DropResources}[choice%3],
			Pending:  []Pending{"", DropDead, DropAll}[choice/3%3],
			Retarget: choice/9%2 == 1,
		}
		holds(t, src, options)
	})
}

func seeds(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no seeds: %v", err)
	}
	return files
}

// holds checks what must be true of every repair.
func holds(t *testing.T, src string, options Options) {
	t.Helper()
	accepted, parseError := lumigl.Parse(src)
	result, err := Repair(src, options)
	if err != nil {
		var refusal *RefusedError
		if !errors.As(err, &refusal) || len(refusal.Invalid.Faults) == 0 {
			t.Fatalf("not a refusal with a reason: %v", err)
		}
		if parseError == nil {
			t.Fatalf("an accepted file is refused: %v", err)
		}
		for _, fault := range refusal.Invalid.Faults {
			if fault.Offset < 0 || fault.Offset > len(src) {
				t.Fatalf("a fault at %d in a text of %d bytes", fault.Offset, len(src))
			}
		}
		return
	}
	again, err := lumigl.Parse(string(result.Text))
	if err != nil {
		t.Fatalf("the result is not accepted: %v\n%s", err, result.Text)
	}
	text, err := lumigl.Append(nil, again)
	if err != nil || !bytes.Equal(text, result.Text) {
		t.Fatalf("the result is not canonical: %v\n%s", err, result.Text)
	}
	if parseError == nil && options.Pending == "" {
		text, err := lumigl.Append(nil, accepted)
		if err != nil || !bytes.Equal(text, result.Text) || len(result.Steps) > 0 {
			t.Fatalf("an accepted file was changed (%v):\n%v\n%s\n%s", err, result.Steps, text, result.Text)
		}
	}
	if parseError != nil && len(result.Steps) == 0 {
		t.Fatal("a faulty file was mended without a word")
	}
	second, err := Repair(string(result.Text), options)
	if err != nil || len(second.Steps) > 0 || !bytes.Equal(second.Text, result.Text) {
		t.Fatalf("a second repair finds more to do: %v, %v", err, second)
	}
}
