package convert_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestCodes(t *testing.T) {
	source := read(t, "losses.go")
	files := must.Get(filepath.Glob("testdata/*/*.losses"))(t)
	var losses strings.Builder
	for _, name := range files {
		losses.Write(must.Get(os.ReadFile(name))(t))
	}
	codes := regexp.MustCompile(`Code = "([a-z-]+)"`).FindAllStringSubmatch(source, -1)
	if len(codes) < 20 {
		t.Fatalf("found %d codes, want at least 20", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(losses.String(), " "+code[1]+": ") {
			t.Errorf("no golden file has a loss with code %q", code[1])
		}
	}
}
