package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/jsonpointer"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const (
	db    urn.URN = "urn:lumi:prod::shop:index::aws:rds:Instance::db"
	other urn.URN = "urn:lumi:prod::shop:index::aws:rds:Instance::other"
)

func signed(signature string, members ...lumigl.Member) lumigl.Value {
	return lumigl.ObjectOf(slices.Concat([]lumigl.Member{{Key: wire.Signature, Value: lumigl.TextOf(signature)}}, members)...)
}

func secretOf(v lumigl.Value) lumigl.Value {
	return signed(wire.Secret, lumigl.Member{Key: "value", Value: v})
}

func object(key string, v lumigl.Value) lumigl.Value {
	return lumigl.ObjectOf(lumigl.Member{Key: key, Value: v})
}

func reference(t testing.TB, key urn.URN, property string) lumigl.Value {
	t.Helper()
	return lumigl.PropertyOf(must.Get(lumigl.NewResource(key))(t), property)
}

// text returns the canonical text of a graph with a vertex that contains v.
func text(t testing.TB, v lumigl.Value) string {
	t.Helper()
	g := &lumigl.Graph{}
	add := func(key string) *lumigl.Vertex {
		return must.Get(g.Add(key))(t)
	}
	vertex, all := add("the vertex"), map[string]*lumigl.Vertex{}
	vertex.Properties = object("value", v.Retarget(func(target *lumigl.Vertex) *lumigl.Vertex {
		if all[target.Key()] == nil {
			all[target.Key()] = add(target.Key())
		}
		return all[target.Key()]
	}))
	written, err := lumigl.Append(nil, g)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return string(written)
}

// drawn draws values of all kinds. The texts in secrets, in keys within secrets, and outside of them are distinct.
type drawn struct {
	*rapid.T
	testing.TB
	secrets []string
}

