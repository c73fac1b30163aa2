//go:build linux || darwin

package run_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// thing is a resource of the plugin. The plugin's cloud is a folder with a file for each resource, named after its ID.
type thing struct {
	Name                          string
	Size                          *float64
	Zone, Fail, Password, At, Key *string
	On                            *[]urn.URN
	ARN                           string
}

// Lumi implements [lumi.Object].
func (t *thing) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &t.Name, lumi.String, lumi.Replaces)
	lumi.Optional(p, "size", &t.Size, lumi.Number)
	lumi.Optional(p, "zone", &t.Zone, lumi.String, lumi.Replaces)
	lumi.Optional(p, "fail", &t.Fail, lumi.String)
	lumi.Optional(p, "password", &t.Password, lumi.String, lumi.Secret)
	lumi.Optional(p, "at", &t.At, lumi.String)
	lumi.Optional(p, "on", &t.On, lumi.List(lumi.AnyResource))
	lumi.Required(p, "arn", &t.ARN, lumi.String, lumi.Out)
	lumi.Optional(p, "key", &t.Key, lumi.String, lumi.Out, lumi.Secret)
}

type thingState = lumi.State[*thing]

// record is the content of a resource's file.
type record struct {
	Kind, Token string
	Thing       *thing
}

// folder is a cloud. It contains a file for each resource and the file "calls", which lists the received calls that
// make changes, one per line. The file "trap" contains the number of a call and an event to trigger in it.
type folder string

func (f folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// lock locks a file, waiting if necessary. The lock is held until the file is closed.
func lock(path string, how int) *os.File {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(file.Fd()), how)
	}
	if err != nil {
		panic(err)
	}
	return file
}

// received records a call. It returns the event to trigger in the call.
func (f folder) received(op string, u urn.URN) string {
	file := lock(f.path("calls"), syscall.LOCK_EX)
	defer file.Close()
	before, err := os.ReadFile(f.path("calls"))
	if err != nil {
		panic(err)
	}
	if _, err := file.WriteAt(fmt.Appendf(nil, "%s %s/%s\n", op, u.Type().Name(), u.Name()), int64(len(before))); err != nil {
		panic(err)
	}
	var at int
	var what string
	trap, _ := os.ReadFile(f.path("trap"))
	if _, err := fmt.Sscan(string(trap), &at, &what); err == nil && at == bytes.Count(before, []byte("\n"))+1 {
		return what
	}
	return ""
}

// change records a call and makes its change.
func (f folder) change(ctx context.Context, op string, u urn.URN, effect func() error) error {
	what := f.received(op, u)
	switch what {
	case "die-before":
		kill(os.Getpid(), syscall.SIGKILL)
	case "orphan": // The executor is killed, but the call takes effect.
		kill(os.Getppid(), syscall.SIGKILL)
		<-ctx.Done()
	case "stop": // The executor is stopped before the call takes effect.
		kill(os.Getppid(), syscall.SIGSTOP)
		f.await("go")
	case "wait":
		f.await("go")
	case "hang":
		<-ctx.Done()
		if err := os.WriteFile(f.path("canceled"), nil, 0o600); err != nil {
			return err
		}
		return ctx.Err()
	}
	file := lock(f.path("lock"), syscall.LOCK_EX)
	defer file.Close()
	err := effect()
	if what == "die-after" {
		kill(os.Getpid(), syscall.SIGKILL)
	}
	return err
}

