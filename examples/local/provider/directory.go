package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// directoryProviderOpsImpl implements directories. Their ids are their paths.
type directoryProviderOpsImpl struct{}

type directoryState = lumi.State[*directory]

// Check implements [DirectoryProviderOps].
func (directoryProviderOpsImpl) Check(_ context.Context, want *directoryState) error {
	p, unknown := want.Properties, want.Unknown
	return errors.Join(checkPath(p.Path, unknown), checkMode(&p.Mode, "755", unknown))
}

// Name implements [DirectoryProviderOps].
func (directoryProviderOpsImpl) Name(_ context.Context, want *directoryState) (string, error) {
	return name(want.Properties.Path, want.Unknown)
}

// InspectChange implements [lumi.Inspector].
func (directoryProviderOpsImpl) InspectChange(_ context.Context, old, want *directoryState, diff *lumi.Diff) error {
	inspectPath(old.Properties.Path, want.Properties.Path, want.Unknown, diff)
	inspectMode(old.Properties.Mode, want.Properties.Mode, diff)
	return nil
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (directoryProviderOpsImpl) IdempotentCreate() bool { return true }

// Find implements [lumi.Finder].
func (directoryProviderOpsImpl) Find(_ context.Context, want *directoryState) (lumi.ID, error) {
	return findDirectory(want.Properties.Path, want.Token)
}

// findDirectory returns the id of the directory at path if it was created with token. It returns [lumi.ErrNotFound] if
// there is none or its entries have changed, since that changes the modification time, which contains the mark.
func findDirectory(path, token string) (lumi.ID, error) {
	p, info, err := openOld(path, fs.ModeDir)
	if err != nil {
		return "", err
	}
	defer p.close()
	if !isMarked(info, token) {
		return "", lumi.ErrNotFound
	}
	return p.id(), nil
}

// Create implements [DirectoryProviderOps].
func (ops directoryProviderOpsImpl) Create(ctx context.Context, want *directoryState) (lumi.ID, error) {
	if id, err := ops.Find(ctx, want); !errors.Is(err, lumi.ErrNotFound) {
		return id, err
	}
	p, err := openNew(want.Properties.Path)
	if err != nil {
		return "", err
	}
	defer p.close()
	err = p.Mkdir(p.base, 0o700)
	for i := 0; errors.Is(err, fs.ErrExist); i++ { // perhaps created, but not yet marked, by a concurrent call
		if id, err := ops.Find(ctx, want); err == nil {
			return id, nil
		}
		if i == 20 {
			return "", p.taken()
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return "", p.failed(err)
	}
	t := markedTime(want.Token)
	err = errors.Join(p.Chmod(p.base, permissions(want.Properties.Mode)), p.Chtimes(p.base, t, t))
	return p.id(), p.failed(err)
}

// Get implements [DirectoryProviderOps].
func (directoryProviderOpsImpl) Get(_ context.Context, id lumi.ID, old *directoryState) (*directory, error) {
	p, info, err := openOld(string(id), fs.ModeDir)
	if err != nil {
		return nil, err
	}
	defer p.close()
	now := &directory{Path: string(id)}
	if old != nil {
		now.Path, now.Mode, now.Force = old.Properties.Path, old.Properties.Mode, old.Properties.Force
	}
	now.Mode = readMode(info, now.Mode)
	return now, nil
}

// Update implements [DirectoryProviderOps].
func (directoryProviderOpsImpl) Update(_ context.Context, old, want *directoryState, diff *lumi.Diff) error {
	p, _, err := openOld(string(old.ID), fs.ModeDir)
	if err != nil {
		return err
	}
	defer p.close()
	if !diff.Changed(Directory_Mode) {
		return nil
	}
	return p.failed(p.Chmod(p.base, permissions(want.Properties.Mode)))
}

// Delete implements [DirectoryProviderOps].
func (directoryProviderOpsImpl) Delete(_ context.Context, old *directoryState) error {
	p, _, err := openOld(string(old.ID), fs.ModeDir)
	if err != nil {
		return err
	}
	defer p.close()
	if force := old.Properties.Force; force != nil && *force {
		// RemoveAll does not follow symbolic links. If it fails, a repeated call deletes the remaining entries.
		return lumi.Uncertain(p.failed(p.RemoveAll(p.base)))
	}
	if err = p.Remove(p.base); err == nil {
		return nil
	}
	if left := p.entries(); left != "" {
		return fmt.Errorf("%s contains %s: empty it, or set force and deploy before you delete it", p.path, left)
	}
	return p.failed(err)
}

// entries returns the names of up to three entries in the directory, for an error message.
func (p *place) entries() string {
	directory, err := p.Open(p.base)
	if err != nil {
		return ""
	}
	defer directory.Close()
	found, _ := directory.Readdirnames(4) // if there are no names, the caller returns Remove's error
	if len(found) > 3 {
		found[3] = "more"
	}
	return strings.Join(found, ", ")
}
