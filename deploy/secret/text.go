package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"filippo.io/age"
)

// MaxText is the maximum size in bytes of a text that [Wrapper.SealText] accepts.
const MaxText = maxOutput

// textData is the additional authenticated data of sealed texts. It differs from all values of [place], so neither a
// text nor a secret in a value can be opened as the other.
var textData = []byte("text")

// sealedText is the plaintext of a sealed text. Place is part of it because age has no additional data.
type sealedText struct {
	Place string `json:"place"`
	Text  string `json:"text"`
}

// SealText seals text for w's age recipients, which takes no private key, or, if w has none, with k. Only [OpenText] with
// the same place opens it. SealText returns a *[KeyError] if it needs k, and k is nil.
func (w *Wrapper) SealText(k *Key, place, text string) (string, error) {
	if len(text) > MaxText || !utf8.ValidString(text) {
		return "", errors.New("must be UTF-8 text of at most 64 KiB")
	}
	plain, _ := json.Marshal(sealedText{place, text}) // strings can always be encoded
	plain = padded(plain)
	if w.kind != "age" && k == nil {
		return "", needKey("cannot be sealed without the environment's key")
	} else if w.kind != "age" {
		return "key:1:" + base64.StdEncoding.EncodeToString(k.aead().Seal(k.id[:], nil, plain, textData)), nil
	}
	var body bytes.Buffer
	out, err := age.Encrypt(&body, w.recipients...)
	if err != nil {
		return "", fmt.Errorf("cannot be sealed: %w", err)
	}
	_, _ = out.Write(plain) // Writing to a buffer cannot fail.
	_ = out.Close()
	return "age:1:" + base64.StdEncoding.EncodeToString(body.Bytes()), nil
}

// OpenText reverses [Wrapper.SealText], with k or with the age identity in [IdentityVariable]. It returns a *[KeyError]
// if that is missing or cannot open sealed.
func OpenText(k *Key, place, sealed string) (string, error) {
	kind, encoded, _ := strings.Cut(sealed, ":1:")
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	open := map[string]func([]byte) ([]byte, error){"age": openText, "key": k.openText}[kind]
	if err != nil || open == nil {
		return "", errors.New("not sealed, damaged, or sealed by a newer version of lumi")
	}
	var opened sealedText
	plain, err := open(data)
	if err == nil && json.Unmarshal(plain, &opened) != nil {
		err = errDamaged
	}
	if err == nil && opened.Place != place {
		err = fmt.Errorf("sealed as %q, and cannot be opened elsewhere", opened.Place)
	}
	if err != nil {
		return "", err
	}
	return opened.Text, nil
}

var errDamaged = errors.New("damaged")

func openText(data []byte) ([]byte, error) {
	identities, err := ageIdentities("the secret")
	if err != nil {
		return nil, err
	}
	return openAge(bytes.NewReader(data), 8*MaxText, identities, "this identity cannot open it: use another one", errDamaged)
}

func (k *Key) openText(data []byte) ([]byte, error) {
	switch {
	case k == nil:
		return nil, needKey("cannot be opened without the environment's key")
	case len(data) < len(k.id):
		return nil, errDamaged
	case [len(k.id)]byte(data) != k.id:
		return nil, needKey("sealed with a different key")
	}
	plain, err := k.aead().Open(nil, nil, data[len(k.id):], textData)
	if err != nil {
		return nil, errDamaged
	}
	return plain, nil
}
