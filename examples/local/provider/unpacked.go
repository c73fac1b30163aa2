package local

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// unpackedProviderOpsImpl implements unpacked archives. The id of an unpacked archive is its path.
type unpackedProviderOpsImpl struct {
	// latest maps the ids of updated resources to their files, for a Get after an Update whose response was lost.
	latest sync.Map
}

type unpackedState = lumi.State[*unpacked]

// Check implements [UnpackedProviderOps].
func (*unpackedProviderOpsImpl) Check(_ context.Context, want *unpackedState) error {
	return checkPath(want.Properties.Path, want.Unknown)
}

// Name implements [UnpackedProviderOps].
func (*unpackedProviderOpsImpl) Name(_ context.Context, want *unpackedState) (string, error) {
	return name(want.Properties.Path, want.Unknown)
}

// InspectChange implements [lumi.Inspector].
func (*unpackedProviderOpsImpl) InspectChange(_ context.Context, old, want *unpackedState, diff *lumi.Diff) error {
	inspectPath(old.Properties.Path, want.Properties.Path, want.Unknown, diff)
	return nil
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (*unpackedProviderOpsImpl) IdempotentCreate() bool { return true }

// Find implements [lumi.Finder].
func (*unpackedProviderOpsImpl) Find(_ context.Context, want *unpackedState) (lumi.ID, error) {
	return findDirectory(want.Properties.Path, want.Token)
}

// Create implements [UnpackedProviderOps]. It unpacks to a temporary directory and moves it to its path when it is
// complete.
func (ops *unpackedProviderOpsImpl) Create(ctx context.Context, want *unpackedState) (lumi.ID, error) {
	p, err := openNew(want.Properties.Path)
	if err != nil {
		return "", err
	}
	defer p.close()
	temporary, done, err := p.temporary(ctx, want.Token)
	if err != nil {
		return "", err
	}
	defer done()
	id, err := ops.Find(ctx, want)
	switch {
	case err == nil:
		now, err := ops.Get(ctx, id, nil)
		if err == nil {
			want.Properties.Files = now.Files
		}
		return id, err
	case !errors.Is(err, lumi.ErrNotFound):
		return "", err
	}
	if _, err := p.Lstat(p.base); err == nil {
		return "", p.taken()
	}
	files, err := p.unpack(ctx, temporary, want.Properties.Archive)
	if err == nil {
		t := markedTime(want.Token)
		err = p.Chtimes(temporary, t, t)
	}
	if _, free := p.Lstat(p.base); err == nil && free == nil { // Rename would replace an empty directory
		err = p.taken()
	}
	if err == nil {
		err = p.Rename(temporary, p.base)
	}
	if err != nil {
		return "", p.failed(err)
	}
	want.Properties.Files = files
	return p.id(), nil
}

// unpack creates a directory with the files in an archive, and returns their checksums by name.
func (p *place) unpack(ctx context.Context, name string, archive lumi.Archive) (map[string]string, error) {
	if err := p.Mkdir(name, 0o755); err != nil {
		return nil, err
	}
	root, err := p.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	to := &place{Root: root, path: p.path}
	defer to.close()
	files := map[string]string{}
	var failed error // write error, not caused by the archive
	err = content.Walk(ctx, archive, func(f content.File) error {
		lumi.Progress(ctx, "unpacking %s", f.Name)
		mode := fs.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		if failed = to.MkdirAll(path.Dir(f.Name), 0o755); failed == nil {
			files[f.Name], failed = to.write(ctx, f.Name, mode, f.Content, Unpacked_Archive)
		}
		failed = to.failed(failed)
		return failed
	})
	if err != nil && failed == nil {
		err = unread(ctx, err, Unpacked_Archive)
	}
	return files, err
}

// Get implements [UnpackedProviderOps]. An import returns all files in the directory; a refresh, only the unpacked ones. If
// those have changed, Get omits the archive, so that the next update restores them.
func (ops *unpackedProviderOpsImpl) Get(_ context.Context, id lumi.ID, old *unpackedState) (*unpacked, error) {
	p, err := openUnpacked(id)
	if err != nil {
		return nil, err
	}
	defer p.close()
	now := &unpacked{Path: string(id), Files: map[string]string{}}
	if old == nil {
		return now, p.failed(fs.WalkDir(p.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && strings.HasPrefix(entry.Name(), temporaryPrefix):
				return fs.SkipDir
			case entry.Type().IsRegular():
				now.Files[name], err = p.checksum(name)
			}
			return err
		}))
	}
	now.Path = old.Properties.Path
	files := old.Properties.Files
	if latest, ok := ops.latest.Load(id); ok {
		files = latest.(map[string]string)
	}
	for name := range files {
		if sum, err := p.checksum(name); err == nil {
			now.Files[name] = sum
		} else if !errors.Is(err, lumi.ErrNotFound) {
			return nil, err
		}
	}
	if maps.Equal(now.Files, old.Properties.Files) {
		now.Archive = old.Properties.Archive
	}
	return now, nil
}

