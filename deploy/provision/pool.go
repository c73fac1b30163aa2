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
	"google.golang.org/protobuf/proto"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// PoolOptions configure a [Pool].
type PoolOptions struct {
	// Command returns the command that starts a package's plugin. The error lists the places searched.
	Command func(pkg string) (plugin.Command, error)
	// ConfigureTime is the timeout for configuring a plugin. The default is a minute.
	ConfigureTime time.Duration
	// Events receives logs and progress of providers, concurrently for different plugins. If nil, the command's Events
	// is used.
	Events func(lumi.Event)
}

// Pool manages plugin processes: one per package, configuration, and folder, started on first use. If a process ends,
// the next call restarts it, up to 3 times within a minute. A Pool is safe for concurrent use.
type Pool struct {
	options PoolOptions
	// closing is done after Close was called.
	closing context.Context
	stop    context.CancelFunc

	mu        sync.Mutex
	processes map[string]*process // by package, folder, and configuration
}

// NewPool returns a pool without processes.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{options: o, processes: map[string]*process{}}
	p.closing, p.stop = context.WithCancel(context.Background())
	return p
}

// In returns providers whose plugins run in a folder, such as the folder of a program.
func (p *Pool) In(folder string) Providers { return located{p, folder} }

// located provides a pool's plugins, run in folder, or in the folder from Command if it is empty.
type located struct {
	*Pool
	folder string
}

// Provider implements [Providers], with plugins in the folder from Command. If ctx is done before a plugin has started,
// the process is stopped. Errors may contain secrets of the configuration, which [Caller] masks.
func (p *Pool) Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (lumi.ResourceProvider, string, error) {
	return located{p, ""}.Provider(ctx, t, configuration)
}

// Provider implements [Providers].
func (p located) Provider(ctx context.Context, t tokens.Type, configuration lumigl.Value) (lumi.ResourceProvider, string, error) {
	bag := bagOf(orEmpty(configuration))
	key, err := proto.MarshalOptions{Deterministic: true}.Marshal(bag.Struct())
	if err != nil {
		return nil, "", fmt.Errorf("configuration of package %q: %w", t.Package(), err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	running, err := p.process(t.Package(), string(key)).get(ctx, p, t.Package(), bag)
	if err != nil {
		return nil, "", err
	}
	provider, err := running.Resource(t)
	if err != nil {
		return nil, "", fmt.Errorf("%w: correct the type, or install a version other than %q", err, running.Version)
	}
	return provider, running.Version, nil
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

// Close stops all processes concurrently and returns an error for each unclean exit. Later calls of Provider fail.
func (p *Pool) Close() error {
	p.stop()
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.processes))
	p.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, one := range all {
		wg.Go(func() {
			one.mu.Lock() // waits for a start, which was canceled
			defer one.mu.Unlock()
			if one.plugin != nil {
				errs[i] = one.ended()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// IsUnavailable reports whether an error means that a call had no effect because the plugin could not be reached.
func IsUnavailable(err error) bool {
	e := (*plugin.Error)(nil)
	return errors.As(err, &e) && e.Code == codes.Unavailable
}

// Crash describes the end of a plugin process during a call.
type Crash = plugin.Crash

// CrashOf returns the crash that caused the error of a call, or the zero Crash.
func CrashOf(err error) Crash {
	if e := (*plugin.Error)(nil); errors.As(err, &e) {
		return e.Crash
	}
	return Crash{}
}

// A plugin is restarted at most maxRestarts times within restartTime.
const (
	maxRestarts = 3
	restartTime = time.Minute
)

// process is a plugin process with its configuration.
type process struct {
	mu       sync.Mutex     // held while the plugin starts
	plugin   *plugin.Plugin // nil before the first start
	wrote    *tail          // output of plugin
	restarts []time.Time
}

// get returns the running plugin, starting it if necessary.
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
		_ = one.ended() // Interrupted calls have reported it.
		one.restarts = append(one.restarts, time.Now())
	}
	one.plugin, one.wrote = started, wrote
	return started, nil
}

// ended stops the plugin if it is still running, and returns an error for an unclean exit.
func (one *process) ended() error {
	if err := one.plugin.Close(); err != nil {
		return fmt.Errorf("plugin for package %q: %w", one.plugin.Package, err)
	}
	return nil
}

// start starts and configures a plugin. After an error, no process remains.
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
	switch hasConfiguration := len(configuration.Struct().GetFields()) > 0; {
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

// configure configures a plugin. If the plugin rejects the configuration, the error is a *[plan.ConfigurationError].
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
		if top := wire.PathParts(string(f.Path)); len(top) > 0 && len(configuration.Struct().GetFields()) == 0 {
			wrong.Missing = append(wrong.Missing, top[0])
		}
	}
	return wrong
}

// tail forwards writes and keeps the last 4 KiB.
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

// String returns the kept output. Call it only after the process has ended.
func (t *tail) String() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "\uFFFD")
}
