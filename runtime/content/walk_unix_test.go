//go:build unix

package content_test

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// Files that archives cannot contain are errors, such as devices and names that are not UTF-8.
func TestWalkFolders(t *testing.T) {
	inFolder(t, map[string]string{"linked/sub/a": "", "piped/a": "", `back/sl\ash`: ""})
	if err := os.Symlink("a", "linked/sub/link"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"piped/pipe", "pipe"} {
		if err := syscall.Mkfifo(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, path, want string }{
		{"a pipe", "pipe", `"pipe": is a named pipe, not a regular file`},
		{"a link", "linked", `"linked": "sub/link": is a symbolic link; archives may contain only files and folders`},
		{"a pipe in a folder", "piped", `"piped": "pipe": is a named pipe; archives may contain only files and folders`},
		{"a backslash", "back", `"back": "sl\\ash"` + cannot + `it contains a backslash`},
	}
	if runtime.GOOS != "darwin" { // macOS does not allow such names.
		write(t, ".", map[string]string{"utf8/\xff/a": ""})
		tests = append(tests, struct{ name, path, want string }{
			"bytes", "utf8", `"utf8": "\xff"` + cannot + `it is not valid UTF-8`,
		})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, want := list(t, lumi.FileArchive(test.path)), "error: "+test.want; got != want {
				t.Errorf("Walk =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A file that is removed or replaced before it is read is an error.
func TestWalkReplacedFiles(t *testing.T) {
	for _, test := range []struct {
		become func(name string) error
		want   string
	}{
		{func(string) error { return nil }, `no such file or directory`},
		{func(name string) error { return os.Symlink("/dev/null", name) }, `path escapes from parent`},
		{func(name string) error { return os.Mkdir(name, 0o755) }, "was replaced by a folder during the walk"},
		{func(name string) error { return syscall.Mkfifo(name, 0o644) },
			"is a named pipe; archives may contain only files and folders"},
	} {
		inFolder(t, map[string]string{"folder/a": "", "folder/b": ""})
		err := content.Walk(t.Context(), lumi.FileArchive("folder"), func(f content.File) error {
			return errors.Join(os.Remove("folder/b"), test.become("folder/b"))
		})
		if want := `"folder": "b": ` + test.want; err == nil || err.Error() != want {
			t.Errorf("Walk error =\n%v\nwant\n%s", err, want)
		}
	}
}
