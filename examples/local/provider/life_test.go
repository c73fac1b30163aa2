package local_test

import (
	"os"
	"path/filepath"
	"testing"

	local "github.com/lumi-idl/lumi/examples/local/provider"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

type props = providertest.Properties

func inProcess(t *testing.T) *providertest.Harness {
	t.Helper()
	return providertest.InProcess(t, serve.Plugin{Package: "local", Resources: local.Resources(), Functions: local.Functions()})
}

func TestInProcess(t *testing.T) {
	t.Parallel()
	testLives(t, inProcess)
}

func TestBinary(t *testing.T) {
	t.Parallel()
	testLives(t, func(t *testing.T) *providertest.Harness {
		return providertest.Binary(t, plugin.Command{Path: providertest.Build(t, "./lumi-resource-local")})
	})
}

func testLives(t *testing.T, start func(t *testing.T) *providertest.Harness) {
	t.Run("File", func(t *testing.T) { testFileLife(t, start(t)) })
	t.Run("Directory", func(t *testing.T) { testDirectoryLife(t, start(t)) })
	t.Run("Unpacked", func(t *testing.T) { testUnpackedLife(t, start(t)) })
	t.Run("Command", func(t *testing.T) { testCommandLife(t, start(t)) })
	t.Run("ReadFile", func(t *testing.T) { testReadFile(t, start(t)) })
	t.Run("Random", func(t *testing.T) { testRandomLives(t, start(t)) })
}

func testFileLife(t *testing.T, h *providertest.Harness) {
	dir := t.TempDir()
	h.Unnamed(local.File).Life(t, providertest.Life{
		Create: props{"path": dir + "/a.txt", "content": "one"},
		Expect: props{"mode": "644", "checksum": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"},
		Ignores: []props{
			{"mode": "0644"}, {"path": dir + "/./b/../a.txt"},
		},
		Updates: []providertest.Change{
			{Set: props{"content": "two"}, Changes: []string{`~ content: "one" -> "two"`}},
			{Set: props{"mode": "600"}},
			{Set: props{"content": "", "mode": "755"}},
		},
		Replaces: []providertest.Replacement{{Set: props{"path": dir + "/b.txt"}, Because: []lumi.Path{"path"}}},
	})
	source := filepath.Join(dir, "source")
	must.Do(t, os.WriteFile(source, []byte("three"), 0o600))
	h.Unnamed(local.File).Life(t, providertest.Life{
		Create:    props{"path": dir + "/c.txt", "source": lumi.FileAsset(source), "mode": "600"},
		MayDiffer: []lumi.Path{"content"}, // an import returns the content as text
		Updates: []providertest.Change{
			{Set: props{"source": lumi.TextAsset("four")}},
			{Set: props{"source": nil, "content": "five"}},
		},
	})
	wantEntries(t, dir, "source")
}

func testDirectoryLife(t *testing.T, h *providertest.Harness) {
	dir := t.TempDir()
	h.Unnamed(local.Directory).Life(t, providertest.Life{
		Create:  props{"path": dir + "/a", "force": true},
		Expect:  props{"mode": "755"},
		Ignores: []props{{"mode": "0755"}, {"path": dir + "/a/"}},
		Updates: []providertest.Change{
			{Set: props{"mode": "700"}, Changes: []string{`~ mode: "755" -> "700"`}},
			{Set: props{"force": nil}},
		},
		Replaces: []providertest.Replacement{{Set: props{"path": dir + "/b"}}},
	})
	wantEntries(t, dir)
}

func testUnpackedLife(t *testing.T, h *providertest.Harness) {
	dir := t.TempDir()
	h.Unnamed(local.Unpacked).Life(t, providertest.Life{
		Create: props{"path": dir + "/a", "archive": archive("index.html", "<p>", "css/site.css", "p {}")},
		Expect: props{"files": map[string]string{
			"css/site.css": "48d24394dd48cb69a7b7b0ce8d02320dbd8b404e8ee4f422499a2671dcdac10e",
			"index.html":   "33f2799467177287a29260780a107ac98ea63dd6165f67fcc0d74767d0a82090",
		}},
		Ignores: []props{{"path": dir + "//a"}},
		Updates: []providertest.Change{
			{Set: props{"archive": archive("index.html", "<b>", "css", "now a file")}},
			{Set: props{"archive": archive("css/site.css", "a directory again")}},
			{Set: props{"archive": lumi.AssetArchive(nil)}, Expect: props{"files": map[string]string{}}},
		},
		Replaces: []providertest.Replacement{{Set: props{"path": dir + "/b"}}},
	})
	wantEntries(t, dir)
}

func testCommandLife(t *testing.T, h *providertest.Harness) {
	dir := t.TempDir()
	h.Resource(local.Command, "made").Life(t, providertest.Life{
		Create: props{
			"name": "made", "create": `mkdir "$DIR/$NAME" && echo made $NAME`, "delete": `rm -rf "$DIR/$NAME"; test "$LUMI_STDOUT"`,
			"environment": map[string]string{"DIR": dir, "NAME": "one"},
		},
		Expect: props{"stdout": "made one"},
		Updates: []providertest.Change{
			{Set: props{"update": `echo "updated after $LUMI_STDOUT"`}, Expect: props{"stdout": "made one"}},
			{Set: props{"triggers": map[string]string{"a": "b"}}, Expect: props{"stdout": "updated after made one"}},
			{Set: props{"update": "true", "triggers": nil}, Expect: props{"stdout": "updated after made one"}},
			{Set: props{"update": nil}},
		},
		Ignores: []props{{"name": "renamed"}},
		Replaces: []providertest.Replacement{
			{
				Set:     props{"environment": map[string]string{"DIR": dir, "NAME": "two"}},
				Because: []lumi.Path{"environment"}, Expect: props{"stdout": "made two"},
			},
			{Set: props{"triggers": map[string]string{"a": "c"}}, Because: []lumi.Path{"triggers"}},
		},
	})
	wantEntries(t, dir)
}

func testRandomLives(t *testing.T, h *providertest.Harness) {
	h.Resource(local.RandomString, "password").Life(t, providertest.Life{
		Create:  props{"name": "password", "length": 24},
		Ignores: []props{{"name": "login"}},
		Replaces: []providertest.Replacement{
			{Set: props{"keepers": map[string]string{"user": "ann"}}},
			{Set: props{"length": 4, "characters": "ü"}, Expect: props{"result": "üüüü"}},
		},
	})
	h.Resource(local.RandomID, "suffix").Life(t, providertest.Life{
		Create:   props{"name": "suffix"},
		Expect:   props{"bytes": 8},
		Ignores:  []props{{"name": "ending"}},
		Replaces: []providertest.Replacement{{Set: props{"bytes": 2}}, {Set: props{"keepers": map[string]string{"a": "b"}}}},
	})
}

// archive returns an archive of text files. Its arguments alternate between names and contents.
func archive(namesAndTexts ...string) lumi.Archive {
	parts := map[string]lumi.Content{}
	for i := 0; i < len(namesAndTexts); i += 2 {
		parts[namesAndTexts[i]] = lumi.TextAsset(namesAndTexts[i+1])
	}
	return lumi.AssetArchive(parts)
}

// wantEntries checks that a directory contains exactly the given entries, in particular no temporary files.
func wantEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if len(got) != len(want) {
		t.Fatalf("entries of %s = %v, want %v", dir, got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("entries of %s = %v, want %v", dir, got, want)
		}
	}
}
