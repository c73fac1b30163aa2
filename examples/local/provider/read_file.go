package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"unicode/utf8"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
)

// read implements [ReadFileFunc].
func read(ctx context.Context, call *readFile, _ lumi.References) error {
	from, err := content.Open(ctx, lumi.FileAsset(call.Path))
	if err != nil {
		return unread(ctx, err, ReadFile_Path)
	}
	defer func() { _ = from.Close() }() // read-only, so the error can be ignored
	text, err := io.ReadAll(io.LimitReader(from, maxContent+1))
	switch {
	case err != nil:
		return unread(ctx, err, ReadFile_Path)
	case len(text) > maxContent:
		return lumi.Faultf(ReadFile_Path, "the file is larger than %d MiB", maxContent>>20)
	case !utf8.Valid(text):
		return lumi.Faultf(ReadFile_Path, "the file is not UTF-8 text")
	}
	sum := sha256.Sum256(text)
	call.Content, call.Size, call.Checksum = string(text), len(text), hex.EncodeToString(sum[:])
	return nil
}
