//go:build linux || darwin

package run_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/sqlite"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Environment variables that turn the test binary into a plugin, whose cloud is a folder, or into an executor with a
// job.
const (
	pluginVariable = "LUMI_CRASH_PLUGIN"
	jobVariable    = "LUMI_CRASH_JOB"
	ledgerVariable = "LUMI_CRASH_LEDGER" // makes the binary a provisioner
)

func TestMain(m *testing.M) {
	if cloud := os.Getenv(pluginVariable); cloud != "" {
		servePlugin(folder(cloud))
	}
	if os.Getenv(ledgerVariable) != "" {
		serve.MainProvisioner("ledger", "", ledger{})
	}
	if text := os.Getenv(jobVariable); text != "" {
		var j childJob
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			panic(err)
		}
		j.main()
		return
	}
	if text := os.Getenv(workerVariable); text != "" {
		var f fleet
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			panic(err)
		}
		f.work()
		return
	}
	os.Exit(m.Run())
}

// childJob is the job of an executor: to deploy a program in a folder and, optionally, to send itself a signal at a
// point.
type childJob struct {
	Folder  string
	Number  int64 // number of the deployment
	Lease   time.Duration
	Timeout time.Duration

	Provisioners []provisionerPlugin

	Abort bool // abort failed deployments instead of retrying

	At     int    // 1-based number of the point
	Before string // or the call that follows the point, such as "Create a"
	Signal syscall.Signal
	Group  bool // plugins also receive the signal

	hook func() // called in this process instead of sending a signal
	key  *secret.Key
	live func(store.Event)
	dead bool // whether all other executors are known to have exited

	points  atomic.Int32
	writing sync.Mutex // held during transactions, so that a stopped process has no open one
}

func (j *childJob) cloud() folder { return folder(filepath.Join(j.Folder, "cloud")) }

func (j *childJob) db() string { return filepath.Join(j.Folder, "db", "state.db") }

func (j *childJob) open(ctx context.Context) (*sqlite.Store, error) {
	return sqlite.Open(ctx, j.db(), sqlite.Options{})
}

// main runs the job and prints the number of points and the outcome.
func (j *childJob) main() {
	inherited, err := syscall.Open(j.cloud().path("alive"), syscall.O_RDWR|syscall.O_CREAT, 0o600) // inherited by all plugins
	if err == nil {
		err = syscall.Flock(inherited, syscall.LOCK_SH)
	}
	if err != nil {
		panic(err)
	}
	d, err := j.deploy(context.Background())
	fmt.Println(j.points.Load())
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(d.State, d.Message)
}

// deploy deploys the program, with a store and plugins of its own.
func (j *childJob) deploy(ctx context.Context) (d store.Job, err error) {
	s, err := j.open(ctx)
	if err != nil {
		return d, err
	}
	defer s.Close()
	pool := j.pool()
	defer pool.Close()
	return j.drive(ctx, j.engine(watchedStore{s, j}, watchedProviders{pool, j}))
}

func (j *childJob) pool() *provision.Pool {
	return provision.NewPool(provision.PoolOptions{
		Command: func(string) (plugin.Command, error) {
			self, err := os.Executable()
			env := append(os.Environ(), pluginVariable+"="+string(j.cloud()), "GORACE=atexit_sleep_ms=0")
			return plugin.Command{Path: self, Env: env, Log: io.Discard}, err
		},
	})
}

func (j *childJob) engine(s store.Store, p provision.Providers) *environment.Environment {
	o := run.Options{
		Store: s, Environment: "dev", Providers: always(p), Lease: cmp.Or(j.Lease, time.Hour), Timeout: cmp.Or(j.Timeout, time.Minute),
		Backoff: time.Millisecond, Poll: 5 * time.Millisecond, Key: j.key, Events: j.live,
	}
	if len(j.Provisioners) > 0 {
		o.Provisioners, o.Provisioner = j.provisioners(), j.provisionerOf
	}
	if j.dead {
		o.IsDead = func(string) bool { return true }
	}
	return environment.New(o)
}

