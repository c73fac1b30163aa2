package content_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// bag decodes a bag from JSON with short names for signatures.
func bag(t *testing.T, json string) lumi.Bag {
	t.Helper()
	s := &structpb.Struct{}
	json = strings.NewReplacer(
		"$sig", wire.Signature, "$secret", wire.Secret, "$asset", wire.Asset,
		"$archive", wire.Archive, "$unknown", wire.Unknown,
	).Replace(json)
	if err := protojson.Unmarshal([]byte(json), s); err != nil {
		t.Fatal(err)
	}
	return lumi.BagOf(s)
}

func TestStamp(t *testing.T) {
	folder := inFolder(t, map[string]string{"a": "x", "sub/b": "y"})
	write(t, ".", map[string]string{"zip": string(makeZip(t, entry{name: "b", data: "y"}))})
	x, y := hashOf(t, lumi.TextAsset("x")), hashOf(t, lumi.TextAsset("y"))
	sub := hashOf(t, lumi.FileArchive("sub"))
	both := hashOf(t, lumi.AssetArchive(map[string]lumi.Content{
		"a": lumi.FileAsset("a"), "sub": lumi.FileArchive("sub"), "t": lumi.TextAsset("x"),
	}))
	hashes := strings.NewReplacer("#x", x, "#y", y, "#sub", sub, "#both", both, "$cwd", folder)
	for _, test := range []struct{ name, given, want string }{
		{"nothing", `{}`, `{}`},
		{"no content", `{"a": [1, "$unknown", null], "b": {"c": {"$sig": "bogus", "path": "a"}, "d": {"$sig": 1}}}`, ""},
		{"a file", `{"a": {"$sig": "$asset", "path": "a"}}`, `{"a": {"$sig": "$asset", "path": "a", "hash": "#x"}}`},
		{"a file: URI", `{"a": {"$sig": "$asset", "uri": "file://$cwd/a"}}`,
			`{"a": {"$sig": "$asset", "uri": "file://$cwd/a", "hash": "#x"}}`},
		{"the program's own hashes", `{"a": {"$sig": "$asset", "path": "a", "hash": "mine", "text": null},
			"b": {"$sig": "$asset", "text": "x", "hash": "mine"}, "c": {"$sig": "$asset", "uri": "http://x", "hash": "mine"},
			"d": {"$sig": "$archive", "uri": "https://x", "hash": "mine"}}`,
			`{"a": {"$sig": "$asset", "path": "a", "hash": "#x", "text": null},
			"b": {"$sig": "$asset", "text": "x"}, "c": {"$sig": "$asset", "uri": "http://x"},
			"d": {"$sig": "$archive", "uri": "https://x"}}`},
		{"a folder", `{"a": {"$sig": "$archive", "path": "sub"}}`, `{"a": {"$sig": "$archive", "path": "sub", "hash": "#sub"}}`},
		{"a zip file", `{"a": {"$sig": "$archive", "path": "zip"}}`, `{"a": {"$sig": "$archive", "path": "zip", "hash": "#sub"}}`},
		{"deep inside", `{"a": [{"b": {"c d": {"$sig": "$asset", "path": "a"}}}]}`,
			`{"a": [{"b": {"c d": {"$sig": "$asset", "path": "a", "hash": "#x"}}}]}`},
		{"in a secret", `{"a": {"$sig": "$secret", "value": [{"$sig": "$asset", "path": "a"}]}}`,
			`{"a": {"$sig": "$secret", "value": [{"$sig": "$asset", "path": "a", "hash": "#x"}]}}`},
		{"with a secret path", `{"a": {"$sig": "$asset", "path": {"$sig": "$secret", "value": "a"}}}`,
			`{"a": {"$sig": "$asset", "path": {"$sig": "$secret", "value": "a"}, "hash": {"$sig": "$secret", "value": "#x"}}}`},
		{"an archive of assets", `{"a": {"$sig": "$archive", "assets": {"a": {"$sig": "$asset", "path": "a"},
			"./sub": {"$sig": "$archive", "path": "sub"}, "t": {"$sig": "$asset", "text": "x"}, "n": null}}}`,
			`{"a": {"$sig": "$archive", "hash": "#both", "assets": {"a": {"$sig": "$asset", "path": "a", "hash": "#x"},
			"./sub": {"$sig": "$archive", "path": "sub", "hash": "#sub"}, "t": {"$sig": "$asset", "text": "x"}, "n": null}}}`},
		{"an archive of archives", `{"a": {"$sig": "$archive", "assets": {"x": {"$sig": "$archive", "assets": {}}}}}`,
			`{"a": {"$sig": "$archive", "hash": "#none", "assets": {"x": {"$sig": "$archive", "hash": "#none", "assets": {}}}}}`},
		{"an archive with an address", `{"a": {"$sig": "$archive", "assets": {"a": {"$sig": "$asset", "path": "a"},
			"b": {"$sig": "$asset", "uri": "http://x"}}, "hash": "mine"}}`,
			`{"a": {"$sig": "$archive", "assets": {"a": {"$sig": "$asset", "path": "a", "hash": "#x"},
			"b": {"$sig": "$asset", "uri": "http://x"}}}}`},
		{"an archive with what is not known yet", `{"a": {"$sig": "$archive", "assets": {"a": "$unknown",
			"b": {"$sig": "$asset", "path": "a"}, "c": {"$sig": "$asset", "text": "$unknown"}}}}`,
			`{"a": {"$sig": "$archive", "assets": {"a": "$unknown",
			"b": {"$sig": "$asset", "path": "a", "hash": "#x"}, "c": {"$sig": "$asset", "text": "$unknown"}}}}`},
		{"secrets in an archive", `{"a": {"$sig": "$archive", "assets": {"b": {"$sig": "$secret", "value":
			{"$sig": "$asset", "path": "sub/b"}}}}}`,
			`{"a": {"$sig": "$archive", "assets": {"b": {"$sig": "$secret", "value":
			{"$sig": "$asset", "path": "sub/b", "hash": "#y"}}}, "hash": {"$sig": "$secret", "value": "#sub"}}}`},
		{"secret assets", `{"a": {"$sig": "$archive", "assets": {"$sig": "$secret", "value": {
			"b": {"$sig": "$asset", "path": "sub/b"}}}}}`,
			`{"a": {"$sig": "$archive", "assets": {"$sig": "$secret", "value": {
			"b": {"$sig": "$asset", "path": "sub/b", "hash": "#y"}}}, "hash": {"$sig": "$secret", "value": "#sub"}}}`},
		{"not known yet", `{"a": {"$sig": "$asset", "path": "$unknown", "hash": "x"}, "b": {"$sig": "$archive", "uri":
			{"$sig": "$secret", "value": "$unknown"}}, "c": {"$sig": "$archive", "assets": "$unknown"}}`, ""},
		{"malformed", `{"a": {"$sig": "$asset", "path": "a", "text": "x"}, "b": {"$sig": "$asset"},
			"c": {"$sig": "$asset", "path": 1}, "d": {"$sig": "$archive", "assets": []}, "e": {"$sig": "$archive", "text": "x"},
			"f": {"$sig": "$asset", "assets": {}}, "g": {"$sig": "$archive", "assets": {"a": "x"}}, "h": {"$sig": "$secret"},
			"i": {"$sig": "$archive", "assets": {"$sig": "$asset", "path": "a"}}, "j": {"$sig": "$asset", "path": ["a"]}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				test.want = test.given
			}
			given := bag(t, hashes.Replace(test.given))
			before := proto.Clone(given.Struct())
			none := hashOf(t, lumi.AssetArchive(nil))
			want := bag(t, strings.ReplaceAll(hashes.Replace(test.want), "#none", none))
			got, err := content.Stamp(t.Context(), given)
			if err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(got.Struct(), want.Struct()) {
				t.Errorf("Stamp =\n%s\nwant\n%s", protojson.Format(got.Struct()), protojson.Format(want.Struct()))
			}
			if !proto.Equal(given.Struct(), before) {
				t.Error("Stamp modified its input, want it unchanged")
			}
			if again, err := content.Stamp(t.Context(), got); err != nil || !proto.Equal(again.Struct(), got.Struct()) {
				t.Errorf("second Stamp = %v, %v, want the same bag", again, err)
			}
		})
	}
	if got, err := content.Stamp(t.Context(), lumi.Bag{}); !got.IsZero() || err != nil {
		t.Errorf("Stamp of the zero Bag = %v, %v, want the zero Bag", got, err)
	}
}

func TestStampFaults(t *testing.T) {
	folder := inFolder(t, map[string]string{"a": "x", "links/hush": "", "bad/hush\\": ""})
	if err := os.Symlink("hush", "links/link"); err != nil {
		t.Fatal(err)
	}
	write(t, ".", map[string]string{"bad.zip": string(makeZip(t, entry{name: "../hush"}))})
	for _, test := range []struct{ name, given, want string }{
		{"all at once", `{"a": {"$sig": "$asset", "path": "no"}, "b": [{"x y": {"$sig": "$archive", "path": "no"}}],
			"c": {"$sig": "$asset", "path": "links"}, "d": {"$sig": "$archive", "path": "bad.zip"},
			"e": {"$sig": "$asset", "uri": "s3://x"}, "f": {"$sig": "$archive", "uri": "file:x"},
			"g": {"$sig": "$archive", "path": "links"}, "h": {"$sig": "$asset", "uri": "%zz"}}`, `
a: "no": no such file in "$cwd"
b[0]["x y"]: "no": no such file in "$cwd"
c: "links": is a folder, not a file
d: "bad.zip": "../hush": is not a valid name in an archive: it contains ".."
e: "s3://x": only file:, http: and https: URIs can be opened
f: "file:x": the path of a file: URI must be absolute, as in file:///folder/file
g: "links": "link": is a symbolic link; archives may contain only files and folders
h: the URI is malformed`},
		{"in archives", `{"a": {"$sig": "$archive", "assets": {"../a": {"$sig": "$asset", "text": ""},
			"b": {"$sig": "$asset", "path": "no"}, "b/c": {"$sig": "$asset", "text": ""}, "d": {"$sig": "$asset", "text": ""},
			"d/e": {"$sig": "$archive", "assets": {"f": {"$sig": "$asset", "text": ""}}}, "./d": {"$sig": "$asset", "text": ""},
			"g": {"$sig": "$archive", "assets": {"": {"$sig": "$asset", "text": ""}}}}}}`, `
a["../a"]: is not a valid name in an archive: it contains ".."
a.b: "no": no such file in "$cwd"
a.d: "d": appears twice in the archive
a["d/e"]: "d": is both a file and a folder in the archive
a.g[""]: is not a valid name in an archive: it is empty`},
		{"in secrets", `{"a": {"$sig": "$secret", "value": {"hush": {"$sig": "$asset", "path": "hush"}}},
			"b": {"$sig": "$asset", "path": {"$sig": "$secret", "value": "hush"}},
			"c": {"$sig": "$archive", "path": {"$sig": "$secret", "value": "bad"}},
			"d": {"$sig": "$asset", "uri": {"$sig": "$secret", "value": "hush:"}},
			"e": {"$sig": "$archive", "assets": {"$sig": "$secret", "value": {"/hush": {"$sig": "$asset", "text": ""},
				"hush": {"$sig": "$asset", "text": ""}, "hush/b": {"$sig": "$asset", "text": ""}}}},
			"f": {"$sig": "$secret", "value": {"$sig": "$asset", "uri": "http://hush%zz"}}}`, `
a[…]: no such file
b: no such file
c: is not a valid name in an archive: it contains a backslash
d: only file:, http: and https: URIs can be opened
e[…]: is not a valid name in an archive: it is absolute
e[…]: is both a file and a folder in the archive
f: the URI is malformed`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := content.Stamp(t.Context(), bag(t, test.given))
			var invalid *lumi.InvalidError
			if !got.IsZero() || !errors.As(err, &invalid) {
				t.Fatalf("Stamp = %v, %v, want the zero Bag, an *InvalidError", got, err)
			}
			var lines strings.Builder
			for _, f := range invalid.Faults {
				fmt.Fprintf(&lines, "\n%s: %s", f.Path, f.Message)
			}
			if want := strings.ReplaceAll(test.want, "$cwd", folder); lines.String() != want {
				t.Errorf("Stamp faults =%s\nwant%s", lines.String(), want)
			}
		})
	}
}

func TestStampBounds(t *testing.T) {
	inFolder(t, map[string]string{"a": "x"})
	missing := bag(t, `{"$sig": "$asset", "path": "no"}`).Struct()
	many := &structpb.ListValue{}
	for range 1000 {
		many.Values = append(many.Values, structpb.NewStructValue(missing))
	}
	_, err := content.Stamp(t.Context(), lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{
		"a": structpb.NewListValue(many),
	}}))
	var invalid *lumi.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Faults) != 101 {
		t.Fatalf("Stamp error = %v, want 101 faults", err)
	}
	if last := invalid.Faults[100].Error(); last != "there may be more errors" {
		t.Errorf("last fault = %q, want \"there may be more errors\"", last)
	}

	for _, wrap := range []func(*structpb.Value) *structpb.Value{
		func(v *structpb.Value) *structpb.Value {
			return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
		},
		func(v *structpb.Value) *structpb.Value {
			return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				wire.Signature: structpb.NewStringValue(wire.Archive),
				"assets":       structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"a": v}}),
			}})
		},
		func(v *structpb.Value) *structpb.Value {
			return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				wire.Signature: structpb.NewStringValue(wire.Secret), "value": v,
			}})
		},
	} {
		deep := structpb.NewStructValue(missing)
		for range 5000 {
			deep = wrap(deep)
		}
		given := &structpb.Struct{Fields: map[string]*structpb.Value{"a": deep}}
		if _, err := content.Stamp(t.Context(), lumi.BagOf(given)); err != nil {
			t.Errorf("Stamp beyond the depth limit returned %v, want nil", err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := content.Stamp(ctx, bag(t, `{"a": {"$sig": "$asset", "path": "a"}}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("Stamp with a canceled context returned %v, want context.Canceled", err)
	}
}

// Stamp does not render the paths of values without faults, which would take too much memory.
func TestStampPaths(t *testing.T) {
	values := make([]*structpb.Value, 1000)
	for i := range values {
		values[i] = structpb.NewNumberValue(1)
	}
	bag := &structpb.Struct{Fields: map[string]*structpb.Value{
		strings.Repeat("k ", 10_000): structpb.NewListValue(&structpb.ListValue{Values: values}),
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := content.Stamp(t.Context(), lumi.BagOf(bag)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("Stamp allocated %d bytes, want at most 1 MiB", took)
	}
}
