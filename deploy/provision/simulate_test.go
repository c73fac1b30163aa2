package provision_test

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Simulating the creation, change, and removal of the local provider's example leaves no files.
func TestSimulateDeployment(t *testing.T) {
	t.Parallel()
	dir, binary := t.TempDir(), providertest.Build(t, "../../examples/local/provider/lumi-resource-local")
	pool := provision.NewPool(provision.PoolOptions{Command: func(string) (plugin.Command, error) {
		return plugin.Command{Path: binary, Dir: dir}, nil
	}})
	defer pool.Close()
	var steps []string
	o := run.Options{
		Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: func(string) provision.Providers { return provision.Simulate(pool) }, Parallelism: 1,
		Events: func(e store.Event) {
			if e.URN != "" && e.State != store.Started {
				steps = append(steps, strings.TrimSpace(e.Kind+" "+e.ID+" "+string(e.State)+" "+e.Message))
			}
		},
	}
	fatal(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
	engine := run.New(o)
	text, err := os.ReadFile("../../examples/local/programs/site/graph.json")
	fatal(t, err)
	deploy := func(r run.Request, want ...string) *graph.Graph {
		t.Helper()
		steps = nil
		planned, err := engine.Plan(t.Context(), r)
		fatal(t, err)
		if !planned[0].HasChanges() {
			t.Error("Plan().HasChanges() = false, want true")
		}
		queued, err := engine.Queue(t.Context(), planned...)
		fatal(t, err)
		d, err := engine.Run(t.Context(), queued[0].ID)
		fatal(t, err)
		if d.State != store.Done || !reflect.DeepEqual(steps, want) {
			t.Errorf("Run ended with %s %s, steps:\n%s\nwant\n%s", d.State, d.Message, strings.Join(steps, "\n"), strings.Join(want, "\n"))
		}
		g, err := engine.Graph(t.Context())
		fatal(t, err)
		return g
	}
	desired := func(text string) run.Request {
		t.Helper()
		s, err := lumigl.ParseSnapshot(text)
		fatal(t, err)
		return run.Request{Desired: s}
	}

	site := desired(string(text))
	g := deploy(site, "create simulated-password DONE", "create simulated-password.txt DONE", "create simulated-site DONE",
		"create simulated-index DONE")
	for r := range g.Newest("local-example").Resources() {
		if r.URN.Name() == "password" {
			if result, _ := r.Outputs.Get("result").Secret(); !result.Equal(value("simulated-password-result")) {
				t.Errorf("outputs of the password = %s, want a simulated result", show(r.Outputs))
			}
		}
	}
	if p, err := engine.Plan(t.Context(), site); err != nil || p[0].HasChanges() || !p[0].HasSecrets() {
		t.Errorf("Plan after the deployment: error %v; want a plan without changes and with secrets", err)
	}
	changed := strings.NewReplacer(`"600"`, `"644"`, `"length": 24`, `"length": 32`).Replace(string(text))
	deploy(desired(changed), "delete simulated-password DONE", "replace simulated-password DONE", "update simulated-password.txt DONE")
	deploy(run.Request{Destroy: "local-example"}, "delete simulated-index DONE", "delete simulated-password.txt DONE",
		"delete simulated-password DONE", "delete simulated-site DONE")
	deploy(desired(`{"package": "local-example", "resources": {"urn:lumi:dev::local-example:index::local:index:File::#1": {
		"type": "local:index:File", "options": {"import": "old.txt"}, "properties": {"path": "old.txt", "content": "x"}}}}`),
		"import old.txt DONE")
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("simulation left files %v, %v", files, err)
	}
}

// everything is a resource with outputs of all kinds.
type everything struct {
	Name, Text, Secret string
	Number             float64
	Yes                bool
	List               []string
	Map                map[string]string
	Any                any
	File               *lumi.Asset
}

