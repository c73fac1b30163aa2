//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestRetryAfterFailure(t *testing.T) {
	s := newSite(t, data)
	file := filepath.Join(t.TempDir(), "folder", "conf")
	must.Do(t, os.WriteFile(filepath.Dir(file), nil, 0o600))
	all := func() resources {
		return resources{
			pet(1, provisioner.Properties{"length": 3.0}),
			resource("local:index:File::app/conf:1", provisioner.Properties{"filename": file, "content": "x"}, urnOf("random:index:Pet", "x")),
			resource("test:index:Data::after:1", nil, urnOf("local:index:File", "app/conf")),
		}
	}
	equal(t, s.fails(all()...), "open "+file+": not a directory\n"+
		"  in app/conf, a local:index:File, which is local_file.app_conf")
	equal(t, s.tofu("state", "list"), "random_pet.x\n")
	name := s.tofu("show", "-no-color")

	must.Do(t, os.Remove(filepath.Dir(file)))
	s.now = all() // the resources may exist
	s.deploy(all()...)
	if now := s.tofu("show", "-no-color"); !strings.Contains(now, strings.TrimSpace(name)) {
		t.Errorf("tofu show after the retry:\n%s\nwant the same pet:\n%s", now, name)
	}
	s.deploy()
}

func TestErrorAdvice(t *testing.T) {
	needTofu(t)
	for _, test := range []struct {
		settings string
		r        *provisioner.Resource
		want     string
	}{
		{"command: nowhere/tofu\n", pet(1, nil), `exec: "nowhere/tofu": stat nowhere/tofu: no such file or directory: install OpenTofu, or` +
			` set its path in opentofu.yaml, as command: PATH`},
		{"", resource("random:index:Dog::x:1", nil), `Invalid resource type: The provider hashicorp/random does not support resource type "random_dog".` + "\n" +
			`  for x (random:index:Dog): add its OpenTofu type to opentofu.yaml, as types: {"random:index:Dog": TYPE}`},
		{"", pet(1, provisioner.Properties{"legth": 1.0}), `Extraneous JSON object property: No argument or block type is named "legth".` +
			` Did you mean "length"?` + "\n  in x (random:index:Pet), which is random_pet.x in OpenTofu"},
		{"", resource("corp:net:Wall::x:1", nil), "Failed to query available provider packages: Could not retrieve the list of available versions for provider" +
			" hashicorp/corp: provider registry.opentofu.org/hashicorp/corp was not found in any of the search locations\n\n  - " +
			filepath.Join(tofuDir, "plugins") + "\n  for x (corp:net:Wall): add the provider's source to opentofu.yaml, as" +
			` providers: {corp: {source: OWNER/NAME}}, or the resource's type, as types: {"corp:net:Wall": TYPE}`},
	} {
		t.Run(test.want[:30], func(t *testing.T) {
			s := newSite(t, test.settings)
			equal(t, s.fails(test.r), test.want)
			_, err := s.Plan(s.Context(), change(nil, resources{test.r}))
			equal(t, fmt.Sprint(err), test.want)
		})
	}
}

