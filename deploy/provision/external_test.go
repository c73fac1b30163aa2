package provision_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/sim"
)

// hostile is a misbehaving provisioner. Its value selects the misbehavior.
type hostile string

// serveHostile is the main function of the plugin. It logs the plugin's process ID first.
func serveHostile(what string) {
	fmt.Fprintln(os.Stderr, os.Getpid())
	name := "hostile"
	switch what {
	case "says hello":
		fmt.Println("hello")
		select {}
	case "ends":
		fmt.Fprintln(os.Stderr, "no license")
		os.Exit(3)
	case "is another":
		name = "other"
	case "is a provider":
		serve.Main(simPlugin(sim.New(sim.Options{Types: types})))
	}
	serve.MainProvisioner(name, "1.2", hostile(what))
}

func (h hostile) Plan(_ context.Context, c *provisioner.Change) (*provisioner.Plan, error) {
	switch h {
	case "plans nothing":
		return nil, nil
	case "tells":
		return &provisioner.Plan{Text: fmt.Sprint("it is ", c.New[0].Properties["password"].(provisioner.Secret).Value)}, nil
	}
	var order []string
	for _, r := range c.New {
		order = append(order, r.Key)
	}
	return &provisioner.Plan{Text: strings.Join(order, "\n"), Tasks: []string{"migrate"}}, nil
}

func (h hostile) Provision(ctx context.Context, c *provisioner.Change) (string, error) {
	fmt.Fprintln(os.Stderr, "in the call")
	switch h {
	case "hangs":
		select {}
	case "waits":
		<-ctx.Done()
		return "", errors.New("tofu: interrupted, the state is unlocked")
	case "waits and answers":
		<-ctx.Done()
		return "after all", nil
	case "exits":
		os.Exit(3)
	case "panics":
		panic("unexpected")
	case "tells":
		return "", fmt.Errorf("it is %s", c.New[0].Properties["password"].(provisioner.Secret).Value)
	case "long token":
		return strings.Repeat("x", lumirpc.MaxToken+1), nil
	case "busy":
		return "", &lumi.RetryError{Err: errors.New("locked"), After: time.Minute}
	}
	return rand.Text(), nil // a different token for each call
}

func (h hostile) Status(_ context.Context, token string) (*provisioner.Status, error) {
	fmt.Fprintln(os.Stderr, "in the call")
	s := &provisioner.Status{State: provisioner.Running}
	switch h {
	case "hangs":
		select {}
	case "exits":
		os.Exit(3)
	case "forgets":
		return nil, fmt.Errorf("run %s: %w", token, lumi.ErrNotFound)
	case "no status":
		return nil, nil
	case "unknown state":
		s.State = "finished"
	case "not UTF-8":
		s.Message = "caf\xe9"
	case "not JSON":
		s.Metadata = map[string]provisioner.Properties{"a": {"b": []any{make(chan int)}}}
	case "nothing":
		s.State, s.Metadata = provisioner.Done, map[string]provisioner.Properties{"a": nil, "b": {"c": nil, "d": provisioner.Secret{Value: 1}}}
	case "much":
		s.Message = strings.Repeat("\x1b[2J", 1<<18)
	}
	return s, nil
}

// external returns a hostile provisioner and its log. The test fails if the plugin's process outlives it.
func external(t *testing.T, what string) (*provision.External, *syncBuffer) {
	t.Helper()
	log := &syncBuffer{written: make(chan struct{}, 100)}
	t.Cleanup(func() {
		pid, err := strconv.Atoi(strings.Split(log.String(), "\n")[0])
		if err != nil || !isGone(pid) {
			t.Errorf("process %d of the plugin is still running (%v)", pid, err)
		}
	})
	role, limit := "provisioner", time.Duration(0)
	if what == "silent" {
		role, limit = what, time.Second
	}
	return &provision.External{Name: "hostile", Command: func(string) (plugin.Command, error) {
		env := append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")
		return plugin.Command{Path: os.Args[0], Args: []string{what}, Env: env, Log: log, StartTime: limit, Grace: 500 * time.Millisecond}, nil
	}}, log
}

func secretive() plan.Input {
	r := &graph.Resource{URN: "urn:lumi:dev::a:index::sim:index:Disk::d", Deployment: 1, Inputs: value(object{"password": secretOf("hunter2-hunter2")})}
	return plan.Input{Environment: "dev", Module: "a", New: []plan.Vertex{{Resource: r}}}
}

