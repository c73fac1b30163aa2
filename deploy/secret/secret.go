// Package secret seals secrets in stored values with the data key of an environment, and wraps that key for authorized
// users.
//
// # Sealed values
//
// A sealed secret is a LumiGL secret whose value is text:
//
//	{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
//	 "value": "sealed:1:BASE64", "references": [{"#ref": "urn:…"}]}
//
// BASE64 encodes the key's ID (4 bytes), a random nonce (12 bytes), and the secret as padded JSON encrypted with
// AES-256-GCM. The additional data consists of the resource's URN and the JSON pointer to the secret, so a sealed
// secret can be opened only at its original location. References in the secret are listed in plain text, so that they
// can be followed and retargeted without the key. The seal authenticates their number and order, but not their targets.
//
// # Sealed texts
//
// A sealed text in a file is "age:1:BASE64", encrypted by age for recipients, or "key:1:BASE64", encrypted like a sealed
// value. The padded plaintext is the JSON object {"place": "…", "text": "…"}, where place is the only place where the
// text can be opened.
//
// # Wrapped keys
//
// A wrapped key consists of the line "lumi-key 1 KIND ID" and the output of age or of a command whose input was the
// base64-encoded key.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

const keySize = 32

// Key is the data key of an environment. It is safe for concurrent use, and formatting it never reveals the key. A nil
// Key can seal and open only values without secrets.
type Key struct {
	// Closures are never printed, even in an unexported Key field, for which fmt cannot call methods.
	text func() string // in base64
	aead func() cipher.AEAD
	id   [4]byte // a hash used to distinguish a wrong key from damaged data
}

// NewKey returns a random key.
func NewKey() *Key {
	var data [keySize]byte
	_, _ = rand.Read(data[:]) // never fails
	return keyOf(base64.StdEncoding.EncodeToString(data[:]))
}

// keyOf decodes a base64 key. It returns nil if text is invalid.
func keyOf(text string) *Key {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) != keySize {
		return nil
	}
	block, _ := aes.NewCipher(data) // the size is valid
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	sum := sha256.Sum256(append([]byte("lumi key id\x00"), data...))
	return &Key{func() string { return text }, func() cipher.AEAD { return aead }, [4]byte(sum[:])}
}

// KeyError reports a missing or wrong key, identity, passphrase, or command. Error messages of this package never
// contain keys or secrets.
type KeyError struct{ err error }

func needKey(format string, args ...any) error { return &KeyError{fmt.Errorf(format, args...)} }

// Error returns a message that describes the problem and how to fix it.
func (e *KeyError) Error() string { return e.err.Error() }

// Unwrap returns the underlying error, such as one for a missing file.
func (e *KeyError) Unwrap() error { return e.err }
