package content

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Hash returns a hash of the content of an asset or archive, in hexadecimal. The error contains the path or URI, without
// credentials.
//
// The hash of an asset is the SHA-256 of its content. The hash of an archive is the SHA-256 of one record per file, sorted
// by name, byte by byte. A record consists of the length of the name as 8 bytes in big-endian order; the name; a byte that
// is 1 if the file's owner may execute it and 0 otherwise; and the 32 bytes of the SHA-256 of the content. So a folder, a
// zip file, and a tar file with the same files have the same hash, regardless of order, times, owners, and compression.
func Hash(ctx context.Context, c lumi.Content) (string, error) {
	all, err := records(ctx, c)
	if err != nil {
		return "", err
	}
	return hashOf(c, all), nil
}

// record holds the properties of a file in an archive that the hash depends on.
type record struct {
	name       string
	executable bool
	sum        [sha256.Size]byte
}

// records returns the records of all files in an archive, sorted by name. For an asset, it returns a single record
// without a name.
func records(ctx context.Context, c lumi.Content) (all []record, err error) {
	switch c := c.(type) {
	case lumi.Asset:
		s, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Close() }() // read only
		sum, err := digest(s)
		return []record{{executable: s.executable, sum: sum}}, err
	case lumi.Archive:
		err = Walk(ctx, c, func(f File) error {
			sum, err := digest(f.Content)
			all = append(all, record{f.Name, f.Executable, sum})
			return err
		})
		return all, err
	}
	return nil, errAbsent
}

// hashOf returns the hash of c, given its records.
func hashOf(c lumi.Content, all []record) string {
	if _, ok := c.(lumi.Asset); ok {
		return hex.EncodeToString(all[0].sum[:])
	}
	return hashRecords(all)
}

func hashRecords(all []record) string {
	slices.SortFunc(all, func(a, b record) int { return strings.Compare(a.name, b.name) })
	hash := sha256.New()
	var line []byte
	for _, r := range all {
		line = binary.BigEndian.AppendUint64(line[:0], uint64(len(r.name)))
		line = append(line, r.name...)
		if r.executable {
			line = append(line, 1)
		} else {
			line = append(line, 0)
		}
		hash.Write(append(line, r.sum[:]...))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func digest(content io.Reader) (sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	_, err = io.Copy(hash, content)
	hash.Sum(sum[:0])
	return sum, err
}
