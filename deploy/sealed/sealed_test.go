package sealed_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/lumi-idl/lumi/deploy/sealed"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func wrapper(t *testing.T, text string) *secret.Wrapper {
	t.Helper()
	return must.Get(secret.ParseWrapper(text))(t)
}

func read(t *testing.T, folder, environment string) *sealed.File {
	t.Helper()
	return must.Get(sealed.Read(folder, environment))(t)
}

// open returns the values of all entries by name.
func open(t *testing.T, f *sealed.File, key *secret.Key) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range f.Entries {
		all[e.Name] = must.Get(f.Open(e.Name, key))(t)
	}
	return all
}

func text(t *testing.T, f *sealed.File) string {
	t.Helper()
	return string(must.Get(os.ReadFile(f.Path))(t))
}

// wantText compares the file with a pattern in which … stands for a sealed text.
func wantText(t *testing.T, f *sealed.File, want string) {
	t.Helper()
	form := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "[A-Za-z0-9+/]+=*")
	if got := text(t, f); !regexp.MustCompile("^" + form + "$").MatchString(got) {
		t.Errorf("%s = %s, want %s", filepath.Base(f.Path), got, want)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	folder, w, key := t.TempDir(), wrapper(t, "passphrase"), secret.NewKey()
	f := read(t, folder, "prod")
	if want := filepath.Join(folder, "config", "prod.sealed.json"); f.Path != want || len(f.Entries) != 0 {
		t.Errorf("Read of a missing file = %s with %d entries, want %s without entries", f.Path, len(f.Entries), want)
	}
	for _, name := range []string{"shop.password", "note", "shop/db.password", "shop.a"} {
		must.Do(t, f.Set(name, "hunter2 of "+name, w, key))
	}
	must.Do(t, f.Write())
	wantText(t, f, `{
  "note": "key:1:…",
  "shop.a": "key:1:…",
  "shop.password": "key:1:…",
  "shop/db.password": "key:1:…"
}
`)

	// A change affects only its own line.
	before := strings.Split(text(t, f), "\n")
	f = read(t, folder, "prod")
	if e := f.Entries[3]; e.Name != "shop/db.password" || e.Line != 5 || e.Column != 23 {
		t.Errorf("last entry = %+v, want shop/db.password at 5:23", e)
	}
	must.Do(t, f.Set("shop.a", "changed", w, key))
	must.Do(t, f.Write())
	after := strings.Split(text(t, f), "\n")
	for i := range after {
		if changed := after[i] != before[i]; changed != (i == 2) {
			t.Errorf("line %d changed: %t, want %t", i+1, changed, !changed)
		}
	}
	got := open(t, read(t, folder, "prod"), key)
	if got["shop.a"] != "changed" || got["note"] != "hunter2 of note" || len(got) != 4 {
		t.Errorf("values = %q, want four with a changed shop.a", got)
	}

	if f.Delete("shop.b") || !f.Delete("shop.a") || !f.Delete("note") {
		t.Error("Delete of shop.b, shop.a, and note does not return false, true, and true")
	}
	must.Do(t, f.Write())
	wantText(t, f, "{\n  \"shop.password\": \"key:1:…\",\n  \"shop/db.password\": \"key:1:…\"\n}\n")
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	const form = `expected "KEY": "age:1:…" or "MODULE.KEY": "age:1:…", as written by 'lumi config set --secret'`
	folder := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(folder, "config"), 0o755))
	for _, test := range []struct {
		text string
		want []string
	}{
		{"[]", []string{"1:1: " + form}},
		{"{\n<<<<<<< HEAD\n  \"a\": \"key:1:AA\"\n=======\n}", []string{"2:1: " + form, "4:1: " + form}},
		{
			"{\n  \"b\": \"key:1:AA\",\n  \"a\": \"key:1:AA==\",\n  \"a\": \"age:1:AA\"\n}",
			[]string{"3:1: a must not follow b: sort the lines, and remove duplicates", "4:1: a must not follow a: sort the lines, and remove duplicates"},
		},
		{
			"{\n  \"x.y.z\": \"age:1:AA\",\n  \"x y\": \"age:1:AA\",\n  \"a\": 3,\n  \"b\": \"hunter2\",\n  \"c\": \"key:2:AA\",\n  \"d\": \"key:1:AA  key:1:AA\"\n}",
			[]string{"2:1: " + form, "3:1: " + form, "4:1: " + form, "5:1: " + form, "6:1: " + form, "7:1: " + form},
		},
	} {
		file := filepath.Join(folder, "config", "dev.sealed.json")
		must.Do(t, os.WriteFile(file, []byte(test.text), 0o600))
		_, err := sealed.Read(folder, "dev")
		if want := file + ":" + strings.Join(test.want, "\n"+file+":"); err == nil || err.Error() != want {
			t.Errorf("Read of %q: error\n%v\nwant\n%s", test.text, err, want)
		}
	}
	must.Do(t, os.Mkdir(filepath.Join(folder, "config", "test.sealed.json"), 0o755))
	if _, err := sealed.Read(folder, "test"); err == nil || !strings.HasPrefix(err.Error(), "cannot read the sealed configuration: ") {
		t.Errorf("Read of a folder: error %v, want a read error", err)
	}
}

