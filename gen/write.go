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
	"slices"
	"strings"
)

// Result counts what [Write] has done.
type Result struct {
	Written, Unchanged, Removed int
}

// Add adds what another update has done.
func (r *Result) Add(other Result) {
	r.Written += other.Written
	r.Unchanged += other.Unchanged
	r.Removed += other.Removed
}

// Write carries out all updates, or none of them. It first renders every new file, a few at a time, and writes it to a
// temporary file in the target's folder, then renames them all, then removes stale files and the folders this leaves
// empty. Even if the process is killed, every file is either the old one or the new one, whole; the next run removes the
// temporary files of a killed one. Files that are current are not touched.
//
// Several processes may write to one folder at once. Each file is then what one of them wrote.
//
// If a file cannot be rendered or written, the error names it, and all files and folders are as they were, except on
// file systems without hard links, where files that were put in place before the error stay. If ctx ends before the
// first rename, nothing has changed and its error is returned; after that, Write completes. A stale file that cannot be
// removed is an error too, but what was written stays.
func Write(ctx context.Context, updates ...*Update) (Result, error) {
	staged, err := stage(ctx, updates)
	if err == nil {
		err = commit(staged)
	}
	cleanUp(staged)
	if err != nil {
		return Result{}, err
	}
	result := Result{Written: len(staged)}
	for _, u := range updates {
		removed, err := u.removeStale()
		if err != nil {
			return Result{}, err
		}
		result.Unchanged += u.unchanged
		result.Removed += removed
	}
	return result, nil
}

// stage writes all new files to temporary files. It returns those it has begun, also with an error.
func stage(ctx context.Context, updates []*Update) ([]*stagedFile, error) {
	var staged []*stagedFile
	targets := map[string]bool{}
	// One file at a time: file systems serialize the creation of files anyway, and processes that wait for that burn
	// CPU time.
	for _, u := range updates {
		u.clearLeftovers()
		err := u.each(func(c Change, content []byte) error {
			if err := ctx.Err(); err != nil || c.Remove {
				return err
			}
			f := &stagedFile{target: u.At(c.Path), file: c.File}
			f.folders = missingFolders(filepath.Dir(f.target))
			staged = append(staged, f)
			if err := f.stage(content); err != nil {
				return err
			}
			target, err := filepath.Abs(f.target)
			if err == nil && targets[target] {
				err = fmt.Errorf("cannot write %s: two outputs would write this file", f.target)
			}
			targets[target] = true
			return err
		})
		if err != nil {
			return staged, err
		}
	}
	for _, f := range staged {
		if info, err := os.Lstat(f.target); err == nil && info.IsDir() {
			return staged, fmt.Errorf("cannot write %s: another output writes files below it", f.target)
		}
	}
	return staged, ctx.Err()
}

// commit puts all staged files in their places, or none.
func commit(staged []*stagedFile) error {
	for i, f := range staged {
		if err := f.commit(); err != nil {
			for _, f := range staged[:i] {
				f.undo()
			}
			return err
		}
	}
	return nil
}

// cleanUp removes what is not needed any more. Folders with files in them stay.
func cleanUp(staged []*stagedFile) {
	for _, f := range slices.Backward(staged) {
		for _, name := range []string{f.temporary, f.old} {
			if name != "" {
				_ = os.Remove(name)
			}
		}
		for _, dir := range slices.Backward(f.folders) {
			_ = os.Remove(dir)
		}
	}
}

// clearLeftovers removes what a killed run left. What it cannot remove, a concurrent run has, or the next run will.
func (u *Update) clearLeftovers() {
	for _, name := range u.leftovers {
		if os.Remove(u.At(name)) == nil {
			u.removeEmpty(path.Dir(name))
		}
	}
}

// missingFolders returns dir and the folders above it that do not exist, outermost first.
func missingFolders(dir string) []string {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
		return nil
	}
	return append(missingFolders(filepath.Dir(dir)), dir)
}

// stagedFile is a new content on its way to its place.
type stagedFile struct {
	target    string
	file      File
	folders   []string // those made for it, outermost first
	temporary string   // the file that holds the content, or empty
	isNew     bool     // no file was replaced
	old       string   // another link to the file that was replaced, or empty
}

// attempts bounds the retries after a concurrent process removed a temporary file, taking it for that of a killed run,
// or its folder. Each process does so once, when it starts.
const attempts = 10

// stage writes the content to a temporary file in the target's folder.
func (f *stagedFile) stage(content []byte) (err error) {
	for range attempts {
		f.temporary, err = writeTemporary(filepath.Dir(f.target), content)
		// os.MkdirAll reports a folder that vanishes while it is made as existing.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.target, cause(err))
	}
	return nil
}

// commit renames the temporary file to the target. It keeps the old file for [stagedFile.undo], unless the file system
// has no hard links.
func (f *stagedFile) commit() (err error) {
	old := filepath.Join(filepath.Dir(f.target), temporaryName())
	switch err := os.Link(f.target, old); {
	case err == nil:
		f.old = old
	case errors.Is(err, fs.ErrNotExist):
		f.isNew = true
	}
	for range attempts {
		if err = os.Rename(f.temporary, f.target); err == nil {
			f.temporary = ""
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		content, err := f.file.render() // It was not kept, for the sake of memory.
		if err == nil {
			err = f.stage(content)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot write %s: %w", f.target, cause(err))
}

// undo takes a commit back.
func (f *stagedFile) undo() {
	switch {
	case f.old != "":
		_ = os.Rename(f.old, f.target)
	case f.isNew:
		_ = os.Remove(f.target)
	}
}

const (
	temporaryStart = ".cidlc-"
	temporaryEnd   = ".tmp"
)

func temporaryName() string { return temporaryStart + rand.Text() + temporaryEnd }

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
	name = filepath.Join(dir, temporaryName())
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
func (u *Update) removeStale() (removed int, err error) {
	for _, c := range u.changes {
		if !c.Remove {
			continue
		}
		err := u.remove(c.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("cannot remove %s: %w", u.At(c.Path), cause(err))
		}
		u.removeEmpty(path.Dir(c.Path))
		removed++
	}
	return removed, nil
}

// removeEmpty removes a folder and those above it, up to the root, as far as they are empty.
func (u *Update) removeEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if os.Remove(u.At(dir)) != nil {
			return // It is not empty.
		}
	}
}

// remove removes a stale file. But where case does not count, a file that was put in the place of one whose name
// differs by case keeps the old name: what looks stale is then what was just written, and only in need of its new name.
func (u *Update) remove(name string) error {
	if other, ok := u.wanted[strings.ToLower(name)]; ok {
		stale, staleErr := os.Lstat(u.At(name))
		written, writtenErr := os.Lstat(u.At(other))
		if staleErr == nil && writtenErr == nil && os.SameFile(stale, written) {
			return os.Rename(u.At(name), u.At(other))
		}
	}
	return os.Remove(u.At(name))
}