func (d *drawn) word(isSecret bool) string {
	word := rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\/~<>&é𝄞\n]{0,8}`),
		rapid.SampledFrom([]string{"#ref", "value", "sealed:1:", wire.Unknown, "references"})).Draw(d.T, "word")
	if isSecret {
		word = fmt.Sprintf("hidden <%d> \"é\n", len(d.secrets)) + word
		d.secrets = append(d.secrets, word)
	}
	return word
}

func (d *drawn) value(depth int, isSecret bool) lumigl.Value {
	most := 9
	if depth == 0 {
		most = 3
	}
	one := func() lumigl.Value { return d.value(depth-1, isSecret) }
	switch rapid.IntRange(0, most).Draw(d.T, "kind") {
	case 0:
		return rapid.SampledFrom([]lumigl.Value{lumigl.NullValue(), lumigl.BoolOf(true), lumigl.ListOf(), lumigl.ObjectOf()}).Draw(d.T, "plain")
	case 1:
		n, _ := lumigl.NumberOf(rapid.StringMatching(`-?[1-9][0-9]{0,30}(\.[0-9]{1,9})?(e-?[0-9])?`).Draw(d.T, "number"))
		return n
	case 2:
		return lumigl.TextOf(d.word(isSecret))
	case 3:
		to := rapid.SampledFrom([]urn.URN{db, other}).Draw(d.T, "to")
		return reference(d.TB, to, rapid.SampledFrom([]string{"", "url", "a/b"}).Draw(d.T, "property"))
	case 4, 5:
		return secretOf(d.value(depth-1, true))
	case 6:
		return signed(wire.Expression, lumigl.Member{Key: "interpolate", Value: lumigl.ListOf(one(), one())})
	case 7:
		return lumigl.ListOf(one(), one(), one())
	default:
		var o lumigl.ObjectBuilder
		for range rapid.IntRange(0, 3).Draw(d.T, "members") {
			if key := d.word(isSecret); key != wire.Signature && key != "#ref" {
				o.Set(key, one())
			}
		}
		return o.Object()
	}
}

// Sealed values are unchanged by a round trip and do not contain secrets in plain text.
func TestRoundTrip(t *testing.T) {
	key := secret.NewKey()
	sealedSome := false
	rapid.Check(t, func(r *rapid.T) {
		d := &drawn{T: r, TB: t}
		v := d.value(5, false)
		sealed := must.Get(key.Seal(db, v))(t)
		before, after := text(t, v), text(t, sealed)
		for _, word := range d.secrets {
			for _, form := range forms(word) {
				if strings.Contains(after, form) {
					t.Fatalf("sealed value contains the secret %q:\n%s", form, after)
				}
			}
		}
		sealedSome = sealedSome || len(d.secrets) > 0

		g := must.Get(lumigl.ParseGraph(after))(t)
		opened := must.Get(key.Open(db, g.Vertex("the vertex").Properties.Get("value")))(t)
		if !opened.Equal(v) || text(t, opened) != before {
			t.Fatalf("opened value = %s, want %s", text(t, opened), before)
		}
		if resealed := must.Get(key.Seal(db, v))(t); after != before && text(t, resealed) == after {
			t.Fatal("Seal returned the same text twice for a secret")
		}
		hidden := secret.Hide(sealed)
		if strings.Contains(text(t, hidden), "sealed:1:") && !strings.Contains(before, "sealed:1:") {
			t.Fatalf("Hide() = %s, want no sealed secrets", text(t, hidden))
		}
		if got, want := references(hidden), references(v); !slices.Equal(got, want) {
			t.Fatalf("references of the hidden value = %q, want %q", got, want)
		}
	})
	if !sealedSome {
		t.Error("no drawn value contained a secret")
	}
}

func references(v lumigl.Value) []string {
	all := []string{}
	for target, property := range v.References() {
		all = append(all, target.Key()+" "+property)
	}
	return all
}

// forms returns the forms in which a secret may appear in text.
func forms(s string) []string {
	quoted, _ := json.Marshal(s)
	all := []string{s, string(quoted[1 : len(quoted)-1]), url.QueryEscape(s), hex.EncodeToString([]byte(s)), strings.Trim(strconv.QuoteToASCII(s), `"`)}
	for i := range 3 { // The base64 encoding of a longer text contains one of three forms.
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", i) + s))
		all = append(all, encoded[4:len(encoded)-4])
	}
	return all
}

func TestSeal(t *testing.T) {
	key := secret.NewKey()
	password := secretOf(lumigl.ListOf(reference(t, other, "url"), lumigl.TextOf("hunter2")))
	v := lumigl.ObjectOf(lumigl.Member{Key: "size", Value: lumigl.IntOf(1)}, lumigl.Member{Key: "password", Value: password})
	sealed := must.Get(key.Seal(db, v))(t)
	one := sealed.Get("password")
	content, _ := one.Get("value").Text()
	if _, isSecret := one.Secret(); !isSecret || !strings.HasPrefix(content, "sealed:1:") || !sealed.Get("size").Equal(lumigl.IntOf(1)) {
		t.Fatalf("Seal() = %s, want a sealed password and a plain size", text(t, sealed))
	}
	if got := references(sealed); !slices.Equal(got, []string{string(other) + " url"}) {
		t.Errorf("references of the sealed value = %q, want the secret's reference", got)
	}

	// A reference to a moved resource can be updated without the key.
	moved := sealed.Retarget(func(*lumigl.Vertex) *lumigl.Vertex { v, _, _ := reference(t, db, "").Target(); return v })
	if got := references(must.Get(key.Open(db, moved))(t)); !slices.Equal(got, []string{string(db) + " url"}) {
		t.Errorf("references after the move = %q, want the new URN", got)
	}

	hidden := secret.Hide(sealed)
	if inner, ok := hidden.Get("password").Secret(); !ok || !inner.IsUnknown() {
		t.Errorf("Hide() = %s, want an unknown secret", text(t, hidden))
	}

	// The length of a short secret is not revealed.
	short := must.Get(key.Seal(db, secretOf(lumigl.TextOf("a"))))(t)
	long := must.Get(key.Seal(db, secretOf(lumigl.TextOf(strings.Repeat("a", 20)))))(t)
	if a, b := text(t, short), text(t, long); len(a) != len(b) {
		t.Errorf("sealed secrets of 1 and 20 characters have %d and %d bytes, want equal lengths", len(a), len(b))
	}
}