// Line endings of Windows, and a comma too many after a merge, are accepted.
func TestReadLenient(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(folder, "config"), 0o755))
	for text, want := range map[string]int{
		"": 0, "{}\n": 0, "{\r\n  \"a\": \"key:1:AA==\",\r\n}\r\n": 1, "{\n\"a\": \"key:1:AA\"\n\"shop.b\": \"age:1:AA key:1:AA\"\n}": 2,
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, "config", "dev.sealed.json"), []byte(text), 0o600))
		if f := read(t, folder, "dev"); len(f.Entries) != want {
			t.Errorf("Read of %q = %d entries, want %d", text, len(f.Entries), want)
		}
	}
}

// The names of environments never lead out of the folder.
func TestSlashes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, want := range map[string]string{"../dev": "..%2Fdev.sealed.json", `a\b`: "a%5Cb.sealed.json"} {
		if got := read(t, folder, name).Path; got != filepath.Join(folder, "config", want) {
			t.Errorf("path for environment %s = %s, want %s in folder config", name, got, want)
		}
	}
}

// A value can be opened only under its own key and in its own environment.
func TestOpenErrors(t *testing.T) {
	folder, key := t.TempDir(), secret.NewKey()
	identity := must.Get(age.GenerateX25519Identity())(t)
	w := wrapper(t, "age:"+identity.Recipient().String())
	f := read(t, folder, "prod")
	must.Do(t, f.Set("a", "hunter1", w, nil))
	must.Do(t, f.Set("b", "hunter2", wrapper(t, "passphrase"), key))
	must.Do(t, f.Write())
	original := text(t, f)
	lines := strings.Split(original, "\n")
	swapped := strings.NewReplacer(lines[1], `  "a": `+lines[2][7:]+",", lines[2], `  "b": `+strings.TrimSuffix(lines[1][7:], ",")).Replace(original)
	for _, test := range []struct {
		about, environment, text, identity string
		key                                *secret.Key
		needs                              bool
		a, b                               string
	}{
		{"fine", "prod", original, identity.String(), key, false, "", ""},
		{"no key", "prod", original, "", nil, true,
			"2:8: a: the secret needs an age identity: set LUMI_AGE_IDENTITY to an identity or the path of an identity file (no such file or directory)",
			"3:8: b: cannot be opened without the environment's key"},
		{"another environment", "dev", original, identity.String(), key, false,
			`2:8: a: sealed as "prod a", and cannot be opened elsewhere`, `3:8: b: sealed as "prod b", and cannot be opened elsewhere`},
		{"swapped", "prod", swapped, identity.String(), key, false,
			`2:8: a: sealed as "prod b", and cannot be opened elsewhere`, `3:8: b: sealed as "prod a", and cannot be opened elsewhere`},
	} {
		file := filepath.Join(folder, "config", test.environment+".sealed.json")
		must.Do(t, os.WriteFile(file, []byte(test.text), 0o600))
		t.Setenv(secret.IdentityVariable, test.identity)
		f := read(t, folder, test.environment)
		for i, want := range []string{test.a, test.b} {
			_, err := f.Open(f.Entries[i].Name, test.key)
			_, needs := errors.AsType[*secret.KeyError](err)
			if want != "" {
				want = file + ":" + want
			}
			if err == nil && want != "" || err != nil && err.Error() != want || needs != test.needs {
				t.Errorf("%s: Open(%s): error %v (*KeyError: %t), want %s (%t)", test.about, f.Entries[i].Name, err, needs, want, test.needs)
			}
		}
	}
	for about, err := range map[string]error{
		"a binary value": f.Set("a", "\xff", w, nil), "a long value": f.Set("a", strings.Repeat("x", secret.MaxText+1), w, nil),
	} {
		if want := "a: must be UTF-8 text of at most 64 KiB"; err == nil || err.Error() != want {
			t.Errorf("Set with %s: error %v, want %s", about, err, want)
		}
	}
}