// snapshot returns the contents of all files in the workspace, by path.
func (s *site) snapshot() map[string]string {
	s.Helper()
	files := map[string]string{}
	must.Do(s, filepath.WalkDir(s.workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}

func TestPlanReadOnly(t *testing.T) {
	s := newSite(t, data)
	site := urnOf("local:index:File", "made-by-lumi")
	made := provisioner.Reference{URN: site, Property: "path"}
	new := resources{pet(1, provisioner.Properties{"prefix": provisioner.Part{Of: provisioner.Reference{URN: site, Property: "names"}, Path: "[0].first"}}),
		resource("test:index:Data::d:1", provisioner.Properties{"input": provisioner.Interpolation{Parts: []any{"at ", made}}})}
	c := change(nil, new)
	c.Context = resources{resource("local:index:File::made-by-lumi:1", provisioner.Properties{"path": made, "names": "${not yet}"})}
	c.Context[0].Properties["names"] = provisioner.Reference{URN: site, Property: "names"}
	plan := must.Get(s.Plan(s.Context(), c))(t)
	equal(t, plan.Text, `  # random_pet.x will be created
  + resource "random_pet" "x" {
      + id        = (known after apply)
      + length    = 2
      + prefix    = (known after apply)
      + separator = "-"
    }

  # terraform_data.d will be created
  + resource "terraform_data" "d" {
      + id     = (known after apply)
      + input  = (known after apply)
      + output = (known after apply)
    }

Plan: 2 to add, 0 to change, 0 to destroy.
`)
	equal(t, len(s.snapshot()), 1) // opentofu.yaml
	equal(t, s.mustFail(c), "x: prefix: names of "+string(site)+" is not known")

	s.deploy(pet(1, nil))
	before := s.snapshot()
	plan = must.Get(s.Plan(s.Context(), change(s.now, resources{pet(2, provisioner.Properties{"length": 5.0})})))(t)
	if !strings.Contains(plan.Text, "\n      ~ length    = 2 -> 5 # forces replacement\n") {
		t.Errorf("plan does not replace the pet:\n%s", plan.Text)
	}
	equal(t, s.snapshot(), before)
}

func (s *site) mustFail(c *provisioner.Change) string {
	s.Helper()
	_, err := s.Provision(s.Context(), c)
	if err == nil {
		s.Fatal("Provision = nil, want an error")
	}
	return err.Error()
}

func TestSecrets(t *testing.T) {
	s := newSite(t, data+"providers: {random: {version: \"2.0.0\"}}\n")
	secret := provisioner.Secret{Value: "hunter2-${x}"}
	password := urnOf("random:index:String", "p")
	new := resources{
		resource("random:index:String::p:1", provisioner.Properties{"length": 20.0}),
		resource("test:index:Data::d:1", provisioner.Properties{"input": map[string]any{
			"s": secret, "pin": provisioner.Secret{Value: 8675309.0}, "port": 5309.0, "list": []any{"a", secret}, "json": provisioner.JSON{Value: []any{secret, provisioner.Reference{URN: password, Property: "length"}}},
			"both": provisioner.Secret{Value: provisioner.Interpolation{Parts: []any{"hunter2-and ", provisioner.Reference{URN: password, Property: "length"}}}},
		}}, password),
	}
	plan := must.Get(s.Plan(s.context(), change(nil, new)))(t)
	got := s.deploy(new...)
	configuration := must.Get(os.ReadFile(filepath.Join(s.folder("dev", "site"), configurationFile)))(t)
	token := must.Get(s.Provision(s.context(), change(s.now, new)))(t)
	log := must.Get(os.ReadFile(filepath.Join(s.folder("dev", "site"), outputFile)))(t)
	for what, text := range map[string]string{
		"the plan": plan.Text, "the configuration": string(configuration), "the progress": strings.Join(s.progress, "\n"), "the token": token, "the log": string(log),
	} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "8675309") {
			t.Errorf("%s contains a secret:\n%s", what, text)
		}
	}
	equal(t, got["site:test:index:Data::d:1"]["input"], map[string]any{
		"s": secret, "pin": provisioner.Secret{Value: 8675309.0}, "port": 5309.0, "list": []any{"a", secret}, "json": provisioner.Secret{Value: `["hunter2-${x}",20]`}, "both": provisioner.Secret{Value: "hunter2-and 20"},
	})
	for name, mode := range map[string]fs.FileMode{"": 0o700 | fs.ModeDir, configurationFile: 0o600, variablesFile: 0o600, outputFile: 0o600} {
		info, err := os.Stat(filepath.Join(s.folder("dev", "site"), name))
		if err != nil || info.Mode() != mode {
			t.Errorf("mode of %q = %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
	s.deploy()
}

func TestStateLocked(t *testing.T) {
	s := newSite(t, "")
	s.deploy(pet(1, nil))
	state := must.Get(os.OpenFile(filepath.Join(s.folder("dev", "site"), stateFile), os.O_RDWR, 0))(t)
	must.Do(t, syscall.FcntlFlock(state.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}))
	info := filepath.Join(s.folder("dev", "site"), ".terraform.tfstate.lock.info")
	must.Do(t, os.WriteFile(info, []byte(`{"ID": "1"}`), 0o600))
	p := s.start(resources{pet(2, provisioner.Properties{"length": 3.0})})
	p.await("waiting for the state lock, held by another tofu")
	must.Do(t, os.Remove(info))
	must.Do(t, state.Close())
	equal(t, <-p.ended, nil)
}

// hanging returns functions for a resource whose creation blocks. r creates the resource, pid waits for its creation and
// returns tofu's process id, and goOn lets the creation finish.
func hanging(t *testing.T) (r func() *provisioner.Resource, pid func() int, goOn func()) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for _, name := range []string{first, second} {
		must.Do(t, syscall.Mkfifo(name, 0o600))
	}
	r = func() *provisioner.Resource {
		return resource("null:index:Resource::slow:1", provisioner.Properties{"provisioner": []any{map[string]any{
			"local-exec": map[string]any{"command": "echo $PPID >" + first + "; cat " + second},
		}}}, urnOf("random:index:Pet", "x"))
	}
	pid = func() (pid int) {
		text, err := os.ReadFile(first)
		if err == nil {
			_, err = fmt.Sscan(string(text), &pid)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	return r, pid, func() {
		must.Do(t, os.WriteFile(second, []byte("go\n"), 0o600))
	}
}

// started is a call of Provision in flight in another process.
type started struct {
	*plugin.Provisioner
	ended chan error
	token string
	seen  chan string
	t     *testing.T
}

// await waits for a progress message.
func (p *started) await(want string) {
	p.t.Helper()
	for {
		select {
		case message := <-p.seen:
			if message == want {
				return
			}
		case err := <-p.ended:
			p.t.Fatalf("Provision returned before %q: %v", want, err)
		}
	}
}

func (s *site) start(new resources) *started {
	s.Helper()
	p := &started{ended: make(chan error, 1), seen: make(chan string, 100), t: s.T}
	p.Provisioner = must.Get(plugin.StartProvisioner(s.Context(), plugin.Command{
		Path: os.Args[0], Env: append(os.Environ(), pluginVariable+"=1"), Dir: s.workspace, Log: os.Stderr,
		Events: func(e lumi.Event) { p.seen <- e.Message },
	}))(s)
	s.Cleanup(func() { _ = p.Close() })
	go func() {
		var err error
		p.token, err = p.Provision(context.WithoutCancel(s.Context()), change(s.now, new))
		p.ended <- err
	}()
	return p
}

func TestTofuKilled(t *testing.T) {
	s := newSite(t, "")
	slow, pid, goOn := hanging(t)
	new := func() resources { return resources{pet(1, nil), slow()} }
	p := s.start(new())
	group := pid()
	must.Do(t, syscall.Kill(-group, syscall.SIGKILL))
	err := <-p.ended
	equal(t, fmt.Sprint(err), "tofu apply: signal: killed")
	s.now = new() // the resources may exist
	p = s.start(new())
	pid()
	goOn()
	equal(t, <-p.ended, nil)
	s.note(p.token, new())
	equal(t, s.tofu("state", "list"), "null_resource.slow\nrandom_pet.x\n")
}

func TestPluginClosed(t *testing.T) {
	s := newSite(t, "")
	slow, pid, goOn := hanging(t)
	new := func() resources { return resources{pet(1, nil), slow()} }
	p := s.start(new())
	group := pid()
	must.Do(t, p.Close())
	equal(t, fmt.Sprint(<-p.ended), "tofu apply was interrupted: the parent closed standard input")
	if err := syscall.Kill(group, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("tofu is still running after Close: kill(0) = %v, want %v", err, syscall.ESRCH)
	}
	equal(t, strings.Contains(s.tofu("state", "list"), "random_pet.x\n"), true)
	s.now = new()
	p = s.start(new())
	pid()
	goOn()
	equal(t, <-p.ended, nil)
}

// If the plugin is killed, its tofu continues, and the next tofu waits for it.
func TestPluginKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("requires /proc")
	}
	s := newSite(t, "")
	slow, pid, goOn := hanging(t)
	new := func() resources { return resources{pet(1, nil), slow()} }
	s.start(new())
	parent := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid())))(t)
	var plugin int
	must.Get(fmt.Sscan(strings.Fields(string(parent[strings.LastIndexByte(string(parent), ')'):]))[2], &plugin))(t)
	must.Do(t, syscall.Kill(plugin, syscall.SIGKILL))
	s.now = new()
	p := s.start(new())
	p.await("waiting for another tofu in .lumi/opentofu/dev/site to finish")
	goOn()
	equal(t, <-p.ended, nil)
	equal(t, s.tofu("state", "list"), "null_resource.slow\nrandom_pet.x\n")
}

// If an interrupted tofu does not exit in time, apply returns, and lock waits for the process.
func TestSlowInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second, command := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "tofu")
	script := "#!/bin/sh\ntrap '' INT\necho $$ >" + first + "\ncat " + second + "\n"
	must.Do(t, errors.Join(syscall.Mkfifo(first, 0o600), syscall.Mkfifo(second, 0o600), os.WriteFile(command, []byte(script), 0o700)))
	output := must.Get(lock(t.Context(), dir))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		tofu := &tofu{command: command, dir: dir, patience: time.Millisecond}
		err := tofu.apply(ctx, output)
		_ = output.Close()
		ended <- err
	}()
	pid := must.Get(os.ReadFile(first))(t)
	cancel()
	equal(t, fmt.Sprint(<-ended), "tofu apply was interrupted and is still running as process "+strings.TrimSpace(string(pid))+": context canceled")
	waiting := lumi.WithEvents(t.Context(), func(e lumi.Event) {
		equal(t, e.Message, "waiting for another tofu in "+dir+" to finish")
		if err := os.WriteFile(second, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	output = must.Get(lock(waiting, dir))(t)
	_ = output.Close()
}
