package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

const (
	prefix  = "sealed:1:" // prefix of a sealed secret's value
	padding = 64          // plaintexts are padded to a multiple of this size
)

// Seal returns v, a value of resource u, with its outermost secrets sealed. The seal binds a secret to the resource and
// to its path in v, so all values of a resource must be sealed as a single object. Seal returns a *[KeyError] if k is
// nil and v contains secrets.
func (k *Key) Seal(u urn.URN, v lumigl.Value) (lumigl.Value, error) {
	v, _, err := walk(v, "", func(secret lumigl.Value, path string) (lumigl.Value, error) {
		if k == nil {
			return lumigl.Value{}, &KeyError{at(u, path, "cannot be sealed without the key")}
		}
		plain, references, err := encode(secret)
		if err != nil { // Drop err, which may quote the secret.
			return lumigl.Value{}, at(u, path, "cannot be sealed: it cannot be written as LumiGL")
		}
		text := base64.StdEncoding.EncodeToString(k.aead().Seal(k.id[:], nil, plain, place(u, path)))
		return signed(lumigl.TextOf(prefix+text), references), nil
	})
	return v, err
}

// Open reverses [Key.Seal]. If v contains sealed secrets, it returns a *[KeyError] if k is nil or is not the sealing
// key.
func (k *Key) Open(u urn.URN, v lumigl.Value) (lumigl.Value, error) {
	v, _, err := walk(v, "", func(secret lumigl.Value, path string) (lumigl.Value, error) {
		return k.open(u, path, secret)
	})
	return v, err
}

// Hide returns the form in which a sealed value is shown without the key: secrets are replaced by unknown values with
// the same references.
func Hide(v lumigl.Value) lumigl.Value {
	v, _, _ = walk(v, "", func(secret lumigl.Value, _ string) (lumigl.Value, error) {
		return signed(lumigl.TextOf(wire.Unknown), secret.Get("references")), nil
	})
	return v
}

func signed(v, references lumigl.Value) lumigl.Value {
	return lumigl.ObjectOf(
		lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
		lumigl.Member{Key: "value", Value: v}, lumigl.Member{Key: "references", Value: references})
}

// place returns the additional authenticated data for a secret.
func place(u urn.URN, path string) []byte { return fmt.Appendf(nil, "%q %q", string(u), path) }

func at(u urn.URN, path, problem string) error {
	return fmt.Errorf("%s: the secret at %q %s", u, path, problem)
}

// walk returns v with its outermost secrets replaced by the results of visit. path is the path of v. found reports
// whether v contains any secrets.
func walk(
	v lumigl.Value, path string, visit func(secret lumigl.Value, path string) (lumigl.Value, error),
) (_ lumigl.Value, found bool, err error) {
	if v.IsSecret() {
		v, err := visit(v, path)
		return v, true, err
	}
	v = v.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
		if err != nil || part.Kind() != lumigl.Object && part.Kind() != lumigl.List {
			return lumigl.Value{}, false
		}
		if v.Kind() == lumigl.List {
			key = strconv.Itoa(i)
		}
		var changed bool
		part, changed, err = walk(part, jsonpointer.Within(path, key), visit)
		found = found || changed
		return part, changed
	})
	if err != nil {
		v = lumigl.Value{}
	}
	return v, found, err
}

func (k *Key) open(u urn.URN, path string, secret lumigl.Value) (v lumigl.Value, err error) {
	text, _ := secret.Get("value").Text()
	text, isSealed := strings.CutPrefix(text, prefix)
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	switch {
	case k == nil:
		return v, &KeyError{at(u, path, "cannot be read without the key")}
	case !isSealed || err != nil || len(data) < len(k.id):
		return v, at(u, path, "is not sealed, or was sealed by a newer version of lumi")
	case [len(k.id)]byte(data) != k.id:
		return v, &KeyError{at(u, path, "was sealed with a different key")}
	}
	plain, err := k.aead().Open(nil, nil, data[len(k.id):], place(u, path))
	if err == nil {
		v, err = decode(plain, secret.Get("references"))
	}
	if err != nil {
		return lumigl.Value{}, at(u, path, "is damaged, or was sealed for another resource or property")
	}
	return v, nil
}

// encode returns the plaintext of a secret, in which references are replaced by a random mark, and the list of
// references. The list is absent if there are none.
func encode(secret lumigl.Value) (plain []byte, references lumigl.Value, err error) {
	mark := lumigl.TextOf(rand.Text())
	var targets []lumigl.Value
	secret = secret.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if part.Kind() != lumigl.Reference {
			return part, false
		}
		targets = append(targets, part)
		return mark, true
	})
	if len(targets) > 0 {
		references = lumigl.ListOf(targets...)
	}
	fields := []lumigl.Member{{Key: "secret", Value: secret}, {Key: "mark", Value: mark}}
	plain, err = lumigl.Append(nil, &lumigl.Graph{Fields: fields})
	return padded(plain), references, err
}

// padded appends spaces to JSON, which hide its exact length.
func padded(plain []byte) []byte {
	for len(plain)%padding != 0 {
		plain = append(plain, ' ')
	}
	return plain
}

// decode reverses [encode]. It returns an error if references has the wrong length.
func decode(plain []byte, references lumigl.Value) (lumigl.Value, error) {
	g, err := lumigl.ParseGraph(string(plain))
	if err != nil {
		return lumigl.Value{}, err
	}
	doc := lumigl.ObjectOf(g.Fields...)
	mark, n, ok := doc.Get("mark"), 0, true
	// Replacing every leaf copies the secret, so that the parser's much larger memory can be freed.
	secret := doc.Get("secret").Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		if part.Equal(mark) {
			part = references.At(n)
			ok = ok && part.Kind() == lumigl.Reference
			n++
		}
		return part, part.Kind() != lumigl.Object && part.Kind() != lumigl.List
	})
	if !ok || n != references.Len() {
		return lumigl.Value{}, errors.New("wrong number of references")
	}
	return secret, nil
}
