package serve

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// untouched implements things without calling any cloud: every operation but Upgrade fails the test.
type untouched struct{ t *testing.T }

func (u untouched) called(name string) error {
	u.t.Errorf("the author's %s was called, want no call", name)
	return nil
}

func (u untouched) Check(context.Context, *state) error { return u.called("Check") }

func (u untouched) Create(context.Context, *state) (lumi.ID, error) { return "x", u.called("Create") }

func (u untouched) Find(context.Context, *state) (lumi.ID, error) { return "x", u.called("Find") }

func (u untouched) Get(context.Context, lumi.ID, *state) (*thing, error) {
	return new(thing), u.called("Get")
}

func (u untouched) InspectChange(context.Context, *state, *state, *lumi.Diff) error {
	return u.called("InspectChange")
}

func (u untouched) Update(context.Context, *state, *state, *lumi.Diff) error {
	return u.called("Update")
}

func (u untouched) Delete(context.Context, *state) error { return u.called("Delete") }

// Upgrade implements [lumi.Upgrader] for things whose property do was called deed.
func (u untouched) Upgrade(_ context.Context, old *state, stored lumi.Bag) error {
	old.Properties.Do, _ = stored.Get("deed").(string)
	switch secret := old.Properties.Secret; old.Properties.Do {
	case "fail":
		return errors.New("no account " + *secret)
	case "panic":
		panic("no account " + *secret)
	}
	return nil
}

// foreignThings is a provider of things that does not use the runtime's provider.
type foreignThings struct{ lumi.ResourceProvider }

// offlinePlugin returns a plugin that is not configured yet and whose code must not be called.
func offlinePlugin(t *testing.T) *Local {
	t.Helper()
	empty := func() *thing { return new(thing) }
	things := lumi.NewNamedProvider(thingToken, empty, untouched{t}).Formerly("test:index:Old")
	return must.Get(NewLocal(Plugin{
		Package:   "test",
		Configure: Configure(func(context.Context, *config) error { return untouched{t}.called("Configure") }),
		Resources: map[tokens.Type]lumi.ResourceProvider{thingToken: &things, otherToken: foreignThings{&things}},
		Functions: map[tokens.Type]lumi.Function{searchToken: lumi.NewFunction(searchToken, func() *search { return new(search) },
			func(context.Context, *search, lumi.References) error { return untouched{t}.called("function") })},
	}))(t)
}

func TestLocalValidate(t *testing.T) {
	l := offlinePlugin(t)
	unserved := `the plugin for package "test" does not serve type "test:index:None"`
	for name, test := range map[string]struct {
		token tokens.Type
		bag   string
		want  string // the error, or "" if there is none
	}{
		"valid":        {thingToken, `{"name": "a", "do": "x"}`, ""},
		"former token": {"test:index:Old", `{"name": "a"}`, "do: is required, but missing"},
		"unknown":      {thingToken, `{"name": "a", "do": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}`, ""},
		"missing file": {thingToken, `{"name": "a", "do": "x", "attachments": {"x": [{"asset": {"$sig": "$asset", "path": "gone"}}]}}`, ""},
		"invalid": {thingToken, `{"name": "", "result": "x", "colour": 1}`, "name: must have at least 1 character, found 0\n" +
			"name: must match ^[^ ], found \"\"\ndo: is required, but missing\nresult: is set by the provider, not by a program\ncolour: no such property"},
		"secret":           {thingToken, `{"name": "a", "do": {"$sig": "$secret", "value": 12345678}}`, "do: expected a string, found a number"},
		"function":         {searchToken, `{"do": ""}`, "do: must have at least 1 character, found 0"},
		"unknown argument": {searchToken, `{"do": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}`, ""},
		"not served":       {"test:index:None", `{}`, unserved},
		"not generated":    {otherToken, `{}`, "the provider of test:sub/module:Other cannot validate properties"},
	} {
		err := l.Validate(t.Context(), test.token, lumi.BagOf(jsonBag(t, test.bag)))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: Validate error = %s\nwant %s", name, got, test.want)
		}
		if invalid := errors.As(err, new(*lumi.InvalidError)); err != nil && invalid == errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: Validate error = %T, want an *InvalidError or ErrUnsupported", name, err)
		}
	}
}

