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
func (p *Plan) Diff() ([]byte, error) {
	var out bytes.Buffer
	for _, f := range p.write {
		if f.Scaffold {
			continue
		}
		if err := p.diff(&out, f.Path, f.Content, false); err != nil {
			return nil, err
		}
	}
	for _, name := range p.stale {
		if err := p.diff(&out, name, nil, true); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// diff appends the difference between a file and its new content.
func (p *Plan) diff(out *bytes.Buffer, name string, content []byte, remove bool) error {
	const nothing = "/dev/null"
	oldName, newName := filepath.ToSlash(p.at(name)), filepath.ToSlash(p.at(name))
	if remove {
		newName = nothing
	}
	// A symbolic link is not followed, since it is the link that would be replaced. Like git, show where it leads.
	var old []byte
	to, err := os.Readlink(p.at(name))
	if err == nil {
		old = []byte(to)
	} else {
		old, err = os.ReadFile(p.at(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		oldName = nothing
	} else if err != nil {
		return fmt.Errorf("cannot read %s: %w", p.at(name), cause(err))
	}
	linediff.Unified(oldName, string(old), newName, string(content), func(sign, line string) {
		out.WriteString(sign + line + "\n")
	})
	return nil
}
