package enginetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/pkg/v3/engine/lifecycletest/framework"
	states "github.com/pulumi/pulumi/pkg/v3/resource"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy"
	"github.com/pulumi/pulumi/pkg/v3/resource/deploy/deploytest"
	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/lumi-idl/lumi/adapter/pulumi/internal/traps"
	trapsschema "github.com/lumi-idl/lumi/adapter/pulumi/internal/traps/lumischema"
	"github.com/lumi-idl/lumi/adapter/pulumi/pulumiserve"
	local "github.com/lumi-idl/lumi/examples/local/provider"
	localschema "github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The environment of the plugin of package traps: the file of its cloud, and where it fails, such as "crash create".
const cloudFile, fault = "TRAPS_CLOUD", "TRAPS_FAULT"

// TestMain runs the tests, or is a plugin if the engine starts it as one.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "pulumi-resource-local":
		pulumiserve.Main(serve.Plugin{
			Package: "local", Version: "v1.0.0", Resources: local.Resources(), Functions: local.Functions(),
		}, localschema.JSON)
	case "pulumi-resource-acme_traps":
		c := traps.NewCloud()
		if err := c.Keep(os.Getenv(cloudFile)); err != nil {
			panic(err)
		}
		c.After = func(_ context.Context, op string) error {
			switch os.Getenv(fault) {
			case "crash " + op:
				os.Exit(3)
			case "panic " + op:
				panic("no power")
			case "partial " + op:
				return &lumi.PartialError{Err: errors.New("no power")}
			}
			return nil
		}
		pulumiserve.Main(c.Plugin(), trapsschema.JSON)
	}
	os.Exit(m.Run())
}

// A stack is managed by the real engine with the real plugins.
type stack struct {
	*testing.T
	plan framework.TestPlan
	snap *deploy.Snapshot
	dir  string
	// failure holds the errors that the engine printed in the last operation.
	failure string
}

// newStack returns an empty stack in a folder of its own, which is the plugins' working directory.
func newStack(t *testing.T) *stack {
	s := &stack{T: t, dir: t.TempDir()}
	t.Setenv(cloudFile, filepath.Join(s.dir, "cloud.json"))
	must.Do(t, os.Mkdir(filepath.Join(s.dir, "bin"), 0o700))
	for _, name := range []string{"local", "acme_traps"} {
		must.Do(t, os.Symlink(must.Get(os.Executable())(t), s.bin(name)))
	}
	return s
}

// bin returns the path of a plugin.
func (s *stack) bin(name string) string { return filepath.Join(s.dir, "bin", "pulumi-resource-"+name) }

// program registers the resources of a program.
type program func(*deploytest.ResourceMonitor) error

// host returns a host that starts the plugins. The engine does not end those: the stack does, once the operation has ended.
func (s *stack) host(p program) (deploytest.PluginHostFactory, func()) {
	var mu sync.Mutex
	var started []plugin.Provider
	load := func(name string) deploytest.LoadProviderWithHostFunc {
		return func(host plugin.Host) (plugin.Provider, error) {
			ctx, err := plugin.NewContextWithHost(s.Context(), nil, nil, host, s.dir, s.dir, nil)
			if err != nil {
				return nil, err
			}
			provider, err := plugin.NewProviderFromPath(host, ctx, s.bin(name))
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				started = append(started, provider)
			}
			return provider, err
		}
	}
	var loaders []*deploytest.ProviderLoader
	for name, version := range map[string]string{"local": "1.0.0", "acme_traps": "1.2.3"} {
		loaders = append(loaders, deploytest.NewProviderLoaderWithHost(tokens.Package(name), semver.MustParse(version), load(name),
			deploytest.WithoutGrpc, deploytest.WithoutHandshake))
	}
	runtime := deploytest.NewLanguageRuntimeF(func(_ plugin.RunInfo, m *deploytest.ResourceMonitor) error { return p(m) })
	return deploytest.NewPluginHostF(nil, nil, runtime, nil, nil, loaders...), func() {
		for _, provider := range started {
			if err := provider.Close(); err != nil {
				s.Logf("Close = %v", err)
			}
		}
	}
}

// run runs an operation of the engine and returns its steps, such as "create box", and its error.
func (s *stack) run(op framework.TestOp, isPreview bool, p program) (string, error) {
	s.Helper()
	host, done := s.host(p)
	defer done()
	options := framework.TestUpdateOptions{T: s, HostF: host, SkipDisplayTests: true, UpdateOptions: engine.UpdateOptions{Parallel: 1}}
	var steps []string
	s.failure = ""
	snap, err := op.RunStep(s.plan.GetProject(), s.plan.GetTarget(s, s.snap), options, isPreview, nil, func(
		_ workspace.Project, _ deploy.Target, _ engine.JournalEntries, events []engine.Event, err error,
	) error {
		for _, e := range events {
			switch e := e.Payload().(type) {
			case engine.ResourceOutputsEventPayload:
				if !e.Internal {
					steps = append(steps, string(e.Metadata.Op)+" "+e.Metadata.URN.Name())
				}
			case engine.DiagEventPayload:
				if e.Severity == diag.Error {
					s.failure += e.Message
				}
			}
		}
		return err
	}, "")
	if !isPreview && snap != nil {
		s.snap = snap
	}
	return strings.Join(steps, ", "), err
}

// up previews and deploys a program, which must take the same steps.
func (s *stack) up(steps string, p program) {
	s.Helper()
	for _, isPreview := range []bool{true, false} {
		if got, err := s.run(engine.Update, isPreview, p); err != nil || got != steps {
			s.Fatalf("Update (preview: %t) = %s, %v, want %s", isPreview, got, err, steps)
		}
	}
}

// inputs returns properties of a program.
func inputs(of map[string]any) deploytest.ResourceOptions {
	return deploytest.ResourceOptions{Inputs: resource.NewPropertyMapFromMap(of)}
}

// one returns a program with a single resource.
func one(typ tokens.Type, name string, properties map[string]any) program {
	return func(m *deploytest.ResourceMonitor) error {
		_, err := m.RegisterResource(typ, name, true, inputs(properties))
		return err
	}
}

// must runs an operation that must take the steps and succeed.
func (s *stack) must(steps string, op framework.TestOp, p program) {
	s.Helper()
	if got, err := s.run(op, false, p); err != nil || got != steps {
		s.Fatalf("the operation = %s, %v, want %s", got, err, steps)
	}
}

// state returns the state of a resource.
func (s *stack) state(name string) *states.State {
	s.Helper()
	if found := named(s.snap.Resources, name); len(found) == 1 {
		return found[0]
	}
	s.Fatalf("there is no resource %s", name)
	return nil
}