func TestExternalErrors(t *testing.T) {
	t.Parallel()
	self := os.Args[0]
	limit := errors.New("it took too long")
	for _, test := range []struct {
		what, call, want string
		reached          bool
	}{
		{"silent", "Provision", self + ": the plugin printed no port within 1s\nThe plugin wrote:\nPID", false},
		{"says hello", "Provision", self + `: the plugin's first line on standard output is not a port: "hello"` + "\nThe plugin wrote:\nPID", false},
		{"ends", "Provision", self + ": the plugin exited before it was ready: exit status 3\nThe plugin wrote:\nPID\nno license", false},
		{"is another", "Provision", self + ` is provisioner "other": rename it to lumi-provisioner-other`, false},
		{"is a provider", "Provision", self + `: the plugin is the provider of package "sim", not a provisioner: install it as lumi-resource-sim and put a provisioner in its place` + "\nThe plugin wrote:\nPID", false},
		{"hangs", "Provision", "it took too long", true},
		{"hangs", "Status", "it took too long", true},
		{"waits", "Provision", "it took too long: tofu: interrupted, the state is unlocked", true},
		{"waits and answers", "Provision", "", true},
		{"exits", "Provision", "the plugin is gone (exit status 3): error reading from server: EOF", true},
		{"exits", "Status", "the plugin is gone (exit status 3): error reading from server: EOF", true},
		{"panics", "Provision", "the provisioner panicked: unexpected", true},
		{"tells", "Provision", "it is (secret)", true},
		{"tells", "Plan", "", true},
		{"plans nothing", "Plan", "", true},
		{"long token", "Provision", "the provisioner returned a token of 65537 bytes: at most 65536 are allowed", true},
		{"busy", "Provision", "locked", true},
		{"forgets", "Status", "run token: no such resource", true},
		{"no status", "Status", "the provisioner returned neither a status nor an error", true},
		{"unknown state", "Status", `the provisioner returned a status that cannot be sent: invalid state "finished": it must be running, failed or done`, true},
		{"not UTF-8", "Status", "", true},
		{"not JSON", "Status", "the provisioner returned a status that cannot be sent: metadata of a: b[0]: json: unsupported type: chan int", true},
	} {
		t.Run(test.what+"/"+test.call, func(t *testing.T) {
			t.Parallel()
			e, log := external(t, test.what)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if strings.HasPrefix(test.what, "hangs") || strings.HasPrefix(test.what, "waits") {
				go func() {
					for !strings.Contains(log.String(), "in the call") {
						<-log.written
					}
					cancel(limit)
				}()
			}
			start := time.Now()
			err := call(ctx, e, test.call)
			got := ""
			if err != nil {
				pid, _, _ := strings.Cut(log.String(), "\n")
				got = strings.ReplaceAll(err.Error(), pid, "PID")
				// The error depends on how much of the call the peer has read.
				got = strings.Replace(got, "from server: connection reset by peer", "from server: EOF", 1)
			}
			if unreached := errors.As(err, new(*plan.UnreachedError)); got != test.want || err != nil && unreached == test.reached {
				t.Errorf("call error = %q (unreached: %t), want %q (unreached: %t)", got, unreached, test.want, !test.reached)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("call took %v, want at most 5s", took)
			}
			if test.what == "busy" && !errors.As(err, new(*lumi.RetryError)) || test.what == "forgets" && !errors.Is(err, lumi.ErrNotFound) {
				t.Errorf("call error has type %T, want a retry or not-found error", err)
			}
		})
	}
}

func call(ctx context.Context, e *provision.External, method string) error {
	var err error
	switch method {
	case "Plan":
		_, err = e.Plan(ctx, secretive())
	case "Provision":
		_, err = e.Provision(ctx, secretive())
	case "Status":
		_, err = e.Status(ctx, "token")
	}
	return err
}

func TestExternalValues(t *testing.T) {
	t.Parallel()
	e, _ := external(t, "tells")
	if d, err := e.Plan(t.Context(), secretive()); err != nil || d.Text != "it is (secret)" {
		t.Errorf("Plan().Text = %q, %v, want the secret masked", d.Text, err)
	}
	e, _ = external(t, "nothing")
	s, err := e.Status(t.Context(), "token")
	fatal(t, err)
	if want := value(object{"d": secretOf(1)}); !s.Metadata["a"].Equal(lumigl.ObjectOf()) || !s.Metadata["b"].Equal(want) || len(s.Metadata) != 2 {
		t.Errorf("Status().Metadata = %v, want an empty object for a and a secret for b", s.Metadata)
	}
	e, _ = external(t, "much")
	if s, err = e.Status(t.Context(), "token"); err != nil || s.State != plan.Running || len(s.Message) != 1<<20 {
		t.Errorf("Status() = state %s with a message of %d bytes, %v, want running with 1 MiB", s.State, len(s.Message), err)
	}
	e, _ = external(t, "well-behaved")
	one, err1 := e.Provision(t.Context(), secretive())
	two, err2 := e.Provision(t.Context(), secretive())
	if err1 != nil || err2 != nil || one == two || one == "" {
		t.Errorf("tokens of two Provision calls = %q, %q, errors %v, %v, want different tokens", one, two, err1, err2)
	}
}

