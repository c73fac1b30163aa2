package provision_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/sim"
)

// roleVariable is the environment variable that turns this test binary into a plugin: "plain", "configurable", "silent"
// (never ready), or "provisioner" with a misbehavior as its argument.
const roleVariable = "LUMI_PROVISION_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	p := simPlugin(sim.New(sim.Options{Types: types}))
	who := &whoami{ResourceProvider: p.Resources[server]}
	p.Resources[server] = who
	switch role {
	case "":
		os.Exit(m.Run())
	case "silent":
		fmt.Fprintln(os.Stderr, os.Getpid())
		select {}
	case "provisioner":
		serveHostile(os.Args[1])
	case "configurable":
		p.Configure = serve.Configure(func(ctx context.Context, c *config) error {
			if c.Region == "nowhere" {
				return lumi.Faultf("region", "there is no %s", c.Region)
			}
			if c.Region == "far away" {
				<-ctx.Done()
				return ctx.Err()
			}
			who.region = c.Region
			fmt.Fprintf(os.Stderr, "password %s\n", c.Password)
			return nil
		})
	}
	serve.Main(p)
}

type config struct{ Region, Password string }

// Lumi implements [lumi.Object].
func (c *config) Lumi(p *lumi.Props) {
	lumi.Required(p, "region", &c.Region, lumi.String)
	lumi.Required(p, "password", &c.Password, lumi.String)
}

// whoami is a provider whose Name returns its process ID.
type whoami struct {
	lumi.ResourceProvider
	region string
}

func (w *whoami) Name(ctx context.Context, _ *lumi.NameRequest) (*lumi.NameResponse, error) {
	lumi.Log(ctx).Info("asked")
	return &lumi.NameResponse{Name: fmt.Sprint(os.Getpid(), " ", w.region)}, nil
}

type pool struct {
	*provision.Pool
	starts atomic.Int32
	events atomic.Int32
	log    syncBuffer
}

func newPool(t *testing.T, role string) *pool {
	t.Helper()
	p := &pool{log: syncBuffer{written: make(chan struct{}, 100)}}
	p.Pool = provision.NewPool(provision.PoolOptions{
		Command: func(pkg string) (plugin.Command, error) {
			if pkg == "missing" {
				return plugin.Command{}, fmt.Errorf("no plugin for package %q: install lumi-resource-%s", pkg, pkg)
			}
			p.starts.Add(1)
			env := append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0") // avoids a delay of a second at exit
			return plugin.Command{Path: os.Args[0], Env: env, Log: &p.log}, nil
		},
		Events: func(lumi.Event) { p.events.Add(1) },
	})
	t.Cleanup(func() { _ = p.Close() }) // Tests that depend on the error call Close themselves.
	return p
}

// syncBuffer is a log that is safe for concurrent use and signals each write.
type syncBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func (b *syncBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.written <- struct{}{}:
	default:
	}
	return b.text.Write(data)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// ask returns the ID and the region of the process that serves a configuration.
func (p *pool) ask(ctx context.Context, configuration lumigl.Value) (pid int, region string, err error) {
	caller := &provision.Caller{Providers: p, Configuration: func(string) lumigl.Value { return configuration }}
	name, err := caller.Name(ctx, plan.Desired{URN: "urn:lumi:test::app:index::sim:index:Server::#1"})
	if err != nil {
		return 0, "", err
	}
	id, region, _ := strings.Cut(name, " ")
	pid, err = strconv.Atoi(id)
	return pid, region, err
}