func TestLocalUpgrade(t *testing.T) {
	l := offlinePlugin(t)
	for name, test := range map[string]struct {
		token        tokens.Type
		stored, want string // want is the upgraded bag or the error
	}{
		"current":       {thingToken, `{"name": "a", "do": "x"}`, `{"do":"x","name":"a"}`},
		"older":         {"test:index:Old", `{"name": "a", "deed": "x", "gone": 1}`, `{"do":"x","name":"a"}`},
		"secret":        {thingToken, `{"name": "a", "do": "x", "secret": "hush hush"}`, `{"do":"x","name":"a","secret":"(secret)"}`},
		"another kind":  {thingToken, `{"name": "a", "deed": "x", "fixed": 5}`, `{"do":"x","name":"a"}`},
		"failing":       {thingToken, `{"deed": "fail", "secret": "hush hush"}`, "upgrading the stored properties: no account (secret)"},
		"panicking":     {thingToken, `{"deed": "panic", "secret": "hush hush"}`, "the provider panicked: no account (secret)"},
		"not served":    {"test:index:None", `{}`, `the plugin for package "test" does not serve type "test:index:None"`},
		"a function":    {searchToken, `{}`, "the provider of test:index:Search cannot upgrade properties"},
		"not generated": {otherToken, `{}`, "the provider of test:sub/module:Other cannot upgrade properties"},
	} {
		stored := jsonBag(t, test.stored)
		upgraded, err := l.Upgrade(t.Context(), test.token, lumi.BagOf(stored))
		got := upgraded.String()
		if err != nil {
			got = err.Error()
		}
		if got != test.want || !proto.Equal(stored, jsonBag(t, test.stored)) {
			t.Errorf("%s: Upgrade = %s, want %s", name, got, test.want)
		}
	}
}

// Descriptions are the same in this process as over a connection.
func TestLocalDescribe(t *testing.T) {
	p, l := start(t, "configurable"), local(t, "configurable")
	if diff := cmp.Diff(must.Get(p.Describe(within(t)))(t), must.Get(l.Describe(t.Context()))(t)); diff != "" {
		t.Errorf("Describe (-gRPC +Local):\n%s", diff)
	}
	things := must.Get(l.Resource(thingToken))(t)
	if d := must.Get(things.Describe(t.Context()))(t); d.Type != thingToken || !d.Named {
		t.Errorf("Describe = %+v, want things", d)
	}
	_, err := l.Describe(t.Context(), "test:index:None")
	if want := `the plugin for package "test" does not serve type "test:index:None"`; err == nil || err.Error() != want {
		t.Errorf("Describe error = %v, want %s", err, want)
	}
	if _, resource := l.Resource("test:index:None"); resource == nil || resource.Error() != err.Error() {
		t.Errorf("Resource error = %v, want %v", resource, err)
	}
	_, err = l.Function(thingToken)
	if want := `the plugin for package "test" does not serve function "test:index:Thing"`; err == nil || err.Error() != want {
		t.Errorf("Function error = %v, want %s", err, want)
	}
	_, err = NewLocal(Plugin{Package: "test"})
	if want := "invalid resources:\nno resources"; err == nil || err.Error() != want {
		t.Errorf("NewLocal error = %v, want %s", err, want)
	}
}

// Check hashes the files of assets and archives, and reports those that are missing.
func TestLocalContent(t *testing.T) {
	t.Chdir(t.TempDir())
	things := must.Get(local(t, "plugin").Resource(thingToken))(t)
	folder := must.Get(os.Getwd())(t)
	_, err := check(codeBag())(t.Context(), things)
	if want := `code: "code": no such file in "` + folder + `"`; err == nil || err.Error() != want {
		t.Errorf("Check error = %v, want %s", err, want)
	}
	must.Do(t, os.MkdirAll("code", 0o755))
	must.Do(t, os.WriteFile(filepath.Join("code", "main"), []byte("one"), 0o600))
	resp := must.Get(things.Check(t.Context(), &lumi.CheckRequest{URN: thingURN, Properties: lumi.BagOf(codeBag())}))(t)
	if hash := resp.Properties.Struct().GetFields()["code"].GetStructValue().GetFields()["hash"].GetStringValue(); len(hash) < 32 {
		t.Errorf("hash = %q, want the hash of the folder", hash)
	}
}

