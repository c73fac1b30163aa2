package lumi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Seed is what generated names and other defaults that look random are derived from. An engine gives each resource one
// of its own, which stays the same until the resource is replaced.
type Seed []byte

// LowerAlphanumeric is an alphabet for [Seed.Name] that most clouds accept in names.
const LowerAlphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789"

// Name returns prefix followed by n characters of the alphabet, which has 1 to 256 ASCII characters. For one seed and
// one prefix it always returns the same name.
func (s Seed) Name(prefix string, n int, alphabet string) string {
	name := []byte(prefix)
	limit := 256 - 256%len(alphabet) // Bytes from there on would make some characters more likely than others.
	for block := uint64(0); ; block++ {
		mac := hmac.New(sha256.New, s)
		mac.Write(binary.BigEndian.AppendUint64([]byte(prefix), block))
		for _, b := range mac.Sum(nil) {
			if len(name) == len(prefix)+n {
				return string(name)
			}
			if int(b) < limit {
				name = append(name, alphabet[int(b)%len(alphabet)])
			}
		}
	}
}