func TestOpenErrors(t *testing.T) {
	key := secret.NewKey()
	plain := object("a/b", lumigl.ListOf(lumigl.NullValue(), secretOf(lumigl.ListOf(lumigl.TextOf("hunter2"), reference(t, db, "")))))
	v := must.Get(key.Seal(db, plain))(t)
	place := string(db) + `: the secret at "/a~1b/1" `
	content := v.Get("a/b").At(1)
	sealed, _ := content.Get("value").Text()
	with := func(s string) lumigl.Value {
		return object("a/b", lumigl.ListOf(lumigl.NullValue(), content.With("value", lumigl.TextOf(s))))
	}
	for _, test := range []struct {
		about string
		key   *secret.Key
		urn   urn.URN
		v     lumigl.Value
		needs bool
		want  string
	}{
		{"no key", nil, db, v, true, place + "cannot be read without the key"},
		{"another key", secret.NewKey(), db, v, true, place + "was sealed with a different key"},
		{"another resource", key, other, v, false, string(other) + `: the secret at "/a~1b/1" is damaged, or was sealed for another resource or property`},
		{"another property", key, db, object("c", content), false, string(db) + `: the secret at "/c" is damaged, or was sealed for another resource or property`},
		{"no property", key, db, content, false, string(db) + `: the secret at "" is damaged, or was sealed for another resource or property`},
		{"not sealed", key, db, plain, false, place + "is not sealed, or was sealed by a newer version of lumi"},
		{"newer", key, db, with("sealed:2:x"), false, place + "is not sealed, or was sealed by a newer version of lumi"},
		{"truncated", key, db, with(sealed[:len(sealed)-4]), false, place + "is damaged, or was sealed for another resource or property"},
		{"empty", key, db, with("sealed:1:"), false, place + "is not sealed, or was sealed by a newer version of lumi"},
		{"references", key, db, object("a/b", lumigl.ListOf(lumigl.NullValue(), content.With("references", lumigl.Value{}))), false,
			place + "is damaged, or was sealed for another resource or property"},
		{"more references", key, db, object("a/b", lumigl.ListOf(lumigl.NullValue(), content.With("references", lumigl.ListOf(reference(t, db, ""), reference(t, db, ""))))), false,
			place + "is damaged, or was sealed for another resource or property"},
		{"no references", key, db, object("a/b", lumigl.ListOf(lumigl.NullValue(), content.With("references", lumigl.ListOf(lumigl.IntOf(1))))), false,
			place + "is damaged, or was sealed for another resource or property"},
	} {
		opened, err := test.key.Open(test.urn, test.v)
		fails(t, test.about, err, test.needs, test.want)
		if opened.Exists() {
			t.Errorf("%s: Open returned a value along with an error", test.about)
		}
	}

	for about, v := range map[string]lumigl.Value{"UTF-8": lumigl.TextOf("hunter2\xff"), "depth": nested(2000)} {
		_, err := key.Seal(db, object("a", secretOf(v)))
		if want := string(db) + `: the secret at "/a" cannot be sealed: it cannot be written as LumiGL`; err == nil || err.Error() != want {
			t.Errorf("Seal with invalid %s: error %v, want %s", about, err, want)
		}
	}
	_, err := (*secret.Key)(nil).Seal(db, plain)
	fails(t, "sealed without the key", err, true, place+"cannot be sealed without the key")
	if same, err := (*secret.Key)(nil).Seal(db, object("a", nested(2))); err != nil || !same.Equal(object("a", nested(2))) {
		t.Errorf("Seal without secrets or a key: error %v, want an unchanged value", err)
	}
}

