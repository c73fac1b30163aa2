package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/sim"
)

const modelEnvironment = "test"

var modelKey = secret.NewKey()

// modelWorld is an environment with its cloud and the processes that deploy to it.
type modelWorld struct {
	context.Context
	cloud *sim.Cloud
	store store.Store
	log   func(format string, args ...any)

	mu        sync.Mutex
	processes []*modelProcess
	// dead holds the owners that are known to have exited.
	dead map[string]bool
}

// modelCrash is the end of a process before or after a transaction or a call.
type modelCrash struct {
	At  int // number of the point, or 0 for none
	How modelDeath
}

type modelDeath int

const (
	killed    modelDeath = iota // its calls end; other processes know that it exited
	lost                        // its calls end; other processes do not know that it exited
	cutOff                      // its calls continue; other processes do not know that it exited
	suspended                   // it continues after a while
	unsure                      // it continues, but does not know whether a transaction was committed
)

var modelDeaths = []string{"is killed", "is lost", "is cut off", "is suspended", "gets no answer"}

var errDead = errors.New("the process is dead")

// modelProcess is a process with an engine. It also implements the engine's store and providers.
type modelProcess struct {
	context.Context
	store.Store
	world  *modelWorld
	name   string
	engine *environment.Environment
	crash  modelCrash
	points atomic.Int64
	reads  atomic.Int64
	died   chan struct{}
	end    context.CancelFunc
}

func (w *modelWorld) start() *modelProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &modelProcess{Store: w.store, world: w, name: fmt.Sprint("process ", len(w.processes)+1), died: make(chan struct{})}
	p.Context, p.end = context.WithCancel(w.Context)
	p.engine = environment.New(run.Options{
		Store: p, Environment: modelEnvironment, Key: modelKey, Providers: always(p), Owner: p.name, IsDead: w.isDead, Events: p.event,
		Timeout: 40 * time.Second, Lease: 30 * time.Second, Retries: 3, Poll: 5 * time.Second,
	})
	w.processes = append(w.processes, p)
	return p
}

// dieAt schedules the end of a process that is not running deployments yet.
func (p *modelProcess) dieAt(c modelCrash) {
	if p.crash = c; c.At > 0 {
		p.crash.At += int(p.points.Load())
	}
}

func (w *modelWorld) isDead(owner string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead[owner]
}

func (p *modelProcess) event(e store.Event) {
	text := fmt.Sprint(e.Name, " ", e.State)
	if e.URN != "" {
		text = fmt.Sprintf("%s %s %s %s: %s", e.Name, e.Kind, shortURN(e.URN), e.ID, e.State)
	}
	p.logf("%s %s", text, e.Message)
}

func shortURN(u string) string { return u[strings.LastIndex(u, ":")+1:] }

func (p *modelProcess) logf(format string, args ...any) {
	p.world.log("%s: "+format, append([]any{p.name}, args...)...)
}

func (p *modelProcess) isDead() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

// point is called wherever the process may end. It returns an error if the process has ended.
func (p *modelProcess) point(where string) error {
	switch n := p.points.Add(1); {
	case p.isDead():
		return errDead
	case n != int64(p.crash.At):
		return nil
	}
	p.logf("%s %s", modelDeaths[p.crash.How], where)
	if p.crash.How == unsure {
		if !strings.HasSuffix(where, " a transaction") {
			return nil
		}
		return store.ErrUncertain
	}
	if p.crash.How == suspended {
		time.Sleep(2 * time.Minute)
		p.logf("continues")
		return nil
	}
	if p.crash.How == killed {
		p.world.mu.Lock()
		p.world.dead[p.name] = true
		p.world.mu.Unlock()
	}
	close(p.died)
	p.end()
	return errDead
}

// Read implements [store.Store]. Every other time, it runs f twice, and others can write in between.
func (p *modelProcess) Read(ctx context.Context, f func(store.Tx) error) error {
	if p.isDead() {
		return errDead
	}
	if p.reads.Add(1)%2 == 0 {
		_ = p.Store.Read(ctx, f)
		time.Sleep(time.Millisecond)
	}
	return p.Store.Read(ctx, f)
}

// errAgain rolls back the first execution of a transaction.
var errAgain = errors.New("again")

// Write implements [store.Store]. It runs f twice.
func (p *modelProcess) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	if err := p.point("before a transaction"); err != nil {
		return err
	}
	_ = p.Store.Write(ctx, environment, func(tx store.Tx) error { // as in a store in which the commit conflicts with another writer
		_ = f(tx)
		return errAgain
	})
	err := p.Store.Write(ctx, environment, f)
	if dead := p.point("after a transaction"); dead != nil {
		return dead
	}
	return err
}

// Provider implements [provision.Providers].
func (p *modelProcess) Provider(_ context.Context, t tokens.Type, _ lumigl.Value) (lumi.ResourceProvider, string, error) {
	if t == echoType {
		return echo{process: p}, "1.0.0", nil
	}
	return &modelProvider{p.world.cloud.Provider(t), p}, "1.0.0", nil
}

// echoType is a function that returns its argument.
const echoType tokens.Type = "sim:index:Echo"

// echo is the provider of echoType.
type echo struct {
	lumi.ResourceProvider
	process *modelProcess
}

// Describe implements [lumi.ResourceProvider] and [lumi.Function].
func (echo) Describe(context.Context) (*lumi.Description, error) {
	return &lumi.Description{Type: echoType, Function: true, Properties: []lumi.Property{
		{Name: "of", Kind: lumi.KindString}, {Name: "value", Kind: lumi.KindString, Flags: lumi.Out | lumi.Secret},
	}}, nil
}

