package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lumi-idl/lumi/internal/linediff"
)

// Diff returns what [Write] would change as a unified diff, stale files as removals. Scaffolds do not count: they
// belong to the user, who may have reasons to do without. The diff is empty where nothing would change. The error is
// the system's, and names the file.
func (u *Update) Diff() ([]byte, error) {
	var out bytes.Buffer
	for _, c := range u.changes {
		if c.Scaffold {
			continue
		}
		if err := u.diff(&out, c); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// diff appends the difference between a file and its new content.
func (u *Update) diff(out *bytes.Buffer, c Change) error {
	const nothing = "/dev/null"
	name := u.At(c.Path)
	oldName, newName := filepath.ToSlash(name), filepath.ToSlash(name)
	if c.Remove {
		newName = nothing
	}
	// A symbolic link is not followed, since it is the link that would be replaced. Like git, show where it leads.
	var old []byte
	to, err := os.Readlink(name)
	if err == nil {
		old = []byte(to)
	} else {
		old, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		oldName = nothing
	} else if err != nil {
		return fmt.Errorf("cannot read %s: %w", name, cause(err))
	}
	linediff.Unified(oldName, string(old), newName, string(c.Content), func(sign, line string) {
		out.WriteString(sign + line + "\n")
	})
	return nil
}
