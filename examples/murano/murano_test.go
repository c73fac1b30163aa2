package murano_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// town is a temporary copy of the example. lumi is the path of the command; the provider is in $PATH.
type town struct {
	*testing.T
	dir, lumi string
	env       []string
}

func TestTown(t *testing.T) {
	t.Parallel()
	plugin := providertest.Build(t, "../local/provider/lumi-resource-local")
	m := &town{t, filepath.Join(t.TempDir(), "murano"), providertest.Build(t, "../../cmd/lumi"),
		append(os.Environ(), "PATH="+filepath.Dir(plugin)+string(os.PathListSeparator)+os.Getenv("PATH"))}
	schema, err := os.ReadFile("../local/schema.json")
	local := filepath.Join(filepath.Dir(m.dir), "local")
	must.Do(t, errors.Join(err, os.CopyFS(m.dir, os.DirFS(".")), os.Mkdir(local, 0o755),
		os.WriteFile(filepath.Join(local, "schema.json"), schema, 0o644)))
	m.run("murano", "check", "classes")
	m.expect(m.run("plan"), "6 to create\n")
	m.run("deploy", "--yes")
	m.expectFiles("books/authors.txt", "books/titles.txt", "library/index.txt", "library/search.txt")
	site, books := m.saved(0), m.saved(1)
	if version, _ := site["version"].(string); !strings.HasPrefix(version, "library-") || len(version) != len("library-")+64 {
		t.Errorf("version of the site = %v, want library- and 64 characters", site["version"])
	}
	if sums := books["checksums"].(map[string]any); len(sums) != 2 || len(sums["titles"].(string)) != 64 {
		t.Errorf("checksums = %v, want one of 64 characters for each of 2 tables", sums)
	}
	m.run("plan", "--check")

	m.change(`"authors", "titles"`, `"titles", "loans"`)
	m.expect(m.run("deploy", "--yes"), "1 to create, 1 to delete, 5 unchanged\n")
	m.expectFiles("books/loans.txt", "books/titles.txt", "library/index.txt", "library/search.txt")
	expect.Equal(t, []any{"authors", "titles", "loans"}, m.saved(1)["known"], "known")

	m.change(`"size": "2"`, `"size": "many"`)
	m.expect(m.fails("plan"), `town.json:23:15: error: `)
	m.change(`"size": "many"`, `"size": "2"`)

	whole := must.Get(os.ReadFile(filepath.Join(m.dir, "town.json")))(t)
	first, rest, _ := bytes.Cut(whole, []byte("\n    {\n"))
	_, rest, _ = bytes.Cut(rest, []byte("\n    },\n"))
	must.Do(t, os.WriteFile(filepath.Join(m.dir, "town.json"), slices.Concat(first, []byte("\n"), rest), 0o644))
	out := m.run("deploy", "--yes")
	m.expect(out, "lumi: town: info: site library goes\n")
	m.expect(out, "3 to delete, 3 unchanged\n")
	m.expectFiles("books/loans.txt", "books/titles.txt")
	if name := m.saved(0)["name"]; name != "books" {
		t.Errorf("name of the first application = %v, want books", name)
	}
	m.run("destroy", "--yes")
	m.expectFiles()
}

func (m *town) command(args ...string) ([]byte, error) {
	cmd := exec.Command(m.lumi, args...)
	cmd.Dir, cmd.Env = m.dir, m.env
	return cmd.CombinedOutput()
}

// run runs a lumi command, which must succeed, and returns its output.
func (m *town) run(args ...string) string {
	m.Helper()
	out, err := m.command(args...)
	if err != nil {
		m.Fatalf("lumi %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// fails runs a lumi command, which must exit with code 1, and returns its output.
func (m *town) fails(args ...string) string {
	m.Helper()
	out, err := m.command(args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		m.Fatalf("lumi %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (m *town) expect(out, want string) {
	m.Helper()
	if !strings.Contains(out, want) {
		m.Errorf("output does not contain %q:\n%s", want, out)
	}
}

// change replaces text that must occur exactly once in the object model.
func (m *town) change(old, new string) {
	m.Helper()
	file := filepath.Join(m.dir, "town.json")
	src, err := os.ReadFile(file)
	if err != nil || bytes.Count(src, []byte(old)) != 1 {
		m.Fatal(old, err)
	}
	must.Do(m, os.WriteFile(file, bytes.Replace(src, []byte(old), []byte(new), 1), 0o644))
}

// saved returns an application in the saved object model.
func (m *town) saved(i int) map[string]any {
	m.Helper()
	var model struct {
		Applications []map[string]any `json:"applications"`
	}
	must.Do(m, json.Unmarshal([]byte(m.run("murano", "model", "town", "--json")), &model))
	return model.Applications[i]
}

// expectFiles checks that the folders of the applications contain exactly the given files.
func (m *town) expectFiles(want ...string) {
	m.Helper()
	var got []string
	for _, folder := range []string{"books", "library"} {
		err := fs.WalkDir(os.DirFS(m.dir), folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				got = append(got, name)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.Fatal(err)
		}
	}
	expect.Equal(m, want, got, "files")
}
