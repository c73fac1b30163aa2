//go:build linux || darwin

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/deploy/store/postgres"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
	pg "github.com/lumi-idl/lumi/test/kit/postgres"
)

// fleet is a state in PostgreSQL and a cloud in a folder, which workers share. As JSON in workerVariable, it makes the test
// binary a worker.
type fleet struct {
	URL, Folder string
	Lease       time.Duration
}

const workerVariable = "LUMI_FLEET_WORKER"

// work runs deployments until the file "end" exists.
func (f *fleet) work() {
	ctx := context.Background()
	s, err := postgres.Open(ctx, f.URL, postgres.Options{})
	for ; err != nil; s, err = postgres.Open(ctx, f.URL, postgres.Options{}) { // the server restarts
		time.Sleep(50 * time.Millisecond)
	}
	var all sync.WaitGroup
	var busy sync.Map
	for !exists(filepath.Join(f.Folder, "end")) {
		_ = s.Read(ctx, func(tx store.Tx) error {
			ready, err := tx.Ready("", 0, 1000)
			for _, d := range ready {
				if _, isBusy := busy.LoadOrStore(d.Environment, true); isBusy {
					continue
				}
				all.Go(func() {
					defer busy.Delete(d.Environment)
					if _, err := f.engine(s, d.Environment).Work(ctx); err != nil {
						fmt.Println(err)
					}
				})
			}
			return err
		})
		time.Sleep(50 * time.Millisecond)
	}
	all.Wait()
}

func (f *fleet) engine(s store.Store, name string) *environment.Environment {
	p := lumi.NewNamedProvider("sim:index:Net", func() *thing { return new(thing) }, lumi.Ops[*thing](&tokenCloud{folder: f.Folder}))
	return environment.New(run.Options{
		Store: s, Environment: name, Providers: always(oneProvider{ResourceProvider: &p}), Lease: f.Lease, Poll: 20 * time.Millisecond,
		Backoff: time.Millisecond, Parallelism: 2,
	})
}

// oneProvider provides all types.
type oneProvider struct {
	provision.Providers
	lumi.ResourceProvider
}

func (o oneProvider) Provider(context.Context, tokens.Type, lumigl.Value) (lumi.ResourceProvider, string, error) {
	return o.ResourceProvider, "1.0.0", nil
}

// tokenCloud contains a file for each token, whose content is the URN.
type tokenCloud struct {
	things
	folder string
}

func (c *tokenCloud) IdempotentCreate() bool { return true }

func (c *tokenCloud) Create(_ context.Context, want *thingState) (lumi.ID, error) {
	time.Sleep(rand.N(50 * time.Millisecond))
	id := strings.ReplaceAll(want.Token, "/", "-")
	err := os.WriteFile(filepath.Join(c.folder, "things", id), []byte(want.URN), 0o600)
	time.Sleep(rand.N(50 * time.Millisecond))
	want.Properties.ARN = "arn-" + id
	return lumi.ID(id), err
}

// TestFleet lets four workers deploy to several environments while workers are killed and stopped, the server is
// restarted, connections are cut, and answers to commits are lost. Everything is created once and recorded once.
// LUMI_FAULTS=N multiplies the number of deployments.
func TestFleet(t *testing.T) {
	scale := 1
	if text := os.Getenv("LUMI_FAULTS"); text != "" {
		must.Get(fmt.Sscan(text, &scale))(t)
	}
	environments, modules, resources := 4, 2*scale, 100
	server := pg.Start(t)
	proxy := server.Proxy(t)
	url := server.URL()
	f := &fleet{URL: url, Folder: t.TempDir(), Lease: 2 * time.Second}
	must.Do(t, os.Mkdir(filepath.Join(f.Folder, "things"), 0o700))
	s := must.Get(postgres.Open(t.Context(), url, postgres.Options{}))(t)
	defer func() { must.Do(t, s.Close()) }()
	for i := range environments {
		f.queue(t, s, fmt.Sprint("env-", i), modules, resources)
	}

	f.URL = proxy.URL(url)
	workers := make([]*exec.Cmd, 4)
	for i := range workers {
		workers[i] = f.start(t)
	}
	faults := map[string]int{}
	for began := time.Now(); !isEmpty(t, s, environments); {
		if time.Since(began) > time.Duration(1+scale)*2*time.Minute {
			t.Fatalf("the deployments have not ended after %s", time.Since(began))
		}
		time.Sleep(rand.N(150 * time.Millisecond))
		w := rand.N(len(workers))
		fault := strings.Fields("kill kill kill kill cut cut cut drop drop drop drop stop fast immediate")[rand.N(14)]
		faults[fault]++
		switch fault {
		case "kill":
			must.Do(t, workers[w].Process.Kill())
			_ = workers[w].Wait()
			workers[w] = f.start(t)
		case "stop":
			must.Do(t, workers[w].Process.Signal(syscall.SIGSTOP))
			time.Sleep(f.Lease * 3 / 2)
			must.Do(t, workers[w].Process.Signal(syscall.SIGCONT))
		case "cut":
			proxy.Cut()
		case "drop":
			proxy.Drop.Store(int32(1 + rand.N(3)))
		default:
			server.Stop(t, fault)
			server.Restart(t)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(f.Folder, "end"), nil, 0o600))
	for _, w := range workers {
		must.Do(t, w.Wait())
	}
	t.Logf("%d creations with these faults: %v", environments*modules*resources, faults)
	f.check(t, s, environments, modules, resources)
}

