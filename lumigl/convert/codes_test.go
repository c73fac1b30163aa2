package convert_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCodes holds that every kind of loss occurs in a golden file.
func TestCodes(t *testing.T) {
	source := read(t, "losses.go")
	files, err := filepath.Glob("testdata/*/*.losses")
	if err != nil {
		t.Fatal(err)
	}
	var losses strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		losses.Write(content)
	}
	codes := regexp.MustCompile(`Code = "([a-z-]+)"`).FindAllStringSubmatch(source, -1)
	if len(codes) < 20 {
		t.Fatalf("found only %d codes", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(losses.String(), " "+code[1]+": ") {
			t.Errorf("no golden file has %q", code[1])
		}
	}
}
