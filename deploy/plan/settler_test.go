package plan_test

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

const (
	inModule = "urn:lumi:prod::p:index::s:x:"
	url      = `{"#ref": "` + inModule + `Bucket::b", "property": "url"}`
	// settledBucket is a bucket that stays, in the state and as a program wants it.
	settledBucket = `"` + inModule + `Bucket::b": {"type": "s:x:Bucket", "id": "1", "properties": {"name": "b", "url": "u"}}`
	wantedBucket  = `"` + inModule + `Bucket::b": {"type": "s:x:Bucket", "properties": {"name": "b"}}`
)

// settledObject is an object in a snapshot with a bucket.
func settledObject(bucket, properties string) string {
	return `{"resources": {` + bucket + `, "` + inModule + `Object::o": {"type": "s:x:Object", "properties": {` + properties + `}}}}`
}

func signed(signature, members string) string {
	return fmt.Sprintf(`{%q: %q, %s}`, wire.Signature, signature, members)
}

// joined is an interpolation.
func joined(parts ...string) string {
	return signed(wire.Expression, `"interpolate": [`+strings.Join(parts, ", ")+`]`)
}

// bucketOutput refers to a property of the bucket.
func bucketOutput(name string) string {
	return fmt.Sprintf(`{"#ref": "%sBucket::b", "property": %q}`, inModule, name)
}

// got is a part of a value.
func got(value, path string) string {
	return signed(wire.Expression, fmt.Sprintf(`"get": %s, "path": %q`, value, path))
}

