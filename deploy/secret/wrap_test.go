package secret_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func wrapper(t testing.TB, text string) *secret.Wrapper {
	t.Helper()
	return must.Get(secret.ParseWrapper(text))(t)
}

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	return must.Get(age.GenerateX25519Identity())(t)
}

func wrap(t testing.TB, w *secret.Wrapper, k *secret.Key) string {
	t.Helper()
	wrapped := must.Get(w.Wrap(t.Context(), k))(t)
	for _, form := range secret.Forms(k) {
		if strings.Contains(wrapped, form) {
			t.Fatal("Wrap() contains the plain key")
		}
	}
	return wrapped
}

// isSame checks that key b opens values sealed with key a.
func isSame(t testing.TB, a, b *secret.Key) {
	t.Helper()
	v := secretOf(lumigl.TextOf("hunter2"))
	if opened := must.Get(b.Open(db, must.Get(a.Seal(db, v))(t)))(t); !opened.Equal(v) {
		t.Fatal("keys differ: Open returned a different value")
	}
}

func fails(t testing.TB, about string, err error, needs bool, want string) {
	t.Helper()
	if err == nil || err.Error() != want || needsKey(err) != needs {
		t.Errorf("%s: error %v (*KeyError: %t), want %s (%t)", about, err, needsKey(err), want, needs)
	}
}

func needsKey(err error) bool {
	_, ok := errors.AsType[*secret.KeyError](err)
	return ok
}

// noVariables unsets the environment variables read by a Wrapper.
func noVariables(t *testing.T) {
	for _, name := range []string{secret.IdentityVariable, secret.PassphraseVariable, secret.NewPassphraseVariable} {
		t.Setenv(name, "")
	}
}

const otherKey = "this identity or passphrase cannot unwrap the key: use another one"

func TestWrapAge(t *testing.T) {
	noVariables(t)
	a, b, c := identity(t), identity(t), identity(t)
	quantum := must.Get(age.GenerateHybridIdentity())(t)
	key := secret.NewKey()
	w := wrapper(t, "age:"+a.Recipient().String()+", "+b.Recipient().String())
	wrapped := wrap(t, w, key)
	unwrap := func() *secret.Key {
		t.Helper()
		return must.Get(w.Unwrap(t.Context(), wrapped))(t)
	}
	file := filepath.Join(t.TempDir(), "keys.txt")
	must.Do(t, os.WriteFile(file, []byte("# mine\n"+c.String()+"\n"+a.String()+"\n"), 0o600))
	t.Setenv(secret.IdentityVariable, file)
	isSame(t, key, unwrap())
	t.Setenv(secret.IdentityVariable, b.String())
	isSame(t, key, unwrap())

	// Once the key is wrapped for other recipients, the previous ones cannot unwrap it.
	t.Setenv(secret.IdentityVariable, c.String())
	_, err := w.Unwrap(t.Context(), wrapped)
	fails(t, "not a recipient", err, true, otherKey)
	wrapped = wrap(t, wrapper(t, "age:"+c.Recipient().String()), key)
	isSame(t, key, unwrap())
	t.Setenv(secret.IdentityVariable, file)
	must.Do(t, os.WriteFile(file, []byte(a.String()), 0o600))
	_, err = w.Unwrap(t.Context(), wrapped)
	fails(t, "not a recipient any more", err, true, otherKey)
	wrapped = wrap(t, wrapper(t, "age:"+quantum.Recipient().String()), key)
	t.Setenv(secret.IdentityVariable, quantum.String())
	isSame(t, key, unwrap())
	_, err = wrapper(t, "age:"+quantum.Recipient().String()+","+a.Recipient().String()).Wrap(t.Context(), key)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot wrap the key: incompatible recipients") {
		t.Errorf("Wrap for a post-quantum and another recipient: error %v, want incompatible recipients", err)
	}

	t.Setenv(secret.IdentityVariable, file)
	must.Do(t, os.WriteFile(file, []byte("AGE-SECRET-KEY-1HUNTER2"), 0o600))
	_, err = w.Unwrap(t.Context(), wrapped)
	fails(t, "malformed", err, true, `malformed identities in LUMI_AGE_IDENTITY: expected lines that start with "AGE-SECRET-KEY-"`)
	must.Do(t, os.Remove(file))
	_, err = w.Unwrap(t.Context(), wrapped)
	fails(t, "no file", err, true, "the key needs an age identity: set LUMI_AGE_IDENTITY to an identity or the path of an identity file (no such file or directory)")
	t.Setenv(secret.IdentityVariable, "")
	_, err = w.Unwrap(t.Context(), wrapped)
	fails(t, "no identity", err, true, "the key needs an age identity: set LUMI_AGE_IDENTITY to an identity or the path of an identity file (no such file or directory)")
}

