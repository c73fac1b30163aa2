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

// Diff returns the changes that [Write] would make, as a unified diff. Stale files appear as removals. Scaffolds are
// omitted, since users own them and may have removed them. The diff is empty if nothing would change. Diff returns an
// error if a file cannot be rendered or read.
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
		// Write replaces symbolic links, so show their targets, as git does.
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
