package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// fileProviderOpsImpl implements files. The id of a file is its path.
type fileProviderOpsImpl struct{}

type fileState = lumi.State[*file]

// Check implements [FileProviderOps].
func (fileProviderOpsImpl) Check(_ context.Context, want *fileState) error {
	p, unknown := want.Properties, want.Unknown
	faults := []error{checkPath(p.Path, unknown), checkMode(&p.Mode, "644", unknown)}
	hasContent := p.Content != nil || unknown.Has(File_Content)
	hasSource := p.Source != nil || unknown.Has(File_Source)
	switch {
	case hasContent && hasSource:
		faults = append(faults, lumi.Faultf(File_Source, "cannot be combined with content"))
	case !hasContent && !hasSource:
		faults = append(faults, lumi.Faultf(File_Content, "is required unless source is set"))
	}
	return errors.Join(faults...)
}

// Name implements [FileProviderOps].
func (fileProviderOpsImpl) Name(_ context.Context, want *fileState) (string, error) {
	return name(want.Properties.Path, want.Unknown)
}

// InspectChange implements [lumi.Inspector].
func (fileProviderOpsImpl) InspectChange(_ context.Context, old, want *fileState, diff *lumi.Diff) error {
	inspectPath(old.Properties.Path, want.Properties.Path, want.Unknown, diff)
	inspectMode(old.Properties.Mode, want.Properties.Mode, diff)
	return nil
}

// IdempotentCreate implements [lumi.IdempotentCreator].
func (fileProviderOpsImpl) IdempotentCreate() bool { return true }

// Find implements [lumi.Finder].
func (fileProviderOpsImpl) Find(_ context.Context, want *fileState) (lumi.ID, error) {
	p, info, err := openOld(want.Properties.Path, 0)
	if err != nil {
		return "", err
	}
	defer p.close()
	if !isMarked(info, want.Token) {
		return "", lumi.ErrNotFound
	}
	want.Properties.Checksum, err = p.checksum(p.base)
	return p.id(), err
}

// Create implements [FileProviderOps].
func (ops fileProviderOpsImpl) Create(ctx context.Context, want *fileState) (lumi.ID, error) {
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
	if id, err := ops.Find(ctx, want); !errors.Is(err, lumi.ErrNotFound) {
		return id, err
	}
	if _, err := p.Lstat(p.base); err == nil {
		return "", p.taken() // fail before fetching the content
	}
	if err := p.stage(ctx, want, temporary, func() error { return p.link(temporary, want.Token) }); err != nil {
		return "", err
	}
	return p.id(), nil
}

// link moves a temporary file to its path, marked with the token. It returns a fault if the path exists.
func (p *place) link(temporary, token string) error {
	t := markedTime(token)
	if err := p.Chtimes(temporary, t, t); err != nil {
		return err
	}
	err := p.Link(temporary, p.base) // unlike Rename, Link does not replace an existing file
	switch _, free := p.Lstat(p.base); {
	case errors.Is(err, fs.ErrExist):
		return p.taken()
	case err != nil && errors.Is(free, fs.ErrNotExist): // some file systems do not support hard links
		return p.Rename(temporary, p.base)
	}
	return err
}

// Get implements [FileProviderOps]. Assets cannot be read back, so Get returns the old source if the content of the file is
// unchanged, and omits it otherwise.
func (fileProviderOpsImpl) Get(_ context.Context, id lumi.ID, old *fileState) (*file, error) {
	p, info, err := openOld(string(id), 0)
	if err != nil {
		return nil, err
	}
	defer p.close()
	now := &file{Path: string(id)}
	if old == nil {
		old = &fileState{Properties: new(file)}
	} else {
		now.Path = old.Properties.Path
	}
	now.Mode = readMode(info, old.Properties.Mode)
	if now.Checksum, err = p.checksum(p.base); err != nil {
		return nil, err
	}
	if old.Properties.Source != nil {
		if now.Checksum == old.Properties.Checksum {
			now.Source = old.Properties.Source
		}
		return now, nil
	}
	if info.Size() > maxContent {
		return now, nil
	}
	text, err := p.ReadFile(p.base)
	if err == nil && utf8.Valid(text) {
		now.Content = new(string(text))
	}
	return now, err
}

// maxContent is the maximum size of a file whose content is read back as text.
const maxContent = 16 << 20

// Update implements [FileProviderOps]. It replaces the content and the mode atomically.
func (fileProviderOpsImpl) Update(ctx context.Context, old, want *fileState, diff *lumi.Diff) error {
	p, _, err := openOld(string(old.ID), 0)
	if err != nil {
		return err
	}
	defer p.close()
	if !diff.Changed(File_Content) && !diff.Changed(File_Source) {
		return p.failed(p.Chmod(p.base, permissions(want.Properties.Mode)))
	}
	temporary, done, err := p.temporary(ctx, string(want.URN))
	if err != nil {
		return err
	}
	defer done()
	return p.stage(ctx, want, temporary, func() error { return p.Rename(temporary, p.base) })
}

// Delete implements [FileProviderOps]. If the file was replaced with a directory or a link, it deletes nothing.
func (fileProviderOpsImpl) Delete(_ context.Context, old *fileState) error {
	p, _, err := openOld(string(old.ID), 0)
	if err != nil {
		return err
	}
	defer p.close()
	return p.failed(p.Remove(p.base))
}

// stage writes the wanted content to a temporary file, calls move, and sets the checksum. If it fails, the file at the path
// is unchanged.
func (p *place) stage(ctx context.Context, want *fileState, temporary string, move func() error) error {
	source, property := want.Properties.Source, lumi.Path(File_Source)
	if text := want.Properties.Content; text != nil {
		source, property = new(lumi.TextAsset(*text)), File_Content
	}
	from, err := content.Open(ctx, *source)
	if err != nil {
		return unread(ctx, err, property)
	}
	defer func() { _ = from.Close() }() // read-only, so the error can be ignored
	checksum, err := p.write(ctx, temporary, permissions(want.Properties.Mode), from, property)
	if err == nil {
		err = move()
	}
	if err != nil {
		return p.failed(err)
	}
	want.Properties.Checksum = checksum
	return nil
}

// write creates a file with the content of from and returns its checksum. It returns a fault at property if the content
// cannot be read.
func (p *place) write(
	ctx context.Context, name string, mode fs.FileMode, from io.Reader, property lumi.Path,
) (checksum string, err error) {
	file, err := p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	hash, in := sha256.New(), &input{Reader: from}
	_, err = io.Copy(io.MultiWriter(file, hash), in)
	if in.err != nil {
		err = unread(ctx, in.err, property)
	}
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil && property != Unpacked_Archive { // syncing thousands of files would take minutes
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}

// input records read errors, to distinguish them from write errors.
type input struct {
	io.Reader
	err error
}

func (i *input) Read(data []byte) (int, error) {
	n, err := i.Reader.Read(data)
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	return n, err
}

// unread returns a fault for an error from reading the content, or err if the call was canceled.
func unread(ctx context.Context, err error, property lumi.Path) error {
	if ctx.Err() != nil {
		return err
	}
	return lumi.Faultf(property, "%v", err)
}