// Wrapped keys are compatible with the age library in both directions.
func TestWrapAgeCompatible(t *testing.T) {
	noVariables(t)
	me, key := identity(t), secret.NewKey()
	t.Setenv(secret.IdentityVariable, me.String())
	w := wrapper(t, "age:"+me.Recipient().String())
	header, body, _ := strings.Cut(wrap(t, w, key), "\n")
	text, err := io.ReadAll(must.Get(age.Decrypt(armor.NewReader(strings.NewReader(body)), me))(t))
	if err != nil || string(text) != secret.Forms(key)[0] {
		t.Fatalf("age.Decrypt returned %d bytes, %v, want the key", len(text), err)
	}

	var b strings.Builder
	b.WriteString(header + "\n")
	lines := armor.NewWriter(&b)
	in := must.Get(age.Encrypt(lines, identity(t).Recipient(), me.Recipient()))(t)
	_, err = in.Write(text)
	must.Do(t, errors.Join(err, in.Close(), lines.Close()))
	isSame(t, key, must.Get(w.Unwrap(t.Context(), b.String()))(t))
}

func TestWrapPassphrase(t *testing.T) {
	noVariables(t)
	key, w := secret.NewKey(), wrapper(t, "passphrase")
	_, err := w.Wrap(t.Context(), key)
	fails(t, "none", err, true, "secrets are encrypted with a passphrase: choose one and set LUMI_PASSPHRASE")
	w.Ask = func(bool) (string, error) { return "", context.Canceled }
	_, err = w.Wrap(t.Context(), key)
	fails(t, "no answer", err, true, "the key needs a passphrase: context canceled")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Wrap error %v does not wrap context.Canceled", err)
	}
	w.Ask = func(bool) (string, error) { return "", nil }
	_, err = w.Wrap(t.Context(), key)
	fails(t, "empty", err, true, "secrets are encrypted with a passphrase: choose one and set LUMI_PASSPHRASE")

	var asked []bool
	w.Ask = func(isNew bool) (string, error) { asked = append(asked, isNew); return "correct horse", nil }
	wrapped := wrap(t, w, key)
	isSame(t, key, must.Get(w.Unwrap(t.Context(), wrapped))(t))
	if len(asked) != 2 || !asked[0] || asked[1] {
		t.Errorf("calls of Ask with isNew = %v, want true, false", asked)
	}
	t.Setenv(secret.PassphraseVariable, "hunter2")
	_, err = w.Unwrap(t.Context(), wrapped)
	fails(t, "wrong", err, true, otherKey)
}

