package tasktype

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

// A folder can be replaced by links while files in it are opened without giving access to other files.
func TestSwappedSources(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, aside := filepath.Join(folder, "a"), filepath.Join(folder, "aside")
	for _, name := range []string{"a/file", ".lumi/deep/file", ".lumi/file"} {
		name = filepath.Join(folder, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(name), 0o644)))
	}
	from := must.Get((&Call{Folder: folder, hidden: func() ([]string, error) { return nil, nil }}).sources())(t)
	defer from.Close()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(path, aside)
			_ = os.Symlink([]string{".lumi/deep", "/etc"}[i%2], path)
			_ = os.Remove(path)
			_ = os.Rename(aside, path)
			for range 10 { // so that the folder exists most of the time
				_, _ = os.Stat(path)
			}
		}
	}()
	opened := 0
	for range 30_000 {
		file, err := from.open("a/file")
		if err != nil {
			continue
		}
		opened++
		text, err := io.ReadAll(file)
		_ = file.Close()
		if string(text) != filepath.Join(path, "file") || err != nil {
			t.Errorf("opened file contains %q, %v, want %q", text, err, filepath.Join(path, "file"))
			break
		}
	}
	close(done)
	<-ended
	if opened == 0 {
		t.Error("no file could be opened")
	}
}
