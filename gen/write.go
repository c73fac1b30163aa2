package gen

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Result says what [Plan.Write] has done.
type Result struct {
	Written, Unchanged, Removed int
}

// Write carries the plan out. First all new contents go to temporary files, each in the folder of the file that it will
// become; then all are renamed; then stale files are removed, and the folders that are empty without them. So
// whatever happens, and were it that the process is killed, every file is either the old one or the new one, whole.
// What a killed run leaves behind, the next one clears away. Files that are as they should be are not touched.
//
// Several processes may write to one folder at once. Each file is then what one of them wrote.
//
// Where a file cannot be written the error names it, and temporary files are cleared away. When ctx ends before the
// first rename, nothing has changed and its error is returned; after that, Write goes on to the end.
func (p *Plan) Write(ctx context.Context) (Result, error) {
	for _, name := range p.leftovers {
		if os.Remove(p.at(name)) == nil { // If not, another run cleared it away, or the next one will.
			p.removeEmpty(path.Dir(name))
		}
	}
	staged := make([]string, len(p.write))
	defer func() {
		for _, temporary := range staged {
			if temporary != "" {
				_ = os.Remove(temporary)
			}
		}
	}()
	// One file at a time: a file system makes new files one after the other anyway, and processes that wait for it
	// burn time.
	for i := range p.write {
		err := ctx.Err()
		if err == nil {
			staged[i], err = p.stage(&p.write[i])
		}
		if err != nil {
			return Result{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	for i := range p.write {
		if err := p.commit(&p.write[i], &staged[i]); err != nil {
			return Result{}, err
		}
	}
	if err := p.removeStale(); err != nil {
		return Result{}, err
	}
	return Result{Written: len(p.write), Unchanged: p.unchanged, Removed: len(p.stale)}, nil
}

// attempts is how often a file is tried anew after another process cleared away its temporary file, believing that a
// killed run had left it, or its folder. Each process does so once, when it starts.
const attempts = 10

// stage writes a file's content to a temporary file beside it and returns that file's path.
func (p *Plan) stage(f *File) (temporary string, err error) {
	target := p.at(f.Path)
	for range attempts {
		temporary, err = writeTemporary(filepath.Dir(target), f.Content)
		// A folder that goes away while it is made is reported as existing, by os.MkdirAll.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot write %s: %w", target, cause(err))
	}
	return temporary, nil
}

// commit puts a staged file into its place. The temporary path becomes empty when there is no such file any more.
func (p *Plan) commit(f *File, temporary *string) (err error) {
	target := p.at(f.Path)
	for range attempts {
		if err = os.Rename(*temporary, target); err == nil {
			*temporary = ""
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if *temporary, err = p.stage(f); err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot write %s: %w", target, cause(err))
}

const (
	temporaryStart = ".cidlc-"
	temporaryEnd   = ".tmp"
)

// isTemporary reports whether an entry of a folder is a temporary file of ours.
func isTemporary(e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), temporaryStart) && strings.HasSuffix(e.Name(), temporaryEnd) &&
		e.Type().IsRegular()
}

// writeTemporary writes a new temporary file in a folder, which it makes if need be.
func writeTemporary(dir string, content []byte) (name string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name = filepath.Join(dir, temporaryStart+rand.Text()+temporaryEnd)
	// The file is made with its final mode, so that the user's umask counts.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(name)
		return "", err
	}
	return name, nil
}

// removeStale removes what is stale, and the folders that this leaves empty, up to the root.
func (p *Plan) removeStale() error {
	for _, name := range p.stale {
		err := p.remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove %s: %w", p.at(name), cause(err))
		}
		p.removeEmpty(path.Dir(name))
	}
	return nil
}

// removeEmpty removes a folder and those above it, up to the root, as far as they are empty.
func (p *Plan) removeEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if os.Remove(p.at(dir)) != nil {
			return // It is not empty.
		}
	}
}

// remove removes a stale file. But where case does not count, a file that was put in the place of one whose name
// differs by case keeps the old name: what looks stale is then what was just written, and only in need of its new name.
func (p *Plan) remove(name string) error {
	if other, ok := p.wanted[strings.ToLower(name)]; ok {
		stale, staleErr := os.Lstat(p.at(name))
		written, writtenErr := os.Lstat(p.at(other))
		if staleErr == nil && writtenErr == nil && os.SameFile(stale, written) {
			return os.Rename(p.at(name), p.at(other))
		}
	}
	return os.Remove(p.at(name))
}