func TestExternalOrder(t *testing.T) {
	t.Parallel()
	e, _ := external(t, "well-behaved")
	in := plan.Input{Environment: "dev", Module: "a"}
	for name, on := range map[string]string{"a": "b", "b": "c", "c": ""} {
		r := &graph.Resource{URN: urn.URN("urn:lumi:dev::a:index::sim:index:Disk::" + name), Deployment: 1}
		if on != "" {
			r.Dependencies = []urn.URN{urn.URN("urn:lumi:dev::a:index::sim:index:Disk::" + on)}
		}
		in.New = append(in.New, plan.Vertex{Resource: r})
	}
	d, err := e.Plan(t.Context(), in)
	want := "a:sim:index:Disk::c:1\na:sim:index:Disk::b:1\na:sim:index:Disk::a:1"
	if err != nil || d.Text != want || len(d.Tasks) != 1 || d.Tasks[0] != "migrate" {
		t.Errorf("Plan() = %+v, %v, want text %s and the task migrate", d, err, want)
	}
}

func TestExternalJSON(t *testing.T) {
	t.Parallel()
	limit := errors.New("it took too long")
	for _, test := range []struct{ path, script, call, want string }{
		{"/bin/sh", `echo '{"text": "do it"}'`, "Plan", ""},
		{"/bin/sh", `echo '{"token": "'$(printf %065537d 1)'"}'`, "Provision", "returned a token of 65537 bytes: must be at most 65536"},
		{"/bin/sh", `echo '{"error": {"code": "UNAVAILABLE", "message": "locked"}}'`, "Provision", "locked"},
		{"/bin/sh", `echo '{"error": {"code": "NOT_FOUND", "message": "no run"}}'`, "Status", "no run"},
		{"/bin/sh", `echo it is hunter2-hunter2 >&2; exit 3`, "Provision",
			"the provisioner exited without an answer: exit status 3\nThe plugin wrote:\nit is hunter2-hunter2"},
		{"/bin/sh", `cat >/dev/null; echo waiting >&2; sleep 60`, "Provision", "it took too long"},
		{"/bin/sh", `trap 'echo "{\"error\": {\"message\": \"unlocked\"}}"; exit' TERM; cat >/dev/null; sleep 60 & sleep 0.1; echo waiting >&2; wait`,
			"Provision", "it took too long: unlocked"},
		{"/nowhere/x", "", "Provision", "fork/exec /nowhere/x: no such file or directory"},
	} {
		t.Run(test.script, func(t *testing.T) {
			t.Parallel()
			log := &syncBuffer{written: make(chan struct{}, 100)}
			e := &provision.External{Name: "shell", Command: func(string) (plugin.Command, error) {
				return plugin.Command{Path: test.path, Args: []string{"-c", test.script}, JSON: true, Log: log}, nil
			}}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if strings.Contains(test.script, "waiting") {
				go func() {
					<-log.written
					cancel(limit)
				}()
			}
			err := call(ctx, e, test.call)
			if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
				t.Errorf("%s error = %v, want %q", test.call, err, test.want)
			}
			for _, is := range []struct{ got, want bool }{
				{errors.As(err, new(*plan.UnreachedError)), test.path != "/bin/sh"},
				{errors.As(err, new(*lumi.RetryError)), test.want == "locked"},
				{errors.Is(err, lumi.ErrNotFound), test.want == "no run"},
			} {
				if is.got != is.want {
					t.Errorf("%s error has type %T", test.call, err)
				}
			}
		})
	}
}

func TestExternalPluginRemoved(t *testing.T) {
	t.Parallel()
	e, _ := external(t, "well-behaved")
	path := filepath.Join(t.TempDir(), "lumi-provisioner-hostile")
	fatal(t, os.Link(os.Args[0], path))
	command := e.Command
	e.Command = func(name string) (plugin.Command, error) {
		c, err := command(name)
		c.Path = path
		return c, err
	}
	token, err := e.Provision(t.Context(), secretive())
	fatal(t, err)
	fatal(t, os.Remove(path))
	_, err = e.Status(t.Context(), token)
	if want := "fork/exec " + path + ": no such file or directory"; !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("Status after the plugin was removed: error %v, want %s", err, want)
	}
}