// Lumi implements [lumi.Object].
func (e *everything) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &e.Name, lumi.String)
	lumi.Required(p, "text", &e.Text, lumi.String, lumi.Out)
	lumi.Required(p, "secret", &e.Secret, lumi.String, lumi.Out, lumi.Secret)
	lumi.Required(p, "number", &e.Number, lumi.Number, lumi.Out)
	lumi.Required(p, "yes", &e.Yes, lumi.Bool, lumi.Out)
	lumi.Nilable(p, "list", &e.List, lumi.List(lumi.String), lumi.Out)
	lumi.Nilable(p, "map", &e.Map, lumi.Map(lumi.String), lumi.Out)
	lumi.Nilable(p, "any", &e.Any, lumi.Any, lumi.Out)
	lumi.Optional(p, "file", &e.File, lumi.AssetValue, lumi.Out)
}

// describes is a provider of everything that implements only Describe.
type describes struct{ lumi.ResourceProvider }

func (describes) Describe(context.Context) (*lumi.Description, error) {
	return &lumi.Description{Type: disk, Named: true, Properties: lumi.Describe(&everything{})}, nil
}

func (describes) Check(_ context.Context, r *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	if text, _ := r.Properties.Get("name").(string); strings.HasSuffix(text, "wrong") {
		return nil, &lumi.InvalidError{Faults: []lumi.Fault{{Path: "name", Message: "is wrong"}}}
	}
	return &lumi.CheckResponse{Properties: r.Properties}, nil
}

func TestSimulate(t *testing.T) {
	t.Parallel()
	caller := &provision.Caller{Providers: provision.Simulate(providers(func(tokens.Type) lumi.ResourceProvider { return describes{} }))}
	of := plan.Desired{URN: vertex(t, disk, "d").URN(), Properties: value(object{"name": "d"})}
	madeUp := object{
		"text": "simulated-d-text", "secret": secretOf("simulated-d-secret"), "number": 0, "yes": false, "list": []any{}, "map": object{},
	}
	id, outputs, err := caller.Create(t.Context(), provision.CreateRequest{Desired: of})
	fatal(t, err)
	if expect(t, "created", outputs, value(madeUp)); id != "simulated-d" {
		t.Errorf(`Create() = ID %q, want "simulated-d"`, id)
	}
	_, outputs, err = caller.Get(t.Context(), plan.Existing{URN: of.URN, ID: "d"})
	fatal(t, err)
	expect(t, "imported", outputs, value(madeUp))
	outputs, err = caller.Call(t.Context(), of)
	fatal(t, err)
	if text, _ := outputs.Get("text").Text(); text != "simulated-Disk-text" || outputs.Len() != len(madeUp) {
		t.Errorf("Call() = %v, want made-up results", outputs)
	}

	has := value(object{"name": "d", "text": "t", "secret": "s", "number": 7, "any": 1})
	outputs, err = caller.Update(t.Context(), provision.UpdateRequest{
		InspectChangeRequest: plan.InspectChangeRequest{Desired: of, ID: "d", Old: has},
	})
	fatal(t, err)
	madeUp["text"], madeUp["secret"], madeUp["number"], madeUp["any"] = "t", secretOf("s"), 7, 1
	expect(t, "updated", outputs, value(madeUp))
	inputs, outputs, err := caller.Get(t.Context(), plan.Existing{URN: of.URN, ID: "d", Properties: has})
	fatal(t, err)
	expect(t, "inputs", inputs, value(object{"name": "d"}))
	expect(t, "read", outputs, value(object{"text": "t", "secret": "s", "number": 7, "any": 1}))

	fatal(t, caller.Delete(t.Context(), provision.DeleteRequest{Existing: plan.Existing{URN: of.URN, ID: "d", Properties: has}}))
	if _, err := caller.Find(t.Context(), provision.CreateRequest{Desired: of}); lumi.Meaning(err) != lumi.ErrNotFound { //nolint:errorlint // A meaning is not wrapped.
		t.Errorf("Find() = %v, want lumi.ErrNotFound", err)
	}
	for name, want := range map[string]string{
		"wrong": "name: is wrong", "simulated-wrong": "name: is wrong\nsome values are simulated, which may be the cause",
	} {
		of.Properties = value(object{"name": name})
		if _, err := caller.Check(t.Context(), plan.CheckRequest{Desired: of}); err == nil || err.Error() != want {
			t.Errorf("Check error = %v, want %s", err, want)
		}
	}
	of.Properties = value(object{"name": "right"})
	checked, err := caller.Check(t.Context(), plan.CheckRequest{Desired: of})
	fatal(t, err)
	expect(t, "checked", checked, of.Properties)
}