// TestLacking lets two workers that lack a provisioner look for work. Each gives its reason once.
func TestLacking(t *testing.T) {
	s := memory.New()
	f := &fleet{Lease: time.Minute}
	f.queue(t, s, "dev", 1, 1)
	var all []*environment.Environment
	for _, owner := range []string{"a", "b"} {
		all = append(all, environment.New(run.Options{Store: s, Environment: "dev", Owner: owner, Provisioner: func(tokens.Type) (string, error) {
			return "", errors.New("there is none")
		}}))
	}
	for range 3 {
		for _, e := range all {
			if worked, err := e.Work(t.Context()); worked || err != nil {
				t.Fatalf("Work() = %t, %v, want false", worked, err)
			}
		}
	}
	var reasons []string
	for _, e := range must.Get(all[0].Log(t.Context(), must.Get(all[0].Status(t.Context()))(t)[0].ID))(t) {
		if e.Level == "warn" {
			reasons = append(reasons, e.Message)
		}
	}
	if got := strings.Join(reasons, "\n"); got != "a cannot run it: there is none\nb cannot run it: there is none" {
		t.Errorf("reasons:\n%s", got)
	}
}

// queue queues deployments of independent modules.
func (f *fleet) queue(t *testing.T, s store.Store, name string, modules, resources int) {
	t.Helper()
	must.Do(t, environment.Add(t.Context(), s, store.Environment{Name: name, Lineage: name}))
	e := f.engine(s, name)
	var ids []int64
	for m := range modules {
		var text []string
		for r := range resources {
			text = append(text, fmt.Sprintf(`"urn:lumi:%s::m%d:index::sim:index:Net::n%d": {"type": "sim:index:Net", "properties": {"name": "n%d-%d"}}`, name, m, r, m, r))
		}
		desired := must.Get(lumigl.ParseSnapshot(fmt.Sprintf(`{"package": "m%d", "resources": {%s}}`, m, strings.Join(text, ", "))))(t)
		planned := must.Get(e.Plan(t.Context(), run.Request{Desired: desired}))(t)
		for _, d := range must.Get(e.Queue(t.Context(), planned...))(t) {
			ids = append(ids, d.ID)
		}
	}
	must.Do(t, e.Release(t.Context(), ids))
}

func (f *fleet) start(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), must.Get(os.Executable())(t))
	c.Env = append(os.Environ(), workerVariable+"="+string(must.Get(json.Marshal(f))(t)))
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	must.Do(t, c.Start())
	return c
}

// isEmpty reports whether nothing is queued. It returns false if the server does not answer.
func isEmpty(t *testing.T, s store.Store, environments int) bool {
	n := 0
	err := s.Read(t.Context(), func(tx store.Tx) error {
		n = 0
		for i := range environments {
			rows, err := tx.Queue(fmt.Sprint("env-", i))
			if err != nil {
				return err
			}
			for _, d := range rows {
				if d.State == store.Failed || d.State == store.Ask {
					t.Errorf("%s of %s is %s: %s", d.Module, d.Environment, d.State, d.Message)
				}
			}
			n += len(rows)
		}
		return nil
	})
	return err == nil && n == 0 || t.Failed()
}

// check checks what has become of the deployments.
func (f *fleet) check(t *testing.T, s store.Store, environments, modules, resources int) {
	t.Helper()
	created := map[string]int{}
	for _, file := range must.Get(os.ReadDir(filepath.Join(f.Folder, "things")))(t) {
		created[string(must.Get(os.ReadFile(filepath.Join(f.Folder, "things", file.Name())))(t))]++
	}
	if want := environments * modules * resources; len(created) != want {
		t.Errorf("%d resources were created, want %d", len(created), want)
	}
	for u, n := range created {
		if n != 1 {
			t.Errorf("%s was created %d times", u, n)
		}
	}
	must.Do(t, s.Read(t.Context(), func(tx store.Tx) error {
		for i := range environments {
			name := fmt.Sprint("env-", i)
			done := map[string]int{}
			history, err := tx.History(name, 0, 1000)
			events, err2 := tx.Events(name, 0, 0, 1<<30)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			for _, e := range events {
				if e.State == store.Done && (e.URN != "" || e.Task == 0) {
					done[e.Name+" "+e.URN]++
				}
			}
			if want := modules * (resources + 1); len(done) != want || len(history) != modules {
				t.Errorf("%s has %d deployments and DONE events of %d steps and deployments, want %d and %d", name, len(history), len(done), modules, want)
			}
			for what, n := range done {
				if n != 1 {
					t.Errorf("%s: %d DONE events of %s, want 1", name, n, what)
				}
			}
			for _, d := range history {
				steps, err := tx.Steps(d.ID)
				if err != nil || len(steps) > 0 || d.State != store.Done {
					t.Errorf("%s of %s is %s with %d steps left (%v), want DONE and none", d.Module, name, d.State, len(steps), err)
				}
			}
			if g := must.Get(f.engine(s, name).Graph(t.Context()))(t); g.Count() != modules*resources {
				t.Errorf("%s has %d resources, want %d", name, g.Count(), modules*resources)
			}
		}
		return nil
	}))
}