// Call implements [lumi.Function].
func (f echo) Call(ctx context.Context, r *lumi.CallRequest) (*lumi.CallResponse, error) {
	return modelCall(ctx, f.process, "Call", r, func(_ context.Context, r *lumi.CallRequest) (*lumi.CallResponse, error) {
		value := r.Arguments.Struct().GetFields()["of"]
		if s := value.GetStructValue(); s != nil { // a secret
			value = s.GetFields()["value"]
		}
		return &lumi.CallResponse{Results: lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{"value": lumi.NewSecret(value)}})}, nil
	})
}

// modelProvider is a provider that makes the calls of a process.
type modelProvider struct {
	lumi.ResourceProvider
	process *modelProcess
}

func modelCall[Req, Res any](ctx context.Context, p *modelProcess, name string, r *Req, call func(context.Context, *Req) (*Res, error)) (*Res, error) {
	wasDead := p.isDead()
	if err := p.point("before " + name); err != nil && (wasDead || p.crash.How != cutOff) {
		return nil, err
	}
	// Calls of a cut-off process continue until their deadline.
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, ok := ctx.Deadline(); ok {
		detached, cancel = context.WithDeadline(detached, deadline)
	}
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if !p.isDead() || p.crash.How != cutOff {
			cancel()
		}
	})()
	res, err := call(detached, r)
	if dead := p.point("after " + name); dead != nil {
		return nil, dead
	}
	return res, err
}

// Create implements [lumi.ResourceProvider].
func (p *modelProvider) Create(ctx context.Context, r *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	return modelCall(ctx, p.process, "Create of "+r.URN.Name(), r, p.ResourceProvider.Create)
}

// Update implements [lumi.ResourceProvider].
func (p *modelProvider) Update(ctx context.Context, r *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	return modelCall(ctx, p.process, "Update of "+r.URN.Name(), r, p.ResourceProvider.Update)
}

// Delete implements [lumi.ResourceProvider].
func (p *modelProvider) Delete(ctx context.Context, r *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	return modelCall(ctx, p.process, "Delete of "+r.URN.Name(), r, p.ResourceProvider.Delete)
}

// Find implements [lumi.ResourceProvider].
func (p *modelProvider) Find(ctx context.Context, r *lumi.FindRequest) (*lumi.FindResponse, error) {
	return modelCall(ctx, p.process, "Find of "+r.URN.Name(), r, p.ResourceProvider.Find)
}

// Get implements [lumi.ResourceProvider].
func (p *modelProvider) Get(ctx context.Context, r *lumi.GetRequest) (*lumi.GetResponse, error) {
	return modelCall(ctx, p.process, "Get of "+string(r.ID), r, p.ResourceProvider.Get)
}

// modelFailure is a failure found by the model. Failures of the same kind have the same class, so that rapid can shrink
// cases.
type modelFailure struct{ class, detail string }

func (w *modelWorld) fail(class, format string, args ...any) {
	panic(modelFailure{class, fmt.Sprintf(format, args...)})
}

func (w *modelWorld) must(err error) {
	if err != nil {
		w.fail("an error", "%v", err)
	}
}

// run runs the deployments in all processes and waits for the surviving ones.
func (w *modelWorld) run(ids []int64, processes ...*modelProcess) {
	var ended []chan struct{}
	for _, p := range processes {
		for _, id := range ids {
			done := make(chan struct{})
			time.Sleep(10 * time.Microsecond) // makes the order independent of the scheduler
			go func() {
				defer close(done)
				d, err := p.engine.Run(p, id)
				p.logf("ran %d: %s %s %v", id, d.State, d.Message, err)
			}()
			ended = append(ended, done)
		}
	}
	for i, done := range ended {
		p := processes[i/len(ids)]
		select {
		case <-done:
		case <-p.died:
		case <-time.After(2 * time.Hour):
			w.fail("Run does not return", "%s", p.name)
		}
	}
}

// deployments returns the deployments with the given IDs, or the queue if there are no IDs.
func (w *modelWorld) deployments(ids ...int64) (all []store.Job) {
	w.must(w.store.Read(w, func(tx store.Tx) (err error) {
		if len(ids) == 0 {
			all, err = tx.Queue(modelEnvironment)
		}
		for _, id := range ids {
			d, err := tx.Job(id)
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		return err
	}))
	return all
}

// answer answers a deployment's questions about creations. It reports whether there were any.
func (w *modelWorld) answer(p *modelProcess, d store.Job) bool {
	var steps []store.Step
	w.must(w.store.Read(w, func(tx store.Tx) (err error) {
		steps, err = tx.Steps(d.ID)
		return err
	}))
	answered := false
	for _, s := range steps {
		if s.State != store.Unknown || urn.URN(s.URN).Type() != modelTypes[modelDisk].Token {
			continue
		}
		id := ""
		if i := slices.IndexFunc(w.cloud.Resources(), func(r sim.Resource) bool { return r.Token == s.Token }); i >= 0 {
			id = string(w.cloud.Resources()[i].ID)
		}
		w.log("%s asks about %s: it is %q", d.Module, shortURN(s.URN), id)
		if err := p.engine.Resolve(w, d.ID, urn.URN(s.URN), id); err != nil {
			w.log("Resolve: %v", err)
		}
		answered = true
	}
	return answered
}
