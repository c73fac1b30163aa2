package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// PoolOptions configure a [Pool].
type PoolOptions struct {
	// Command returns the command to start the plugin of a package. Its error lists the locations searched.
	Command func(pkg string) (plugin.Command, error)
	// ConfigureTime is the timeout for configuring a plugin. The default is one minute.
	ConfigureTime time.Duration
	// Events is called with logs and progress of providers, concurrently for different plugins. If nil, the Events of
	// the command is used.
	Events func(lumi.Event)
}

// Pool manages plugin processes. It starts a process on first use for each combination of package, configuration, and
// folder. If a process exits, the next call restarts it, but at most 3 times within a minute. A Pool is safe for
// concurrent use.
type Pool struct {
	options PoolOptions
	// closing is canceled by Close.
	closing context.Context
	stop    context.CancelFunc

	mu        sync.Mutex
	processes map[string]*process // by package, folder, and configuration
}

// NewPool returns a pool with no processes.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{options: o, processes: map[string]*process{}}
	p.closing, p.stop = context.WithCancel(context.Background())
	return p
}

// In returns the pool's providers, with plugins that run in the given folder, such as the folder of a program.
func (p *Pool) In(folder string) Providers { return located{p, folder} }

// located returns the providers of a pool. Their plugins run in folder or, if it is empty, in the folder specified by
// Command.
type located struct {
	*Pool
	folder string
}

// Provider implements [Providers]. Plugins run in the folder specified by Command. If ctx is done before a plugin has
// started, its process is stopped. Errors may contain secrets from the configuration; [Caller] masks them.
func (p *Pool) Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (lumi.ResourceProvider, string, error) {
	return located{p, ""}.Provider(ctx, t, configuration)
}

// Provider implements [Providers].
func (p located) Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (lumi.ResourceProvider, string, error) {
	bag := bagOf(orEmpty(configuration))
	key := property.Encode(bag.Object())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	running, err := p.process(t.Package(), string(key)).get(ctx, p, t.Package(), bag)
	if err != nil {
		return nil, "", err
	}
	if f, err := running.Function(t); err == nil {
		return function{Function: f}, running.Version, nil
	}
	provider, err := running.Resource(t)
	if err != nil {
		other := "another version"
		if running.Version != "" {
			other = fmt.Sprintf("a version other than %q", running.Version)
		}
		return nil, "", fmt.Errorf("%w: correct the type, or install %s", err, other)
	}
	return provider, running.Version, nil
}

// function is the provider of a function. Only the methods of [lumi.Function] are called.
type function struct {
	lumi.ResourceProvider
	lumi.Function
}

// Describe implements [lumi.ResourceProvider] and [lumi.Function].
func (f function) Describe(ctx context.Context) (*lumi.Description, error) {
	return f.Function.Describe(ctx)
}

func (p located) process(pkg, configuration string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := pkg + "\x00" + p.folder + "\x00" + configuration
	if p.processes[key] == nil {
		p.processes[key] = &process{}
	}
	return p.processes[key]
}