func nested(depth int) lumigl.Value {
	v := lumigl.TextOf("hunter2")
	for range depth {
		v = lumigl.ListOf(v)
	}
	return v
}

// A tampered ciphertext fails to open without leaking the secret, whatever its base64 padding.
func TestOpenTampered(t *testing.T) {
	for i := range 3 {
		tamper(t, strings.Repeat("hunter2", 1+10*i))
	}
}

func tamper(t *testing.T, content string) {
	key := secret.NewKey()
	sealed := must.Get(key.Seal(db, object("a", secretOf(lumigl.TextOf(content)))))(t)
	content, _ = sealed.Get("a").Get("value").Text()
	try := func(changed string) {
		t.Helper()
		v, err := key.Open(db, object("a", sealed.Get("a").With("value", lumigl.TextOf(changed))))
		if err == nil || v.Exists() || strings.Contains(err.Error(), "hunter2") {
			t.Fatalf("Open(%q) = value: %t, error %v, want an error without the secret", changed, v.Exists(), err)
		}
	}
	for i := range content {
		for _, b := range "Aa0+/= \n\x00é" {
			if string(b) != content[i:i+1] {
				try(content[:i] + string(b) + content[i+1:])
			}
		}
		flipped := []byte(content)
		flipped[i] ^= 1
		try(string(flipped))
		try(content[:i])
		try(content[i+1:])
	}
	try(content + content)
}

func FuzzOpen(f *testing.F) {
	key := secret.NewKey()
	sealed := must.Get(key.Seal(db, secretOf(lumigl.TextOf("hunter2"))))(f)
	content, _ := sealed.Get("value").Text()
	f.Add(string(db), "a/b", content)
	f.Add("", "", "sealed:1:")
	f.Fuzz(func(t *testing.T, u, property, s string) {
		v := object(property, secretOf(lumigl.TextOf(s)))
		if !v.Get(property).IsSecret() {
			return
		}
		_, err := key.Open(urn.URN(u), v)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s: the secret at %q ", u, jsonpointer.Within("", property))) {
			t.Errorf("Open(%q) error = %v, want one that names the secret's path", s, err)
		}
	})
}

func TestKeyNotPrinted(t *testing.T) {
	key := secret.NewKey()
	held := struct {
		Exported   secret.Key
		unexported secret.Key
		pointer    *secret.Key
	}{*key, *key, key}
	var printed strings.Builder
	for _, v := range []any{key, *key, held, &held, []*secret.Key{key}, map[string]secret.Key{"k": *key}, error(&secret.KeyError{})} {
		for _, verb := range "vsdxXqTpobc" {
			fmt.Fprintf(&printed, "%"+string(verb)+"\n", v)
		}
		fmt.Fprintf(&printed, "%+v %#v\n", v, v)
		if data, err := json.Marshal(v); err == nil {
			printed.Write(data)
		}
	}
	for _, form := range secret.Forms(key) {
		if strings.Contains(printed.String(), form) {
			t.Errorf("formatted key contains %q", form)
		}
	}
}

func TestSealLimits(t *testing.T) {
	key, tooDeep := secret.NewKey(), 0
	extremes := []lumigl.Value{lumigl.TextOf(strings.Repeat("x", 1<<20)), lumigl.ListOf(slices.Repeat([]lumigl.Value{lumigl.NullValue()}, 10_000)...)}
	for depth := 980; depth < 1020; depth++ {
		extremes = append(extremes, nested(depth))
	}
	for i, v := range extremes {
		sealed, err := key.Seal(db, object("a", secretOf(v)))
		if err != nil {
			tooDeep++
		} else if opened := must.Get(key.Open(db, sealed))(t); !opened.Equal(object("a", secretOf(v))) {
			t.Errorf("Open of value %d returned a different value", i)
		}
	}
	if tooDeep == 0 || tooDeep == len(extremes) {
		t.Errorf("Seal failed for %d of %d values, want some but not all", tooDeep, len(extremes))
	}
}