func isGone(pid int) bool {
	process, err := os.FindProcess(pid)
	return err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

func TestPool(t *testing.T) {
	t.Parallel()
	p := newPool(t, "plain")
	var wg sync.WaitGroup
	pids := make([]int, 20)
	for i := range pids {
		wg.Go(func() {
			configuration := lumigl.Value{}
			if i%2 == 0 {
				configuration = lumigl.ObjectOf() // equivalent to no configuration
			}
			var err error
			if pids[i], _, err = p.ask(t.Context(), configuration); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] {
			t.Errorf("calls were served by processes %v, want a single process", pids)
			break
		}
	}
	if starts, events := p.starts.Load(), p.events.Load(); starts != 1 || events != 20 {
		t.Errorf("got %d starts and %d events, want 1 and 20", starts, events)
	}
	_, version, err := p.Provider(t.Context(), disk, lumigl.Value{})
	if err != nil || version != "1.2" {
		t.Errorf(`Provider() returned version %q, %v, want "1.2"`, version, err)
	}
	if err := p.Close(); err != nil || !isGone(pids[0]) {
		t.Errorf("Close() = %v, process exited: %t, want nil and true", err, isGone(pids[0]))
	}
	if _, _, err := p.ask(t.Context(), lumigl.Value{}); err == nil || err.Error() != "the plugin pool is closed" {
		t.Error(err)
	}
}

func TestPluginPerConfiguration(t *testing.T) {
	t.Parallel()
	p := newPool(t, "configurable")
	pids := map[int]string{}
	for _, region := range []string{"oslo", "lisbon", "oslo"} {
		pid, got, err := p.ask(t.Context(), value(object{"region": region, "password": secretOf("hunter2")}))
		fatal(t, err)
		if before, ok := pids[pid]; got != region || ok && before != region {
			t.Errorf("region %s is served by process %d of region %q, configured for %q", region, pid, before, got)
		}
		pids[pid] = region
	}
	if len(pids) != 2 || p.starts.Load() != 2 {
		t.Errorf("got processes %v after %d starts, want 2 processes and 2 starts", pids, p.starts.Load())
	}
	fatal(t, p.Close())
	for pid := range pids {
		if !isGone(pid) {
			t.Errorf("process %d is still running after Close", pid)
		}
	}
}

func TestPluginRestart(t *testing.T) {
	t.Parallel()
	p := newPool(t, "configurable")
	configuration := value(object{"region": "oslo", "password": secretOf("hunter2")})
	pid, _, err := p.ask(t.Context(), configuration)
	fatal(t, err)
	kill := func() (int, error) {
		process, err := os.FindProcess(pid)
		fatal(t, err)
		fatal(t, process.Kill())
		next, region, err := p.ask(t.Context(), configuration)
		for as[*plugin.Error](err) { // The call preceded the detection of the exit.
			next, region, err = p.ask(t.Context(), configuration)
		}
		if err == nil && (next == pid || region != "oslo") {
			t.Errorf("process %d replaces process %d with region %q, want a new process with region oslo", next, pid, region)
		}
		return next, err
	}
	for range 3 {
		pid, err = kill()
		fatal(t, err)
	}
	_, err = kill()
	const want = "not restarted, because it ended 4 times within a minute: plugin for package \"sim\": " +
		"the plugin did not exit cleanly: signal: killed\nIt wrote:\npassword (secret)"
	if err == nil || err.Error() != want || p.starts.Load() != 4 {
		t.Errorf("error after too many restarts = %v with %d starts, want %s", err, p.starts.Load(), want)
	}
	if !strings.Contains(p.log.String(), "password (secret)\n") {
		t.Errorf("log = %q, want the password masked", p.log.String())
	}
	if err := p.Close(); err == nil || err.Error() != `plugin for package "sim": the plugin did not exit cleanly: signal: killed` {
		t.Errorf("Close() = %v, want an error for the killed process", err)
	}
}

func TestPluginStartCanceled(t *testing.T) {
	t.Parallel()
	for _, isClosed := range []bool{false, true} {
		p := newPool(t, "silent")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, _, err := p.ask(ctx, lumigl.Value{})
			failed <- err
		}()
		<-p.log.written
		if isClosed {
			fatal(t, p.Close())
		} else {
			cancel()
		}
		err := <-failed
		cancel()
		pid, _ := strconv.Atoi(strings.TrimSpace(p.log.String()))
		if !errors.Is(err, context.Canceled) || pid == 0 || !isGone(pid) {
			t.Errorf("closed: %t: error = %v, process %d exited: %t, want context.Canceled and true", isClosed, err, pid, isGone(pid))
		}
	}
}

func TestPluginTimeouts(t *testing.T) {
	t.Parallel()
	pool := provision.NewPool(provision.PoolOptions{Command: func(string) (plugin.Command, error) {
		env := append(os.Environ(), roleVariable+"=silent")
		return plugin.Command{Path: os.Args[0], Env: env, Log: io.Discard, StartTime: 100 * time.Millisecond}, nil
	}})
	defer pool.Close()
	_, _, err := pool.Provider(t.Context(), disk, lumigl.Value{})
	want := `plugin for package "sim": ` + os.Args[0] + ": the plugin printed no port within 100ms"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Provider error = %v, want prefix %s", err, want)
	}

	pool = provision.NewPool(provision.PoolOptions{ConfigureTime: time.Second, Command: func(string) (plugin.Command, error) {
		return plugin.Command{Path: os.Args[0], Env: append(os.Environ(), roleVariable+"=configurable"), Log: io.Discard}, nil
	}})
	defer pool.Close()
	_, _, err = pool.Provider(t.Context(), disk, value(object{"region": "far away", "password": secretOf("hunter2")}))
	if want := `plugin for package "sim": configuration timed out after 1s`; err == nil || err.Error() != want {
		t.Errorf("Provider error = %v, want %s", err, want)
	}
}

func TestPluginStartErrors(t *testing.T) {
	t.Parallel()
	path := os.Args[0]
	configuration := func(region string) lumigl.Value {
		return value(object{"region": region, "password": secretOf("hunter2")})
	}
	for _, test := range []struct {
		role          string
		typ           tokens.Type
		configuration lumigl.Value
		want          string
	}{
		{"plain", "missing:index:Disk", lumigl.Value{}, `no plugin for package "missing": install lumi-resource-missing`},
		{"plain", "aws:index:Disk", lumigl.Value{}, `` + path + ` is the plugin for package "sim", not "aws": install the right one`},
		{"plain", disk, configuration("oslo"), `package "sim" has a configuration, but its plugin accepts none: remove it`},
		{"plain", "sim:index:Desk", lumigl.Value{}, `the plugin for package "sim" does not serve type "sim:index:Desk": correct the type, or install a version other than "1.2"`},
		{"configurable", disk, lumigl.Value{}, "configuration of package \"sim\": region: is required, but missing\npassword: is required, but missing"},
		{"configurable", disk, configuration("nowhere"), `configuration of package "sim": region: there is no nowhere`},
	} {
		p := newPool(t, test.role)
		caller := &provision.Caller{Providers: p, Configuration: func(string) lumigl.Value { return test.configuration }}
		for range 2 { // Each call reports the failure to start.
			if _, err := caller.Describe(t.Context(), []tokens.Type{test.typ}); err == nil || err.Error() != test.want {
				t.Errorf("Describe error = %v, want %s", err, test.want)
			}
		}
		fatal(t, p.Close())
	}
}
