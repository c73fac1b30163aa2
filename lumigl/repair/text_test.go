package repair

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestText mends JSON that is no graph, and leaves alone what takes a guess.
func TestText(t *testing.T) {
	for src, want := range map[string]string{
		"[[1] [2],]":      "[[1], [2]]",
		`{"a": 1,}`:       `{"a": 1}`,
		`{"a": NaN, b:1}`: `{"a": NaN, "b":1}`,
		`{"a": 1}`:        `{"a": 1}`,
	} {
		got, steps := Text(src)
		if got != want || (len(steps) > 0) != (got != src) {
			t.Errorf("%s: got %s, %v", src, got, steps)
		}
		for _, s := range steps {
			if s.Line != 1 || s.Column != s.Offset+1 {
				t.Errorf("%s: %+v", src, s)
			}
		}
	}
}

func TestDone(t *testing.T) {
	for message, want := range map[string]string{
		"remove the comma: trailing comma":                 "removed the comma: trailing comma",
		"write true: True is not JSON; it is spelled true": "wrote true: True is not JSON; it is spelled true",
	} {
		if got := (Step{Message: message}).Done(); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", message, got, want)
		}
	}
}

// TestEveryFixIsDone holds that the past of what each fix says is known.
func TestEveryFixIsDone(t *testing.T) {
	files, err := filepath.Glob("../testdata/faults/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range txtar.Parse(text).Files {
			_, steps := Text(string(file.Data))
			for _, s := range steps {
				tried++
				if s.Done() == s.Message && !strings.HasPrefix(s.Message, "put ") {
					t.Errorf("%s: %s: this has no past: %s", name, file.Name, s.Message)
				}
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d fixes were tried", tried)
	}
}