// Close stops all processes concurrently and returns the joined errors of processes that did not exit cleanly.
// Subsequent calls of Provider fail.
func (p *Pool) Close() error {
	p.stop()
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.processes))
	p.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, one := range all {
		wg.Go(func() {
			one.mu.Lock() // waits for a canceled start to return
			defer one.mu.Unlock()
			if one.plugin != nil {
				errs[i] = one.ended()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// IsUnavailable reports whether err means that the plugin could not be reached, so that the call had no effect.
func IsUnavailable(err error) bool {
	e := (*plugin.Error)(nil)
	return errors.As(err, &e) && e.Code == codes.Unavailable
}

// Crash describes how a plugin process ended during a call.
type Crash = plugin.Crash

// CrashOf returns the crash that caused err, or a zero Crash if there was none.
func CrashOf(err error) Crash {
	if e := (*plugin.Error)(nil); errors.As(err, &e) {
		return e.Crash
	}
	return Crash{}
}

// A plugin is restarted up to maxRestarts times within restartTime.
const (
	maxRestarts = 3
	restartTime = time.Minute
)

// process is a plugin process with a fixed configuration.
type process struct {
	mu       sync.Mutex     // held while the plugin starts
	plugin   *plugin.Plugin // nil before the first start
	wrote    *tail          // output of plugin
	restarts []time.Time
}

// get returns the running plugin. It starts the plugin if necessary.
func (one *process) get(ctx context.Context, p located, pkg string, configuration lumi.Bag) (*plugin.Plugin, error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if p.closing.Err() != nil {
		return nil, errors.New("the plugin pool is closed")
	}
	if one.plugin != nil {
		select {
		case <-one.plugin.Done():
		default:
			return one.plugin, nil
		}
		one.restarts = slices.DeleteFunc(one.restarts, func(at time.Time) bool { return time.Since(at) > restartTime })
		if len(one.restarts) == maxRestarts {
			return nil, fmt.Errorf("not restarted, because it ended %d times within a minute: %w\nIt wrote:\n%s",
				maxRestarts+1, cmp.Or(one.ended(), fmt.Errorf("plugin for package %q: exit status 0", pkg)), one.wrote)
		}
	}
	started, wrote, err := p.start(ctx, pkg, configuration)
	if err != nil {
		return nil, err
	}
	if one.plugin != nil {
		_ = one.ended() // Interrupted calls have reported the error.
		one.restarts = append(one.restarts, time.Now())
	}
	one.plugin, one.wrote = started, wrote
	return started, nil
}

// ended stops the plugin if it is still running. It returns an error if the plugin does not exit cleanly.
func (one *process) ended() error {
	if err := one.plugin.Close(); err != nil {
		return fmt.Errorf("plugin for package %q: %w", one.plugin.Package, err)
	}
	return nil
}

// start starts and configures a plugin. If it returns an error, the process has been stopped.
func (p located) start(ctx context.Context, pkg string, configuration lumi.Bag) (*plugin.Plugin, *tail, error) {
	command, err := p.options.Command(pkg)
	if err != nil {
		return nil, nil, err
	}
	command.Dir = cmp.Or(p.folder, command.Dir)
	wrote := &tail{to: cmp.Or[io.Writer](command.Log, os.Stderr)}
	command.Log = wrote
	if p.options.Events != nil {
		command.Events = p.options.Events
	}
	started, err := plugin.Start(ctx, command)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("plugin for package %q: %w", pkg, err)
	}
	switch hasConfiguration := len(configuration.Object().Fields()) > 0; {
	case started.Package != pkg:
		err = fmt.Errorf("%[2]s is the plugin for package %[3]q, not %[1]q: install the right one", pkg, command.Path, started.Package)
	case started.Configurable:
		patience := cmp.Or(p.options.ConfigureTime, time.Minute)
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err = configure(limited, started, pkg, configuration)
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("plugin for package %q: configuration timed out after %s", pkg, patience)
		}
	case hasConfiguration:
		err = fmt.Errorf("package %q has a configuration, but its plugin accepts none: remove it", pkg)
	}
	if err != nil {
		_ = started.Close() // err is the reason.
		return nil, nil, err
	}
	return started, wrote, nil
}

// configure configures a plugin. It returns a *[plan.ConfigurationError] if the plugin rejects the configuration.
func configure(ctx context.Context, started *plugin.Plugin, pkg string, configuration lumi.Bag) error {
	err := started.Configure(ctx, configuration)
	invalid, ok := errors.AsType[*lumi.InvalidError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("configuration of package %q: %w", pkg, err)
	}
	wrong := &plan.ConfigurationError{Package: pkg, Err: err}
	for _, f := range invalid.Faults {
		if top := wire.PathParts(string(f.Path)); len(top) > 0 && len(configuration.Object().Fields()) == 0 {
			wrong.Missing = append(wrong.Missing, top[0])
		}
	}
	return wrong
}

// tail is a writer that forwards all data and keeps the last 4 KiB.
type tail struct {
	to   io.Writer
	kept []byte
}

const maxTail = 4 << 10

// Write implements [io.Writer].
func (t *tail) Write(data []byte) (int, error) {
	t.kept = append(t.kept, data...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return t.to.Write(data)
}

// String returns the kept output. It must not be called before the process has exited.
func (t *tail) String() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "\uFFFD")
}