// TestSettled holds what is no change, since a program says in other words what the state has.
func TestSettled(t *testing.T) {
	secret := func(v string) string { return signed(wire.Secret, `"value": `+v) }
	asset := func(members string) string { return signed(wire.Asset, members) }
	archive := func(members string) string { return signed(wire.Archive, members) }
	for _, test := range []struct{ name, old, new string }{
		{"value", `"p": "u"`, `"p": ` + url},
		{"reference", `"p": ` + url, `"p": ` + url},
		{"inside", `"p": {"q": ["v", "u"]}`, `"p": {"q": ["v", ` + url + `]}`},
		{"secret", `"p": ` + secret(`"u"`), `"p": ` + secret(url)},
		{"interpolation", `"p": "u/*"`, `"p": ` + joined(url, `"/*"`)},
		{"JSON", `"p": "{\"a\":[\"u/*\"]}"`, `"p": ` + signed(wire.Expression, `"jsonStringify": {"a": [`+joined(url, `"/*"`)+`]}`)},
		{"secret interpolation", `"p": ` + secret(`"u/*"`), `"p": ` + secret(joined(url, `"/*"`))},
		{"interpolation of a secret", `"p": ` + secret(`"u/x"`), `"p": ` + joined(url, `"/"`, secret(`"x"`))},
		{"id and URN", `"p": ["1", "` + inModule + `Bucket::b"]`, `"p": [` + bucketOutput("id") + `, ` + bucketOutput("urn") + `]`},
		{"interpolation of the id", `"p": ` + secret(`"1x"`), `"p": ` + joined(bucketOutput("id"), secret(`"x"`))},
		{"part that is not there", `"p": {}`, `"p": {"a": ` + got(`{"b": `+url+`}`, "c") + `}, "q": ` + got(secret(`{}`), "c")},
		{"interpolation in a list", `"p": ["v", "u/*"]`, `"p": ["v", ` + joined(url, `"/*"`) + `]`},
		{"secret with a reference inside", `"p": ` + secret(`{"a": "u"}`), `"p": ` + secret(`{"a": `+url+`}`)},
		{"in a list with the reference", `"p": [` + url + `, "u"]`, `"p": [` + url + `, ` + url + `]`},
		{"asset", `"p": ` + asset(`"path": "a", "hash": "x"`), `"p": ` + asset(`"path": "a"`)},
		{"archive", `"p": ` + archive(`"path": "a", "hash": "x"`), `"p": ` + archive(`"path": "a"`)},
		{"archive of assets", `"p": ` + archive(`"assets": {"a": `+asset(`"path": "a", "hash": "x"`)+`}, "hash": "y"`),
			`"p": ` + archive(`"assets": {"a": `+asset(`"path": "a"`)+`}`)},
		{"assets in another", `"p": {"a": [{"q": ` + asset(`"path": "a", "hash": "x"`) + `}]}`, `"p": {"a": [{"q": ` + asset(`"path": "a"`) + `}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, d := desire(t, settledObject(settledBucket, test.old), settledObject(wantedBucket, test.new))
			if !d.Empty() || d.Unchanged != 2 {
				t.Error(got)
			}
		})
	}
	// What is a secret in the resource that is referred to is one in that which refers to it.
	bucket := strings.Replace(settledBucket, `"u"`, secret(`"u"`), 1)
	if got, d := desire(t, settledObject(bucket, `"p": `+secret(`"u"`)), settledObject(wantedBucket, `"p": `+secret(url))); !d.Empty() {
		t.Error(got)
	}
	// Without a schema nobody knows that the URL is an output. It stands in the state all the same.
	old := settledObject(settledBucket, `"p": "u"`)
	storage := storage
	storage.Outputs = nil
	if got, _ := desireWith(t, old, settledObject(wantedBucket, `"p": `+url), storage); strings.Contains(got, "Object") {
		t.Error(got)
	}
}

// TestNotSettled holds what is a change all the same.
func TestNotSettled(t *testing.T) {
	asset := func(members string) string { return signed(wire.Asset, members) }
	secretBucket := strings.Replace(settledBucket, `"u"`, signed(wire.Secret, `"value": "u"`), 1)
	const gone = `{"#ref": "` + inModule + `Object::gone"}`
	const ref = `ref s:x:Bucket::b, property "url"`
	for _, test := range []struct{ name, bucket, wanted, old, new, want string }{
		{"another value", settledBucket, wantedBucket, `"p": "v"`, `"p": ` + url, `
  ~ p: "v" → ` + ref},
		{"unknown", strings.Replace(settledBucket, `"u"`, `"`+wire.Unknown+`"`, 1), wantedBucket, `"p": "u"`, `"p": ` + url, `
  ~ p: "u" → ` + ref},
		{"never known", strings.Replace(settledBucket, `"u"`, `"`+wire.Unknown+`"`, 1), wantedBucket,
			`"p": "` + wire.Unknown + `"`, `"p": ` + url, `
  ~ p: (known after apply) → ` + ref},
		{"gone", `"` + inModule + `Object::gone": {"type": "s:x:Object", "properties": {}}, ` +
			strings.Replace(settledBucket, `"u"`, gone, 1), wantedBucket, `"p": ` + gone, `"p": ` + url, `
  ~ p: ref s:x:Object::gone → ` + ref},
		{"replaced", settledBucket, strings.Replace(wantedBucket, `"name": "b"`, `"name": "c"`, 1), `"p": "u"`, `"p": ` + url, `
  ~ p: "u" → ` + ref},
		{"said by the program", settledBucket, strings.Replace(wantedBucket, `"b"}`, `"b", "url": "w"}`, 1), `"p": "u"`, `"p": ` + url, `
  ~ p: "u" → ` + ref},
		{"no secret", secretBucket, wantedBucket, `"p": "u"`, `"p": ` + url, `
  ~ p: "u" → ` + ref},
		{"another interpolation", settledBucket, wantedBucket, `"p": "v/*"`, `"p": ` + joined(url, `"/*"`), `
  ~ p: "v/*" → "u/*"`},
		{"interpolation of a replaced resource", settledBucket, strings.Replace(wantedBucket, `"name": "b"`, `"name": "c"`, 1),
			`"p": "u/*"`, `"p": ` + joined(url, `"/*"`), `
  ~ p: "u/*" → ` + "`${b.url}/*`"},
		{"interpolation that fails", strings.Replace(settledBucket, `"u"`, `["u"]`, 1), wantedBucket, `"p": "u"`, `"p": ` + joined(url), `
  ~ p: "u" → ` + "`${b.url}`"},
		{"secret interpolation", secretBucket, wantedBucket, `"p": "u/*"`, `"p": ` + joined(url, `"/*"`), `
  ~ p: (no secret, but not shown) → (secret)`},
		{"interpolation further down a list", settledBucket, wantedBucket, `"p": ["u/*", "v"]`, `"p": ["w", ` + joined(url, `"/*"`) + `, "v"]`, `
  ~ p:
    + [0]: "w"
    … 2 unchanged`},
		{"list", settledBucket, wantedBucket, `"p": [{"x": 1, "u": "u"}, 3]`, `"p": [2, {"x": 1, "u": ` + url + `}, 3]`, `
  ~ p:
    + [0]: 2
    … 2 unchanged`},
		{"element", settledBucket, wantedBucket, `"p": [{"x": 1, "u": "u"}]`, `"p": [{"x": 2, "u": ` + url + `}]`, `
  ~ p:
    ~ [0]:
      ~ x: 1 → 2
      … 1 unchanged`},
		{"path", settledBucket, wantedBucket, `"p": ` + asset(`"path": "a", "hash": "x"`), `"p": ` + asset(`"path": "b"`), `
  ~ p: asset path "a" hash x → asset path "b"`},
		{"hash", settledBucket, wantedBucket, `"q": "u", "p": ` + asset(`"path": "a", "hash": "x"`),
			`"q": ` + url + `, "p": ` + asset(`"path": "a", "hash": "y"`), `
  ~ p: asset path "a" hash x → asset path "a" hash y
  … 1 unchanged`},
		{"longer list", settledBucket, wantedBucket, `"p": [{"x": 1, "u": "u"}]`, `"p": [{"x": 2, "u": ` + url + `}, 3]`, `
  ~ p:
    ~ [0]:
      ~ x: 1 → 2
      … 1 unchanged
    + [1]: 3`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := desire(t, settledObject(test.bucket, test.old), settledObject(test.wanted, test.new))
			if test.want = "~ " + inModule + "Object::o" + test.want + "\n"; !strings.Contains(got, test.want) {
				t.Error(cmp.Diff(test.want, got))
			}
		})
	}
	// A resource that is made has no properties yet.
	got, _ := desire(t, `{"resources": {"`+inModule+`Object::o": {"type": "s:x:Object", "properties": {"p": "u"}}}}`,
		settledObject(wantedBucket, `"p": `+url))
	if !strings.Contains(got, `~ p: "u" → `+ref+"\n") {
		t.Error(got)
	}
}

// TestSettledOrder holds that it does not matter in which order resources were added to a snapshot.
func TestSettledOrder(t *testing.T) {
	const resources = `{"resources": {
		"` + inModule + `Bucket::a": {"type": "s:x:Bucket", "properties": {"name": "a", "url": "b"}},
		"` + inModule + `Bucket::b": {"type": "s:x:Bucket", "properties": {"name": "b", "url": "u"}},
		"` + inModule + `Object::o": {"type": "s:x:Object", "properties": {"p": "u"}}}}`
	state, desired := parse(t, resources).(*lumigl.Snapshot), &lumigl.Snapshot{}
	for _, name := range []string{"Object::o", "Bucket::b", "Bucket::a"} {
		r, err := desired.Add(urn.URN(inModule + name))
		if err != nil {
			t.Fatal(err)
		}
		r.Type = state.Vertex(r.Key()).Type
	}
	property := func(of, key string) lumigl.Value { return lumigl.PropertyOf(desired.Vertex(inModule+of), key) }
	for name, member := range map[string]lumigl.Member{
		"Object::o": {Key: "p", Value: property("Bucket::b", "url")},
		"Bucket::b": {Key: "name", Value: property("Bucket::a", "url")},
		"Bucket::a": {Key: "name", Value: lumigl.TextOf("a")},
	} {
		desired.Vertex(inModule + name).Properties = lumigl.ObjectOf(member)
	}
	if d, err := compare(state, desired, storage); err != nil || !d.Empty() {
		t.Errorf("%v: %+v", err, d)
	}
}

// TestSettledNumber holds that what a resource without a name refers to is looked for in the one that it is.
func TestSettledNumber(t *testing.T) {
	got, d := desire(t, settledObject(settledBucket, `"p": "u"`),
		strings.ReplaceAll(settledObject(wantedBucket, `"p": `+url), "Bucket::b", "Bucket::#1"))
	if !d.Empty() {
		t.Error(got)
	}
}

// TestSettledRecognized holds that resources are recognized by what is settled, also by what they refer to in each other.
func TestSettledRecognized(t *testing.T) {
	object := func(name, properties string) string {
		return `"` + inModule + `Object::` + name + `": {"type": "s:x:Object", "properties": {` + properties + `}}`
	}
	hashed := `"p": ` + signed(wire.Asset, `"path": "a", "hash": "x"`)
	plain := `"p": ` + signed(wire.Asset, `"path": "a"`)
	etag := func(of string) string { return `{"#ref": "` + inModule + "Object::" + of + `", "property": "etag"}` }
	state := func(of string) string {
		return `{"resources": {` + settledBucket + `, ` + object("x", `"u": "u", "etag": "e", `+hashed) + `, ` +
			object("y", `"of": `+of+`, "etag": "f"`) + `}}`
	}
	wanted := func(first, second string) string {
		return `{"resources": {` + wantedBucket + `, ` + object(first, `"u": `+url+`, `+plain) + `, ` +
			object(second, `"of": `+etag(first)) + `}}`
	}
	for _, of := range []string{`"e"`, etag("x")} {
		if got, d := desire(t, state(of), wanted("#1", "#2")); !d.Empty() || len(d.Named) != 2 {
			t.Error(got)
		}
		if got, d := desire(t, state(of), wanted("v", "w")); len(d.Moves) != 2 {
			t.Error(got)
		}
	}
	if got, d := desire(t, state(`"g"`), wanted("#1", "#2")); len(d.Named) != 1 {
		t.Error(got)
	}
}

// TestSettledDeep holds that chains of references are followed without recursion, in whatever order resources were added.
func TestSettledDeep(t *testing.T) {
	const n = 8_000
	chain := func(place func(i int) int, property func(before *lumigl.Vertex) lumigl.Value) *lumigl.Snapshot {
		s, all := &lumigl.Snapshot{}, make([]*lumigl.Vertex, n)
		for i := range n {
			r, err := s.Add(urn.URN(fmt.Sprint(inModule, "Bucket::", place(i))))
			if err != nil {
				t.Fatal(err)
			}
			all[place(i)] = r
		}
		for i, r := range all {
			x := lumigl.TextOf("v")
			if i > 0 {
				x = property(all[i-1])
			}
			r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "x", Value: lumigl.TextOf("v")}, lumigl.Member{Key: "y", Value: x},
				lumigl.Member{Key: "z", Value: x}, lumigl.Member{Key: "l", Value: lumigl.ListOf(x)})
		}
		return s
	}
	state := chain(func(i int) int { return i }, func(*lumigl.Vertex) lumigl.Value { return lumigl.TextOf("v") })
	upward, downward := func(i int) int { return i }, func(i int) int { return n - 1 - i }
	defer debug.SetMaxStack(debug.SetMaxStack(4 << 20))
	for _, test := range []struct {
		name     string
		place    func(int) int
		property string
		differ   int
	}{
		{"in order", upward, "x", 0},
		{"the other way round", downward, "x", 0},
		{"through what is settled", downward, "y", 0},
		{"to what is not there", downward, "none", n - 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := compare(state, chain(test.place, func(before *lumigl.Vertex) lumigl.Value {
				return lumigl.PropertyOf(before, test.property)
			}), plan.Types{})
			if err != nil || len(d.Resources) != test.differ {
				t.Errorf("%v: %d differ", err, len(d.Resources))
			}
		})
	}
	// No value in a chain that begins with another one is settled, and yet each stands for what it leads to in the end.
	wanted := chain(upward, func(before *lumigl.Vertex) lumigl.Value { return lumigl.PropertyOf(before, "y") })
	wanted.Vertex(inModule + "Bucket::0").Properties = lumigl.ObjectOf(lumigl.Member{Key: "y", Value: lumigl.TextOf("w")})
	for r := range wanted.Vertices() {
		r.Properties = lumigl.ObjectOf(lumigl.Member{Key: "y", Value: r.Properties.Get("y")})
	}
	last := wanted.Vertex(inModule + fmt.Sprint("Bucket::", n-1))
	last.Properties = lumigl.ObjectOf(lumigl.Member{Key: "l", Value: lumigl.ListOf(last.Properties.Get("y"))})
	if d, err := compare(state, wanted, plan.Types{}); err != nil || len(d.Resources) != n {
		t.Errorf("%v: %d differ", err, len(d.Resources))
	}
}

// TestSettledSecret holds that a secret which a program makes of a reference is what it was also in a list that grew, and
// in what is recognized.
func TestSettledSecret(t *testing.T) {
	secret := func(v string) string { return signed(wire.Secret, `"value": `+v) }
	for _, bucket := range []string{settledBucket, strings.Replace(settledBucket, `"u"`, secret(`"u"`), 1)} {
		got, _ := desire(t, settledObject(bucket, `"p": ["q", `+secret(`"u"`)+`]`),
			settledObject(wantedBucket, `"p": ["n", "q", `+secret(url)+`]`))
		if want := `
  ~ p:
    + [0]: "n"
    … 2 unchanged
`; !strings.Contains(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		old := settledObject(bucket, `"p": `+secret(`"u"`)+`, "key": "k"`)
		new := settledObject(wantedBucket, `"p": `+secret(url)+`, "key": "k"`)
		if got, d := desireWith(t, old, strings.ReplaceAll(new, "Object::o", "Object::#1"), plan.Types{Outputs: storage.Outputs}); !d.Empty() {
			t.Error(got)
		}
		if got, d := desire(t, old, strings.ReplaceAll(new, "Object::o", "Object::p")); len(d.Moves) != 1 {
			t.Error(got)
		}
		if got, d := desire(t, strings.Replace(old, `"p": `+secret(`"u"`), `"p": `+secret(`"v"`), 1),
			strings.ReplaceAll(new, "Object::o", "Object::p")); len(d.Moves) != 0 {
			t.Error(got)
		}
	}
}

// TestSettledMany holds that references to the properties of one resource take time in proportion to their number, also
// if that resource is large.
func TestSettledMany(t *testing.T) {
	const n = 20_000
	var outputs, old, new bytes.Buffer
	for i := range n {
		comma := map[bool]string{true: ", "}[i > 0]
		fmt.Fprintf(&outputs, `%s"o%d": "v%d"`, comma, i, i)
		fmt.Fprintf(&old, `%s"v%d"`, comma, n-1-i)
		fmt.Fprintf(&new, `%s{"#ref": "%sBucket::b", "property": "o%d"}`, comma, inModule, n-1-i)
	}
	bucket := func(more string) string {
		return `"` + inModule + `Bucket::b": {"type": "s:x:Bucket", "properties": {` + more + `}}`
	}
	_, d := desireWith(t, settledObject(bucket(outputs.String()), `"p": [`+old.String()+`]`),
		settledObject(bucket(""), `"p": [`+new.String()+`]`), plan.Types{})
	if len(d.Resources) != 1 || d.Resources[0].Key != inModule+"Bucket::b" {
		t.Errorf("%d differ", len(d.Resources))
	}
}
