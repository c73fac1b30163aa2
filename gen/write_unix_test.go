//go:build unix

package gen

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestFileModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	root := filepath.Join(t.TempDir(), "out")
	write(t, root, generated("ec2/a.ts", "1"))
	for name, want := range map[string]fs.FileMode{".": 0o755, "ec2": 0o755, "ec2/a.ts": 0o644} {
		info := must.Get(os.Stat(filepath.Join(root, name)))(t)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s = %v, want %v", name, got, want)
		}
	}
}

func TestComparePipe(t *testing.T) {
	root := t.TempDir()
	pipe := filepath.Join(root, "a.ts")
	must.Do(t, syscall.Mkfifo(pipe, 0o644))
	_, err := Compare(root, []File{generated("a.ts", "1")})
	if want := pipe + " is not a regular file, but a generated file belongs there: move it away"; err == nil ||
		err.Error() != want {
		t.Errorf("Compare error = %v\nwant %s", err, want)
	}
}
