package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// counted returns a file that counts its renderings.
func counted(path, body string, rendered *int) File {
	f := generated(path, body)
	content := f.Content
	return File{Path: path, Render: func() ([]byte, error) { *rendered++; return content, nil }}
}

// Files are rendered once, as late as possible. Current files are never rendered.
func TestRenderLazily(t *testing.T) {
	root := t.TempDir()
	rendered := 0
	f := counted("a.ts", "new", &rendered)
	compare := func(f File) *Update {
		return must.Get(Compare(root, []File{f}))(t)
	}
	u := compare(f)
	if rendered != 0 {
		t.Error("Compare rendered a missing file, want it rendered by Write")
	}
	if _, err := Write(t.Context(), u); err != nil || rendered != 1 {
		t.Errorf("Write rendered the file %d times, error %v, want 1 and no error", rendered, err)
	}
	want := generated("a.ts", "new").Content
	wantTree(t, root, map[string]string{"a.ts": string(want)})

	// Files that differ are rendered for the comparison, and the result is kept.
	put(t, root, map[string]string{"a.ts": string(generated("a.ts", "old").Content)})
	rendered = 0
	if _, err := Write(t.Context(), compare(f)); err != nil || rendered != 1 {
		t.Errorf("Write rendered the file %d times, error %v, want 1 and no error", rendered, err)
	}
	wantTree(t, root, map[string]string{"a.ts": string(want)})

	rendered = 0
	f.Current = func(content []byte) bool { return string(content) == string(want) }
	if u := compare(f); rendered != 0 || len(u.Changes()) != 0 || u.Counts().Unchanged != 1 {
		t.Errorf("a current file was rendered %d times, with changes %v, want none", rendered, u.Changes())
	}
	// A symbolic link is replaced even if its target is current.
	elsewhere := filepath.Join(t.TempDir(), "a.ts")
	name := filepath.Join(root, "a.ts")
	must.Do(t, errors.Join(os.Rename(name, elsewhere), os.Symlink(elsewhere, name)))
	if _, err := Write(t.Context(), compare(f)); err != nil || rendered != 1 {
		t.Errorf("Write rendered the file %d times, error %v, want 1 and no error", rendered, err)
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		t.Errorf("Lstat after Write = %v, want a regular file in place of the link", err)
	}
}

func TestRenderError(t *testing.T) {
	root := t.TempDir()
	var files []File
	for i := range 3 * ahead {
		files = append(files, generated(fmt.Sprintf("d/%03d.ts", i), "new"))
	}
	last := len(files) - 1
	files[last] = File{Path: files[last].Path, Render: func() ([]byte, error) { return nil, errors.New("broken") }}
	u := must.Get(Compare(root, files))(t)
	if _, err := u.Diff(); err == nil || err.Error() != "broken" {
		t.Errorf("Diff error = %v, want broken", err)
	}
	if _, err := Write(t.Context(), u); err == nil || err.Error() != "broken" {
		t.Errorf("Write error = %v, want broken", err)
	}
	wantTree(t, root, map[string]string{"./": ""})
	put(t, root, map[string]string{files[last].Path: string(generated(files[last].Path, "old").Content)})
	if _, err := Compare(root, files); err == nil || err.Error() != "broken" {
		t.Errorf("Compare error = %v, want broken", err)
	}
}

// A temporary file is rendered again if another process removed it as a leftover.
func TestCommitRendersAgain(t *testing.T) {
	root := t.TempDir()
	rendered := 0
	u := must.Get(Compare(root, []File{counted("a.ts", "new", &rendered)}))(t)
	staged := must.Get(stage(t.Context(), []*Update{u}))(t)
	must.Do(t, os.Remove(staged[0].temporary))
	if err := commit(staged); err != nil || rendered != 2 {
		t.Errorf("commit rendered the file %d times, error %v, want 2 and no error", rendered, err)
	}
	cleanUp(staged)
	wantTree(t, root, map[string]string{"a.ts": string(generated("a.ts", "new").Content)})
}

func TestRendered(t *testing.T) {
	rendered := 0
	files := []File{generated("a.ts", "a"), counted("b.ts", "b", &rendered)}
	got, err := Rendered(files)
	if err != nil || !slices.EqualFunc(got, []File{files[0], generated("b.ts", "b")}, func(a, b File) bool {
		return a.Path == b.Path && string(a.Content) == string(b.Content) && a.Render == nil
	}) || files[1].Content != nil {
		t.Errorf("Rendered = %v, %v, want copies with contents and no error", got, err)
	}
}
