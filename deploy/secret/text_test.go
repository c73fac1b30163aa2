package secret_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestSealText(t *testing.T) {
	noVariables(t)
	a, b := identity(t), identity(t)
	key := secret.NewKey()
	file := filepath.Join(t.TempDir(), "keys.txt")
	must.Do(t, os.WriteFile(file, []byte(b.String()+"\n"), 0o600))
	for _, test := range []struct{ config, prefix, identity string }{
		{"age:" + a.Recipient().String() + "," + b.Recipient().String(), "age:1:", file},
		{"passphrase", "key:1:", ""}, {"exec:false", "key:1:", ""},
	} {
		w := wrapper(t, test.config)
		t.Setenv(secret.IdentityVariable, "") // not needed to seal
		lengths := map[int]bool{}
		for _, text := range []string{"hunter2", "", "two\nlines\n", "<é𝄞\">"} {
			sealed := must.Get(w.SealText(key, "prod password", text))(t)
			lengths[len(sealed)] = true
			for _, form := range forms("hunter2") {
				if !strings.HasPrefix(sealed, test.prefix) || strings.Contains(sealed, form) {
					t.Errorf("%s: SealText() = %q, want %s and ciphertext", test.config, sealed, test.prefix)
				}
			}
			if again := must.Get(w.SealText(key, "prod password", text))(t); again == sealed {
				t.Errorf("%s: SealText returned the same text twice", test.config)
			}
			t.Setenv(secret.IdentityVariable, test.identity)
			if got := must.Get(secret.OpenText(key, "prod password", sealed))(t); got != text {
				t.Errorf("%s: OpenText() = %q, want %q", test.config, got, text)
			}
		}
		if len(lengths) != 1 {
			t.Errorf("%s: sealed texts of 0 to 10 bytes have %d lengths, want 1", test.config, len(lengths))
		}
		for _, text := range []string{strings.Repeat("x", secret.MaxText+1), "a\xff"} {
			_, err := w.SealText(key, "prod password", text)
			fails(t, test.config, err, false, "must be UTF-8 text of at most 64 KiB")
		}
	}
}

func TestSealTextErrors(t *testing.T) {
	t.Parallel()
	_, err := wrapper(t, "passphrase").SealText(nil, "prod password", "hunter2")
	fails(t, "no key", err, true, "cannot be sealed without the environment's key")
	quantum := must.Get(age.GenerateHybridIdentity())(t).Recipient().String()
	_, err = wrapper(t, "age:"+quantum+","+identity(t).Recipient().String()).SealText(nil, "prod password", "hunter2")
	if err == nil || !strings.HasPrefix(err.Error(), "cannot be sealed: incompatible recipients") {
		t.Errorf("SealText for a post-quantum and another recipient: error %v, want incompatible recipients", err)
	}
}

func TestOpenTextErrors(t *testing.T) {
	noVariables(t)
	mine, other := identity(t), identity(t)
	key := secret.NewKey()
	byKey := must.Get(wrapper(t, "passphrase").SealText(key, "prod password", "hunter2"))(t)
	byAge := must.Get(wrapper(t, "age:"+mine.Recipient().String()).SealText(nil, "prod password", "hunter2"))(t)
	foreign, _ := must.Get(key.Seal(db, object("a", secretOf(lumigl.TextOf("hunter2")))))(t).Get("a").Get("value").Text()
	const (
		invalid   = "not sealed, damaged, or sealed by a newer version of lumi"
		elsewhere = `sealed as "prod password", and cannot be opened elsewhere`
		noFile    = "the secret needs an age identity: set LUMI_AGE_IDENTITY to an identity or the path of an identity file (no such file or directory)"
	)
	flipped := func(sealed string, at int) string {
		data := must.Get(base64.StdEncoding.DecodeString(sealed[6:]))(t)
		data[(at+len(data))%len(data)] ^= 1
		return sealed[:6] + base64.StdEncoding.EncodeToString(data)
	}
	for _, test := range []struct {
		about, identity string
		key             *secret.Key
		place, sealed   string
		needs           bool
		want            string
	}{
		{"no identity", "", key, "prod password", byAge, true, noFile},
		{"another identity", other.String(), key, "prod password", byAge, true, "this identity cannot open it: use another one"},
		{"another environment", mine.String(), key, "dev password", byAge, false, elsewhere},
		{"flipped", mine.String(), key, "prod password", flipped(byAge, -1), false, "damaged"},
		{"truncated", mine.String(), key, "prod password", byAge[:len(byAge)-4], false, "damaged"},
		{"no key", "", nil, "prod password", byKey, true, "cannot be opened without the environment's key"},
		{"another key", "", secret.NewKey(), "prod password", byKey, true, "sealed with a different key"},
		{"another name", "", key, "prod token", byKey, false, elsewhere},
		{"flipped", "", key, "prod password", flipped(byKey, -1), false, "damaged"},
		{"too short", "", key, "prod password", "key:1:AAAA", false, "damaged"},
		{"a secret of the state", "", key, "prod password", "key:1:" + strings.TrimPrefix(foreign, "sealed:1:"), false, "damaged"},
		{"empty", "", key, "prod password", "", false, invalid},
		{"plain", "", key, "prod password", "hunter2", false, invalid},
		{"newer", "", key, "prod password", "key:2:AAAA", false, invalid},
		{"another kind", "", key, "prod password", "sealed:1:AAAA", false, invalid},
		{"no base64", "", key, "prod password", "key:1:hunter2", false, invalid},
	} {
		t.Setenv(secret.IdentityVariable, test.identity)
		text, err := secret.OpenText(test.key, test.place, test.sealed)
		fails(t, test.about, err, test.needs, test.want)
		if text != "" {
			t.Errorf("%s: OpenText() = %q along with an error, want an empty string", test.about, text)
		}
	}

	// A sealed text is not accepted as a secret in the state either.
	v := object("a", secretOf(lumigl.TextOf("sealed:1:"+strings.TrimPrefix(byKey, "key:1:"))))
	_, err := key.Open(db, v)
	fails(t, "a sealed text", err, false, string(db)+`: the secret at "/a" is damaged, or was sealed for another resource or property`)
}