// While a key is being changed, the file can be opened with both keys, also if the change is interrupted and repeated.
func TestReseal(t *testing.T) {
	folder, w := t.TempDir(), wrapper(t, "passphrase")
	keys := []*secret.Key{secret.NewKey(), secret.NewKey(), secret.NewKey()}
	f := read(t, folder, "prod")
	must.Do(t, f.Set("a", "hunter1", w, keys[0]))
	must.Do(t, f.Set("b", "hunter2", w, keys[0]))
	must.Do(t, f.Write())
	original := text(t, f)
	opens := func(want ...bool) {
		t.Helper()
		f := read(t, folder, "prod")
		for i, key := range keys {
			if got, err := f.Open("b", key); (err == nil && got == "hunter2") != want[i] {
				t.Errorf("key %d: Open() = %q, %v, want success: %t", i, got, err, want[i])
			}
		}
	}
	reseal := func(from, to *secret.Key, unchanged bool, failure error, during ...bool) {
		t.Helper()
		err := read(t, folder, "prod").Reseal(w, from, to, func() (bool, error) {
			opens(during...)
			return unchanged, failure
		})
		if !errors.Is(err, failure) {
			t.Errorf("Reseal() = %v, want %v", err, failure)
		}
	}
	refused := errors.New("refused")
	reseal(keys[0], keys[1], true, refused, true, true, false)
	if got := text(t, f); got != original {
		t.Errorf("after a refusal, the file is %s, want %s", got, original)
	}
	reseal(keys[0], keys[1], false, errors.New("crash"), true, true, false)
	wantText(t, f, "{\n  \"a\": \"key:1:… key:1:…\",\n  \"b\": \"key:1:… key:1:…\"\n}\n")
	reseal(keys[1], keys[2], false, nil, true, true, true)
	opens(false, false, true)

	// From a key to age recipients.
	identity := must.Get(age.GenerateX25519Identity())(t)
	w = wrapper(t, "age:"+identity.Recipient().String())
	reseal(keys[2], nil, false, nil, false, false, true)
	t.Setenv(secret.IdentityVariable, identity.String())
	if got := open(t, read(t, folder, "prod"), nil); got["a"] != "hunter1" || got["b"] != "hunter2" {
		t.Errorf("values = %q, want hunter1 and hunter2", got)
	}
	err := f.Reseal(w, keys[1], keys[2], func() (bool, error) { t.Error("commit called"); return false, nil })
	if err == nil || !strings.HasSuffix(err.Error(), ": a: sealed with a different key") {
		t.Errorf("Reseal with a wrong key: error %v, want it to name the first entry", err)
	}

	// A file without entries is removed.
	f = read(t, folder, "prod")
	f.Delete("a")
	f.Delete("b")
	must.Do(t, f.Write())
	must.Do(t, f.Write())
	if _, err := os.Stat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("file without entries: error %v, want it to be missing", err)
	}
}