// drive runs the deployment until it has ended, whichever process started it. It retries or aborts a failed deployment
// once. If the deployment needs an answer, drive returns it.
func (j *childJob) drive(ctx context.Context, e *environment.Environment) (d store.Job, err error) {
	if d, err = j.find(ctx, e); err != nil {
		return d, err
	}
	if d, err = e.Run(ctx, d.ID); err != nil || d.State != store.Failed {
		return d, err
	}
	again := e.Retry
	if j.Abort {
		again = e.Abort
	}
	if err := again(ctx, d.ID); err != nil {
		return d, err
	}
	return e.Run(ctx, d.ID)
}

// find returns the deployment. If it does not exist, find plans and queues it.
func (j *childJob) find(ctx context.Context, e *environment.Environment) (found store.Job, err error) {
	err = e.Store.Read(ctx, func(tx store.Tx) error {
		rows, err := tx.Queue("dev")
		if err != nil {
			return err
		}
		ended, err := tx.History("dev", 0, 100)
		for _, d := range append(rows, ended...) {
			if d.Number == j.Number {
				found = d
			}
		}
		return err
	})
	if err != nil || found.ID != 0 {
		return found, err
	}
	r, err := j.request()
	if err != nil {
		return found, err
	}
	p, err := planOne(ctx, e, r)
	if err != nil {
		return found, err
	}
	return queueOne(ctx, e, p)
}

// program returns the path of the LumiGL program. If the file is empty, the module is destroyed.
func (j *childJob) program() string {
	return filepath.Join(j.Folder, fmt.Sprintf("program-%d", j.Number))
}

func (j *childJob) request() (run.Request, error) {
	text, err := os.ReadFile(j.program())
	if err != nil {
		return run.Request{}, err
	}
	if len(text) == 0 {
		return run.Request{Destroy: "a"}, nil
	}
	desired, err := lumigl.ParseSnapshot(string(text))
	return run.Request{Desired: desired}, err
}

// point counts the points at which a process can end and sends the signal at the selected one.
func (j *childJob) point(before string) {
	if j.points.Add(1) != int32(j.At) && (before == "" || before != j.Before) {
		return
	}
	if j.hook != nil {
		j.hook()
		return
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	pid := os.Getpid()
	if j.Group {
		pid = 0
	}
	if err := syscall.Kill(pid, j.Signal); err != nil {
		panic(err)
	}
	<-continued // Other threads may continue to run for a while.
}

// watchedStore is a store with a point before and after each transaction.
type watchedStore struct {
	store.Store
	job *childJob
}

func (w watchedStore) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	w.job.point("")
	defer w.job.point("")
	w.job.writing.Lock()
	defer w.job.writing.Unlock()
	return w.Store.Write(ctx, environment, f)
}

// watchedProviders are providers with a point before and after each call of Find and each call that makes changes.
type watchedProviders struct {
	provision.Providers
	job *childJob
}

func (w watchedProviders) Provider(
	ctx context.Context, t tokens.Type, configuration lumigl.Value,
) (lumi.ResourceProvider, string, error) {
	p, version, err := w.Providers.Provider(ctx, t, configuration)
	return watchedProvider{p, w.job}, version, err
}

type watchedProvider struct {
	lumi.ResourceProvider
	job *childJob
}

func (w watchedProvider) Create(ctx context.Context, r *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	w.job.point("Create " + r.URN.Name())
	defer w.job.point("")
	return w.ResourceProvider.Create(ctx, r)
}

func (w watchedProvider) Update(ctx context.Context, r *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	w.job.point("Update " + r.URN.Name())
	defer w.job.point("")
	return w.ResourceProvider.Update(ctx, r)
}

func (w watchedProvider) Delete(ctx context.Context, r *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	w.job.point("Delete " + r.URN.Name())
	defer w.job.point("")
	return w.ResourceProvider.Delete(ctx, r)
}