// Author's code that modifies a request does not modify the caller's bags.
func TestLocalCopies(t *testing.T) {
	things := must.Get(local(t, "plugin").Resource(thingToken))(t)
	referred := jsonBag(t, `{"token": {"$sig": "$secret", "value": "referred to"}}`)
	before := proto.CloneOf(referred)
	_, err := create(leakyBag(t, "unwrapped"), lumi.References{otherURN: {ID: "o-1", Properties: lumi.BagOf(referred)}})(t.Context(), things)
	if want := "refers to (secret)"; err == nil || err.Error() != want {
		t.Errorf("Create error = %v, want %s", err, want)
	}
	if !proto.Equal(before, referred) {
		t.Errorf("the caller's bag = %v, want %v", referred, before)
	}
}

// A canceled call returns what the author's code returns. Close cancels calls and refuses later ones.
func TestLocalCanceled(t *testing.T) { synctest.Test(t, testLocalCanceled) }

func testLocalCanceled(t *testing.T) {
	l := must.Get(NewLocal(pluginOf("plugin")))(t)
	things := must.Get(l.Resource(thingToken))(t)
	begin := func(ctx context.Context, do string) chan error {
		result := make(chan error, 1)
		go func() {
			_, err := create(thingBag(do), nil)(ctx, things)
			result <- err
		}()
		synctest.Wait()
		return result
	}
	ctx, cancel := context.WithCancel(t.Context())
	tidy, wait := begin(ctx, "tidy"), begin(ctx, "wait")
	cancel()
	must.Do(t, <-tidy)
	if err := <-wait; !isUncertain(err) || err.Error() != "context canceled" {
		t.Errorf("canceled Create returned %T %[1]v, want an uncertain context canceled", err)
	}
	if err := <-begin(ctx, "nothing"); isUncertain(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("Create after its cancellation returned %T %[1]v, want a certain context.Canceled", err)
	}
	tidy = begin(t.Context(), "tidy")
	must.Do(t, l.Close())
	must.Do(t, <-tidy)
	err := <-begin(t.Context(), "nothing")
	if want := "the plugin is stopping"; err == nil || isUncertain(err) || err.Error() != want {
		t.Errorf("Create after Close returned %T %[1]v, want a certain %s", err, want)
	}
	if err := l.Validate(t.Context(), thingToken, lumi.BagOf(thingBag("nothing"))); err == nil || err.Error() != "the plugin is stopping" {
		t.Errorf("Validate after Close returned %v, want the plugin is stopping", err)
	}
}

// Close does not wait forever for code that ignores its context.
func TestLocalCloseHangs(t *testing.T) { synctest.Test(t, testLocalCloseHangs) }

func testLocalCloseHangs(t *testing.T) {
	release := make(chan struct{})
	p := pluginOf("plugin")
	p.Configure = func(context.Context, lumi.Bag) error { <-release; return nil }
	l := must.Get(NewLocal(p))(t)
	configured := make(chan error, 1)
	go func() { configured <- l.Configure(t.Context(), lumi.Bag{}) }()
	synctest.Wait()
	if err := l.Close(); err == nil || err.Error() != "some calls did not return after they were canceled" {
		t.Errorf("Close error = %v, want a hanging call", err)
	}
	close(release)
	must.Do(t, <-configured)
}

// Without a sink in their context, events are logged. Masked masks logs during calls, and configured secrets always.
func TestLocalLog(t *testing.T) {
	var log buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	l := local(t, "configurable")
	slog.SetDefault(slog.New(slog.NewTextHandler(l.Masked(&log), nil)))
	must.Do(t, l.Configure(t.Context(), configuration("log")))
	things := must.Get(l.Resource(thingToken))(t)
	must.Get(check(leakyBag(t, "log"))(t.Context(), things))(t)
	slog.Info("later", "password", "hush hush")
	for _, want := range []string{
		`msg="configuring password=\"(secret)\"" provider=test`, `msg="trying (secret)" secret="(secret)"`, `msg=later password="(secret)"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, &log)
		}
	}
	if bytes.Contains([]byte(log.String()), []byte("hush")) {
		t.Errorf("the log contains a secret:\n%s", &log)
	}
}
