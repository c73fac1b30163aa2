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

// Result counts the files that [Write] handled.
type Result struct {
	Written, Unchanged, Removed int
}

// Add adds the counts of another update.
func (r *Result) Add(other Result) {
	r.Written += other.Written
	r.Unchanged += other.Unchanged
	r.Removed += other.Removed
}

// Write applies all updates, or none of them. It first renders every new file, a few at a time, to a temporary file in
// the target's folder; then renames them all; then removes stale files and folders that became empty. Even if the
// process is killed, every file is either the old or the new version; the next run removes leftover temporary files.
// Current files are not touched.
//
// Several processes may write to one folder at once. Each file then has the content of one of them.
//
// If a file cannot be rendered or written, the error names it, and all files and folders are unchanged, except that on
// file systems without hard links, files renamed before the error stay. If ctx ends before the first rename, nothing
// has changed and its error is returned; after that, Write completes. Failing to remove a stale file is an error too,
// but written files stay.
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

// stage writes all new files to temporary files. It returns the files started so far, even on error.
func stage(ctx context.Context, updates []*Update) ([]*stagedFile, error) {
	var staged []*stagedFile
	targets := map[string]bool{}
	// One at a time: file systems serialize file creation anyway, and waiting processes would burn CPU time.
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

// commit renames all staged files to their targets, or none.
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

// cleanUp removes remaining temporary files and new folders that are empty.
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

// clearLeftovers removes files of a killed run. Errors are ignored: a concurrent run has removed the file, or the next
// run will.
func (u *Update) clearLeftovers() {
	for _, name := range u.leftovers {
		if os.Remove(u.At(name)) == nil {
			u.removeEmpty(path.Dir(name))
		}
	}
}

// missingFolders returns dir and its parents that do not exist, outermost first.
func missingFolders(dir string) []string {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
		return nil
	}
	return append(missingFolders(filepath.Dir(dir)), dir)
}

// stagedFile is a new file between staging and commit.
type stagedFile struct {
	target    string
	file      File
	folders   []string // folders created for it, outermost first
	temporary string   // the staged file, or empty
	isNew     bool     // there was no old file
	old       string   // a hard link to the old file, or empty
}

// attempts bounds the retries after a concurrent process removed a temporary file, or its folder, as a leftover. Each
// process does so once, at its start.
const attempts = 10

// stage writes the content to a temporary file in the target's folder.
func (f *stagedFile) stage(content []byte) (err error) {
	for range attempts {
		f.temporary, err = writeTemporary(filepath.Dir(f.target), content)
		// os.MkdirAll reports a folder that is removed concurrently as existing.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.target, cause(err))
	}
	return nil
}

// commit renames the temporary file to the target. It keeps a link to the old file for [stagedFile.undo], if the file
// system supports hard links.
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
		content, err := f.file.render() // not kept in memory
		if err == nil {
			err = f.stage(content)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot write %s: %w", f.target, cause(err))
}

// undo reverts a commit.
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

// isTemporary reports whether an entry of a folder is one of our temporary files.
func isTemporary(e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), temporaryStart) && strings.HasSuffix(e.Name(), temporaryEnd) &&
		e.Type().IsRegular()
}

// writeTemporary creates a temporary file in a folder, which it creates if missing.
func writeTemporary(dir string, content []byte) (name string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name = filepath.Join(dir, temporaryName())
	// Create it with the final mode, so that the umask applies.
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

// removeStale removes stale files and folders that became empty, up to the root.
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

// removeEmpty removes a folder and its parents below the root while they are empty.
func (u *Update) removeEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if os.Remove(u.At(dir)) != nil {
			return // not empty
		}
	}
}

// remove removes a stale file. On file systems that ignore case, a file that replaces one with another case keeps the
// old name: the file that looks stale was just written, and only needs to be renamed.
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
