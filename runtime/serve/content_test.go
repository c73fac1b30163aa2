package serve

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/content"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// startIn starts the plugin at a path in a working directory, and returns the provider of things.
func startIn(t *testing.T, folder, path string) lumi.ResourceProvider {
	t.Helper()
	p := must.Get(plugin.Start(within(t), plugin.Command{
		Path: path, Dir: folder, Env: env("plugin"), Log: new(buffer), Grace: patience,
	}))(t)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return must.Get(p.Resource(thingToken))(t)
}

// codeBag returns properties with an archive of the folder code.
func codeBag() *structpb.Struct {
	bag := thingBag("read")
	bag.Fields["code"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		wire.Signature: structpb.NewStringValue(wire.Archive), "path": structpb.NewStringValue("code"),
	}})
	return bag
}

// Check reports missing files, InspectChange reports changed files, and paths are relative to the plugin's working directory.
func TestContent(t *testing.T) {
	folder := t.TempDir()
	things := startIn(t, folder, os.Args[0])
	check := func() (*structpb.Struct, error) {
		resp, err := things.Check(within(t), &lumi.CheckRequest{URN: thingURN, Properties: lumi.BagOf(codeBag())})
		if err != nil {
			return nil, err
		}
		return resp.Properties.Struct(), nil
	}

	_, err := check()
	var invalid *lumi.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("Check error = %v, want an *InvalidError", err)
	}
	if want := `code: "code": no such file in "` + folder + `"`; err.Error() != want {
		t.Fatalf("Check error = %v, want %s", err, want)
	}

	// Faults of all kinds are in declaration order.
	wrong := codeBag()
	wrong.Fields["colour"] = structpb.NewStringValue("red")
	wrong.Fields["fixed"] = structpb.NewBoolValue(true)
	more := jsonBag(t, `{"attachments": {
		"x": [
			{"asset": {"$sig": "$asset", "path": "x0"}}, {"title": 1}, {"asset": {"$sig": "$asset", "path": "x2"}},
			{"title": 3, "asset": {"$sig": "$asset", "path": "x3"}}, {}, {}, {}, {}, {}, {},
			{"asset": {"$sig": "$asset", "path": "x10"}}
		],
		"a b": [{"asset": {"$sig": "$asset", "path": "ab"}}],
		"secret": {"$sig": "$secret", "value": [{"asset": {"$sig": "$asset", "path": "hush"}, "title": 7}]}
	}, "result": {"$sig": "$asset", "path": "computed"}}`)
	maps.Copy(wrong.Fields, more.Fields)
	_, err = things.Check(within(t), &lumi.CheckRequest{URN: thingURN, Properties: lumi.BagOf(wrong)})
	missing := func(path, name string) string {
		return path + `: "` + name + `": no such file in "` + folder + `"`
	}
	want := strings.Join([]string{
		"fixed: expected a string, found a boolean true",
		missing("code", "code"),
		missing(`attachments["a b"][0].asset`, "ab"),
		"attachments.secret[0].asset: no such file",
		"attachments.secret[0].title: expected a string, found a number",
		missing("attachments.x[0].asset", "x0"),
		"attachments.x[1].title: expected a string, found a number 1",
		missing("attachments.x[2].asset", "x2"),
		missing("attachments.x[3].asset", "x3"),
		"attachments.x[3].title: expected a string, found a number 3",
		missing("attachments.x[10].asset", "x10"),
		"result: is set by the provider, not by a program",
		"colour: no such property",
		missing("result", "computed"), // not an asset in the IDL
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("Check error =\n%v\nwant\n%s", err, want)
	}

	write := func(text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Join(folder, "code"), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(folder, "code", "main"), []byte(text), 0o600))
	}
	write("one")
	old := must.Get(check())(t)
	hash := must.Get(content.Hash(t.Context(), lumi.FileArchive(filepath.Join(folder, "code"))))(t)
	if got := old.GetFields()["code"].GetStructValue().GetFields()["hash"].GetStringValue(); got != hash {
		t.Errorf("hash = %q, want %s", got, hash)
	}
	created := must.Get(things.Create(within(t), &lumi.CreateRequest{URN: thingURN, Properties: lumi.BagOf(old)}))(t)
	if got := created.Properties.Get("result"); got != "main=one" {
		t.Errorf("the provider read %q, want \"main=one\"", got)
	}

	for _, test := range []struct {
		text    string
		changes int
	}{{"one", 0}, {"two", 1}} {
		write(test.text)
		now := must.Get(check())(t)
		resp := must.Get(things.InspectChange(within(t), &lumi.InspectChangeRequest{URN: thingURN, ID: "t-1", Old: lumi.BagOf(old), New: lumi.BagOf(now)}))(t)
		if len(resp.Changes) != test.changes || test.changes > 0 && resp.Changes[0].Path != "code" {
			t.Errorf("changes with %s = %v, want %d", test.text, resp.Changes, test.changes)
		}
	}
}

// A relative plugin path is resolved against the parent's working directory.
func TestPluginDir(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(t.TempDir())
	binary := must.Get(os.Executable())(t)
	must.Do(t, os.Symlink(binary, "plugin"))
	things := startIn(t, folder, "./plugin")
	_, err := things.Check(within(t), &lumi.CheckRequest{URN: thingURN, Properties: lumi.BagOf(codeBag())})
	if want := `code: "code": no such file in "` + folder + `"`; err == nil || err.Error() != want {
		t.Errorf("Check error = %v, want %s", err, want)
	}

	missing := filepath.Join(folder, "none")
	_, err = plugin.Start(within(t), plugin.Command{Path: binary, Dir: missing, Env: env("plugin")})
	if want := "working directory of the plugin: stat " + missing + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("Start error = %v, want %s", err, want)
	}
}
