package local_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// A program for existing files type-checks in strict mode, and its plan only imports them. Neither the next plan nor the one
// without the option import changes anything.
func TestImport(t *testing.T) {
	t.Parallel()
	checkout, bin := must.Get(filepath.Abs("../.."))(t), t.TempDir()
	commands.Build(t, checkout, bin, "cmd/lumi", "examples/local/provider/lumi-resource-local")
	programs, _ := node.Workspace(t, checkout, "local")
	site := filepath.Join(programs, "site")
	lumi := func(args ...string) string { return node.Run(t, programs, filepath.Join(bin, "lumi"), args...) }
	must.Do(t,
		os.MkdirAll(filepath.Join(site, "pages", "css"), 0o755),
		os.WriteFile(filepath.Join(site, "pages", "a.html"), []byte("<p title=\"a\\b\">\n"), 0o600),
		os.WriteFile(filepath.Join(site, "pages", "css", "site.css"), []byte("p {}\n"), 0o644),
		os.WriteFile(filepath.Join(site, "main.ts"), nil, 0o644),
		os.WriteFile(filepath.Join(programs, "files.json"), []byte(`{"package": "x", "resources": {
			"urn:lumi:dev::x:index::x:y:Tree::css": {"type": "x:y:Tree", "id": "pages/css", "properties": {}},
			"urn:lumi:dev::x:index::x:y:Folder::pages": {"type": "x:y:Folder", "id": "pages", "properties": {}},
			"urn:lumi:dev::x:index::x:y:File::a": {"type": "x:y:File", "id": "pages/a.html", "properties": {}}
		}}`), 0o644),
		os.WriteFile(filepath.Join(programs, "types.yaml"),
			[]byte("x:y:File: local:index:File\nx:y:Folder: local:index:Directory\nx:y:Tree: local:index:Unpacked\n"), 0o644),
	)
	program := strings.Replace(lumi("import", "--from=files.json", "--types=types.yaml"),
		`declare const unpackedArchive: local.UnpackedArgs["archive"]; // define it`,
		`import { Archive } from "@lumi/lumi";
const unpackedArchive = Archive.fromAssets({ "site.css": Asset.fromText("p {}\n") });
import { Asset } from "@lumi/lumi";`, 1)
	write := func(text string) { must.Do(t, os.WriteFile(filepath.Join(site, "main.ts"), []byte(text), 0o644)) }
	write(program)
	node.Compile(t, checkout, programs, "--noEmit")
	if out := lumi("plan"); !strings.Contains(out, "\n3 to import\n") {
		t.Errorf("plan does not import 3 resources and nothing else:\n%s", out)
	}
	lumi("deploy", "--yes")
	lumi("plan", "--check")
	write(regexp.MustCompile(`, \{ import: "[^"]*" \}`).ReplaceAllString(program, ""))
	lumi("plan", "--check")
}
