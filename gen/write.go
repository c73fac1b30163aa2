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

// Result counts the files handled by [Write].
type Result struct {
	Written, Unchanged, Removed int
}

// Add adds the counts of other to r.
func (r *Result) Add(other Result) {
	r.Written += other.Written
	r.Unchanged += other.Unchanged
	r.Removed += other.Removed
}

// Write applies either all updates or none of them. It renders new files a few at a time, each to a temporary file in
// the target's folder, and then renames all of them. Finally, it removes stale files and the folders that they leave
// empty. Files that are up to date are not touched.
//
// If the process is killed, each file is in either its old or its new version, and the next run removes leftover
// temporary files. Several processes may write to a folder at the same time. Each file then has the content written by
// one of them.
//
// If a file cannot be rendered or written, Write returns an error that names it and leaves all files and folders
// unchanged. On file systems without hard links, however, files renamed before the error keep their new content. If ctx
// is done before the first rename, Write returns its error and changes nothing; after that, it runs to completion. If a
// stale file cannot be removed, Write returns an error, but the new files remain.
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

// stage writes all new files to temporary files. It returns the files staged so far, even on error.
func stage(ctx context.Context, updates []*Update) ([]*stagedFile, error) {
	var staged []*stagedFile
	targets := map[string]bool{}
	// Files are written one at a time, because file systems serialize file creation and waiting goroutines would only
	// burn CPU time.
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

// commit renames all staged files to their targets. If one fails, it reverts the others and returns the error.
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

// cleanUp removes the remaining temporary files and any new folders that are empty.
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

// clearLeftovers removes temporary files from killed runs. It ignores errors: either a concurrent run has
// removed the file, or the next run will.
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

// stagedFile is a new file that has been staged but may not be committed yet.
type stagedFile struct {
	target    string
	file      File
	folders   []string // folders created for the file, outermost first
	temporary string   // the path of the temporary file, or empty
	isNew     bool     // the target did not exist
	old       string   // the path of a hard link to the old file, or empty
}

// attempts limits the number of retries if a concurrent process removes a temporary file or its folder as a leftover.
// Each process removes leftovers only once, when it starts.
const attempts = 10

// stage writes content to a temporary file in the target's folder.
func (f *stagedFile) stage(content []byte) (err error) {
	for range attempts {
		f.temporary, err = writeTemporary(filepath.Dir(f.target), content)
		// If a folder is removed concurrently, os.MkdirAll may return ErrExist.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.target, cause(err))
	}
	return nil
}

// commit renames the temporary file to the target. If the file system supports hard links, it keeps a link to the old
// file for [stagedFile.undo].
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
		content, err := f.file.render() // the content is not kept in memory
		if err == nil {
			err = f.stage(content)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("cannot write %s: %w", f.target, cause(err))
}

// undo restores the state before commit.
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

// isTemporary reports whether a folder entry is a temporary file created by this package.
func isTemporary(e fs.DirEntry) bool {
	return strings.HasPrefix(e.Name(), temporaryStart) && strings.HasSuffix(e.Name(), temporaryEnd) &&
		e.Type().IsRegular()
}

// writeTemporary writes content to a new temporary file in dir and returns its path. It creates dir if necessary.
func writeTemporary(dir string, content []byte) (name string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name = filepath.Join(dir, temporaryName())
	// Pass the final mode to OpenFile, so that the umask applies.
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

// removeStale removes the stale files and the folders they leave empty, up to the root. It returns the number of files
// removed.
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

// removeEmpty removes a folder, and then each parent below the root, as long as they are empty.
func (u *Update) removeEmpty(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if os.Remove(u.At(dir)) != nil {
			return // the folder is not empty
		}
	}
}

// remove removes a stale file. On file systems that ignore case, a new file whose name differs from an old one only in
// case keeps the old spelling. The file that seems stale is then the new file, so it is renamed instead.
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