// await waits until the test creates a file.
func (f folder) await(name string) {
	for !exists(f.path(name)) {
		time.Sleep(time.Millisecond)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// kill sends a signal to this process or its parent and waits until it takes effect.
func kill(pid int, signal syscall.Signal) {
	if err := syscall.Kill(pid, signal); err != nil {
		panic(err)
	}
	if pid == os.Getpid() && signal == syscall.SIGKILL {
		select {}
	}
}

func (f folder) put(id lumi.ID, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.path("new"), data, 0o600); err != nil {
		return err
	}
	return os.Rename(f.path("new"), f.path("things", string(id)))
}

func (f folder) all() (map[lumi.ID]record, error) {
	entries, err := os.ReadDir(f.path("things"))
	all := map[lumi.ID]record{}
	for _, e := range entries {
		var r record
		data, err := os.ReadFile(f.path("things", e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, err
		}
		all[lumi.ID(e.Name())] = r
	}
	return all, err
}

// things is the provider of a resource type.
type things struct {
	folder
	kind string
}

func (s *things) IdempotentCreate() bool { return s.kind == "Net" }

func (s *things) Check(context.Context, *thingState) error { return nil }

func (s *things) Create(ctx context.Context, want *thingState) (id lumi.ID, err error) {
	t := want.Properties
	err = s.change(ctx, "Create", want.URN, func() error {
		if s.IdempotentCreate() {
			if id, err = s.find(want); !errors.Is(err, lumi.ErrNotFound) {
				t.ARN = "arn-" + t.Name
				return err
			}
		}
		if t.Fail != nil && *t.Fail == "once" {
			file, err := os.OpenFile(s.path("failed-"+t.Name), os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				return cmp.Or(file.Close(), errors.New("the cloud is tired"))
			}
		}
		if t.Fail != nil && *t.Fail == "always" {
			return errors.New("the cloud is closed")
		}
		if t.Fail != nil && *t.Fail == "quote" {
			return fmt.Errorf("the cloud does not like %s, that is %q", *t.Password, *t.Password)
		}
		id, t.ARN = lumi.ID(t.Name+"@"+rand.Text()), "arn-"+t.Name
		if t.Password != nil {
			key := "key-of-" + *t.Password
			t.Key = &key
		}
		return s.put(id, record{s.kind, want.Token, t})
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

func (s *things) find(want *thingState) (lumi.ID, error) {
	all, err := s.all()
	for id, r := range all {
		if r.Kind == s.kind && r.Token == want.Token {
			return id, nil
		}
	}
	return "", cmp.Or(err, lumi.ErrNotFound)
}

func (s *things) Get(_ context.Context, id lumi.ID, _ *thingState) (*thing, error) {
	all, err := s.all()
	if r, ok := all[id]; ok {
		return r.Thing, nil
	}
	return nil, cmp.Or(err, lumi.ErrNotFound)
}

func (s *things) Update(ctx context.Context, old, want *thingState, _ *lumi.Diff) error {
	return s.change(ctx, "Update", want.URN, func() error {
		all, err := s.all()
		r, ok := all[old.ID]
		if !ok {
			return cmp.Or(err, lumi.ErrNotFound)
		}
		r.Thing = want.Properties
		return s.put(old.ID, r)
	})
}

func (s *things) Delete(ctx context.Context, old *thingState) error {
	return s.change(ctx, "Delete", old.URN, func() error {
		err := os.Remove(s.path("things", string(old.ID)))
		if errors.Is(err, fs.ErrNotExist) {
			return lumi.ErrNotFound
		}
		return err
	})
}

// findable is the provider of a type that implements Find.
type findable struct{ things }

func (s *findable) Find(_ context.Context, want *thingState) (lumi.ID, error) { return s.find(want) }

// servePlugin is the main function of the plugin. It holds a lock as long as it runs.
func servePlugin(f folder) {
	defer lock(f.path("alive"), syscall.LOCK_SH).Close()
	provide := func(kind string, ops lumi.Ops[*thing]) (tokens.Type, lumi.ResourceProvider) {
		token := tokens.Type("sim:index:" + kind)
		p := lumi.NewNamedProvider(token, func() *thing { return new(thing) }, ops)
		return token, &p
	}
	resources := map[tokens.Type]lumi.ResourceProvider{}
	for _, kind := range []string{"Net", "Key"} {
		token, p := provide(kind, &things{f, kind})
		resources[token] = p
	}
	token, p := provide("Disk", &findable{things{f, "Disk"}})
	resources[token] = p
	serve.Main(serve.Plugin{
		Package: "sim", Resources: resources,
		Functions: map[tokens.Type]lumi.Function{"sim:index:Image": lumi.NewFunction("sim:index:Image", func() *image { return new(image) }, findImage)},
		Configure: serve.Configure(func(context.Context, *credentials) error { return nil }),
	})
}

// credentials is the configuration of the provider.
type credentials struct{ Login *string }

// Lumi implements [lumi.Object].
func (c *credentials) Lumi(p *lumi.Props) {
	lumi.Optional(p, "login", &c.Login, lumi.String, lumi.Secret)
}
