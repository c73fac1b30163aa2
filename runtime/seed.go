package lumi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Seed is a seed for generated names and other random-looking defaults. Each resource has its own seed, which does not
// change until the resource is replaced. An empty seed is valid; tests may use it.
type Seed []byte

// LowerAlphanumeric is an alphabet for [Seed.Name]. Most clouds allow its characters in names.
const LowerAlphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789"

// Name returns prefix followed by n pseudorandom characters of the alphabet. The result is deterministic and depends on
// the seed and all arguments. Name panics if n is negative, or if the alphabet does not have 1 to 256 characters.
func (s Seed) Name(prefix string, n int, alphabet string) string {
	characters := []rune(alphabet)
	switch {
	case n < 0:
		panic("lumi: Seed.Name: n must not be negative")
	case len(characters) == 0 || len(characters) > 256:
		panic(fmt.Sprintf("lumi: Seed.Name: the alphabet must have 1 to 256 characters, not %d", len(characters)))
	}
	limit := 256 - 256%len(characters) // Skip larger bytes, which would bias the choice.
	name := []rune(nil)
	for block := uint64(0); len(name) < n; block++ {
		mac := hmac.New(sha256.New, s)
		mac.Write(binary.BigEndian.AppendUint64([]byte(prefix), block))
		for _, b := range mac.Sum(nil) {
			if int(b) < limit {
				name = append(name, characters[int(b)%len(characters)])
			}
		}
	}
	return prefix + string(name[:n])
}