func TestUnwrapDamaged(t *testing.T) {
	noVariables(t)
	me, key := identity(t), secret.NewKey()
	t.Setenv(secret.IdentityVariable, me.String())
	w := wrapper(t, "age:"+me.Recipient().String())
	wrapped := wrap(t, w, key)
	for i := range wrapped {
		changed := []byte(wrapped)
		changed[i] ^= 1
		for _, text := range []string{string(changed), wrapped[:i]} {
			k, err := w.Unwrap(t.Context(), text)
			if err == nil && i >= len(wrapped)-2 {
				isSame(t, key, k) // Line endings are not significant.
				continue
			}
			if err == nil || k != nil || strings.Contains(err.Error(), me.String()) {
				t.Fatalf("Unwrap(%q) error = %v, want one without the identity", text, err)
			}
		}
	}

	_, body, _ := strings.Cut(wrapped, "\n")
	start := "the wrapped key is damaged, or from a newer version of lumi"
	for _, test := range []struct {
		text  string
		needs bool
		want  string
	}{
		{"", false, start},
		{body, false, start},
		{strings.Replace(wrapped, " 1 ", " 2 ", 1), false, start},
		{strings.Replace(wrapped, " age ", " exec ", 1), true, `the key is wrapped with "exec", but "age" is configured`},
		{"lumi-key 1 age 00000000\n" + body, true, `"age" unwrapped something other than the key`},
		{wrapped[:len(wrapped)/2], false, "the wrapped key is damaged: age cannot read it"},
	} {
		_, err := w.Unwrap(t.Context(), test.text)
		fails(t, test.text, err, test.needs, test.want)
	}
}

func TestParseWrapper(t *testing.T) {
	const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	for _, text := range []string{"age:" + recipient, "age: " + recipient + " , " + recipient, "passphrase", "exec:vault-key", "exec:bin/key  --name prod"} {
		wrapper(t, text)
	}
	const malformed = "malformed key configuration: must be age:RECIPIENT[,RECIPIENT…], exec:COMMAND, or passphrase (read from LUMI_PASSPHRASE)"
	const recipients = `malformed age recipients: expected a comma-separated list of recipients that start with "age1"`
	for text, want := range map[string]string{
		"":                   malformed,
		"hunter2":            malformed,
		recipient:            malformed,
		"Age:hunter2":        malformed,
		"exec: ":             malformed,
		"exec":               malformed,
		"passphrase:hunter2": malformed,
		"age:":               recipients,
		"age:# comment":      recipients,
		"age:" + recipient + "," + recipient[:40]:       recipients,
		"age:" + recipient + "," + identity(t).String(): recipients,
		identity(t).String():                            malformed,
	} {
		w, err := secret.ParseWrapper(text)
		fails(t, text, err, false, want)
		if w != nil {
			t.Errorf("ParseWrapper(%s) returned a Wrapper along with an error", text)
		}
	}
}

func TestWrapperFor(t *testing.T) {
	noVariables(t)
	key, id := secret.NewKey(), identity(t)
	t.Setenv(secret.IdentityVariable, id.String())
	t.Setenv(secret.PassphraseVariable, "first")
	t.Setenv(secret.NewPassphraseVariable, "second")
	byAge := wrap(t, wrapper(t, "age:"+id.Recipient().String()), key)
	passphrase := wrapper(t, "passphrase")
	former := must.Get(passphrase.For(byAge))(t)
	isSame(t, key, must.Get(former.Unwrap(t.Context(), byAge))(t))

	// The variable with the new passphrase is read only if Changes is set.
	must.Get(passphrase.Unwrap(t.Context(), wrap(t, passphrase, key)))(t)
	passphrase.Changes = true
	changed := wrap(t, passphrase, key)
	_, err := passphrase.Unwrap(t.Context(), changed)
	fails(t, "the former passphrase", err, true, otherKey)
	t.Setenv(secret.NewPassphraseVariable, "")
	_, err = passphrase.Wrap(t.Context(), key)
	fails(t, "no new passphrase", err, true, "secrets are encrypted with a passphrase: choose one and set LUMI_NEW_PASSPHRASE")

	_, err = passphrase.For("lumi-key 1 exec 00\nx\n")
	fails(t, "a command", err, true, "the key is wrapped with a command: use --old-key=exec:COMMAND")
	_, err = passphrase.For("nonsense")
	fails(t, "damaged", err, false, "the wrapped key is damaged, or from a newer version of lumi")
}
