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
// the system's, and names the file, or that of rendering.
func (u *Update) Diff() ([]byte, error) {
	const nothing = "/dev/null"
	var out bytes.Buffer
	err := u.each(func(c Change, content []byte) error {
		if c.Scaffold {
			return nil
		}
		name := u.At(c.Path)
		oldName, newName := filepath.ToSlash(name), filepath.ToSlash(name)
		if c.Remove {
			newName = nothing
		}
		// A symbolic link is not followed, since it is the link that would be replaced. Like git, show where it leads.
		to, err := os.Readlink(name)
		old := []byte(to)
		if err != nil {
			old, err = os.ReadFile(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			oldName = nothing
		} else if err != nil {
			return fmt.Errorf("cannot read %s: %w", name, cause(err))
		}
		linediff.Unified(oldName, string(old), newName, string(content), func(sign, line string) {
			out.WriteString(sign + line + "\n")
		})
		return nil
	})
	return out.Bytes(), err
}