// openUnpacked opens the directory with the given id as the root of a place, so that symbolic links in it cannot escape
// from it. It returns [lumi.ErrNotFound] if the directory does not exist.
func openUnpacked(id lumi.ID) (*place, error) {
	p, _, err := openOld(string(id), fs.ModeDir)
	if err != nil {
		return nil, err
	}
	defer p.close()
	root, err := p.OpenRoot(p.base)
	if err != nil {
		return nil, p.failed(err)
	}
	return &place{Root: root, path: p.path}, nil
}

// Update implements [UnpackedProviderOps]. It unpacks the entire archive before changing any files.
func (ops *unpackedProviderOpsImpl) Update(ctx context.Context, old, want *unpackedState, _ *lumi.Diff) error {
	p, err := openUnpacked(old.ID)
	if err != nil {
		return err
	}
	defer p.close()
	temporary, done, err := p.temporary(ctx, string(want.URN))
	if err != nil {
		return err
	}
	defer done()
	files, err := p.unpack(ctx, temporary, want.Properties.Archive)
	if err == nil {
		err = p.checkFree(old.Properties.Files, files)
	}
	if err == nil {
		// Files always lists the existing files. After a failure, the archive is omitted, so that the next update
		// continues.
		want.Properties.Files = maps.Clone(old.Properties.Files)
		if err = p.exchange(temporary, want.Properties.Files, files); err != nil {
			want.Done(Unpacked_Files)
		}
		ops.latest.Store(old.ID, maps.Clone(want.Properties.Files))
	}
	return p.failed(err)
}

// checkFree returns a fault for each new file whose path is taken by an unmanaged file. It accepts a file with the same
// content, which may come from a call with a lost response, and a directory, which the update may empty and remove.
func (p *place) checkFree(old, files map[string]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, ours := old[name]; ours {
			continue
		}
		info, err := p.Lstat(name)
		if err != nil || info.IsDir() {
			continue
		}
		if sum, err := p.checksum(name); err != nil || sum != files[name] {
			faults = append(faults, lumi.Faultf(Unpacked_Archive, "%s already exists in %s, and this resource did not create it",
				name, p.path))
		}
	}
	return errors.Join(faults...)
}

// exchange removes the files that are only in has and moves the new files from the temporary directory to their paths. It
// updates has after each step.
func (p *place) exchange(temporary string, has, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if _, stays := files[name]; stays {
			continue
		}
		if err := p.remove(name); err != nil {
			return err
		}
		delete(has, name)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := p.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := p.Rename(temporary+"/"+name, name); err != nil {
			return err
		}
		has[name] = files[name]
	}
	return nil
}

// remove removes a file, and its parent directories as long as they are empty. If the file was replaced with a directory or
// a link, it is kept.
func (p *place) remove(name string) error {
	switch info, err := p.Lstat(name); {
	case err != nil && !isGone(err):
		return err
	case err == nil && info.Mode().IsRegular():
		if err := p.Remove(name); err != nil {
			return err
		}
	}
	for name = path.Dir(name); name != "."; name = path.Dir(name) {
		info, err := p.Lstat(name)
		if isGone(err) || err == nil && info.IsDir() && p.Remove(name) == nil {
			continue
		}
		break
	}
	return nil
}

// Delete implements [UnpackedProviderOps]. It removes the unpacked files, and the directory unless it contains other files.
func (ops *unpackedProviderOpsImpl) Delete(ctx context.Context, old *unpackedState) error {
	p, err := openUnpacked(old.ID)
	if err != nil {
		return err
	}
	defer p.close()
	ops.latest.Delete(old.ID)
	for _, name := range slices.Sorted(maps.Keys(old.Properties.Files)) {
		if err := p.remove(name); err != nil {
			return lumi.Uncertain(p.failed(err))
		}
	}
	above, _, err := openOld(string(old.ID), fs.ModeDir)
	if err != nil {
		return err
	}
	defer above.close()
	if err = above.Remove(above.base); err == nil {
		return nil
	}
	if left := above.entries(); left != "" {
		lumi.Log(ctx).Warn("keeping the directory, because it contains other files", "path", above.path, "files", left)
		return nil
	}
	return lumi.Uncertain(above.failed(err))
}
