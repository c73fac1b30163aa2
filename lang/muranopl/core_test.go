package muranopl_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// coreLibrary is the package io.murano of the reference, as installed by Debian's murano-common.
const coreLibrary = "/usr/share/murano-common/io.murano.zip"

func TestCoreLibrary(t *testing.T) {
	t.Parallel()
	library := coreLibrary
	if path := os.Getenv("MURANO_CORE"); path != "" {
		library = path
	}
	classes, err := catalog.Open(library, "testdata/core")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the core library is not available: %s (install Debian's murano-common, or set MURANO_CORE to a copy)", err)
	}
	if err != nil || len(classes.Errors) > 0 {
		t.Fatal(err, classes.Errors)
	}
	in := muranopl.New(classes, muranopl.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	model := must.Get(catalog.Model("model", json.RawMessage(`{"?": {"type": "io.murano.Environment", "id": "env"}, "name": "shop",
		"applications": [{"?": {"type": "t.App", "id": "a"}, "name": "a"}, {"?": {"type": "t.App", "id": "b"}, "name": "b"}]}`)))(t)
	env := must.Get(in.Load(t.Context(), model))(t)
	must.Get(in.Call(t.Context(), env, "deploy"))(t)
	for id, want := range map[string]string{"a": `["shop", 1, "localhost", true]`, "b": `["shop", 1, "localhost", true]`} {
		got := must.Get(in.Call(t.Context(), in.Object(id), "report"))(t)
		if text := string(encode(t, got)); text != want {
			t.Errorf("report of application %s = %s, want %s", id, text, want)
		}
	}
	if text := string(encode(t, in.Save(env))); !json.Valid([]byte(text)) {
		t.Errorf("saved model = %s, want valid JSON", text)
	}
}
