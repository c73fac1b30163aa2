package providertest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// process is a process of the plugin and its output.
type process struct {
	*plugin.Provisioner
	log, events bytes.Buffer
}

// start starts a process of the plugin, or ends the test if it cannot. grace, if not 0, overrides the command's grace period.
func (k *provisionerTest) start(grace time.Duration) *process {
	k.Helper()
	p, c := &process{}, k.Command
	if c.Env == nil {
		c.Env = os.Environ()
	}
	if c.Log == nil {
		c.Log = os.Stderr
	}
	c.Env, c.Log, c.Grace = append(slices.Clip(c.Env), k.mark), io.MultiWriter(&p.log, c.Log), cmp.Or(grace, c.Grace)
	c.Raw = true
	c.Events = func(e lumi.Event) { p.events.WriteString(e.Message + "\n") }
	ctx, cancel := context.WithTimeout(k.Context(), k.Patience)
	defer cancel()
	var err error
	if p.Provisioner, err = plugin.StartProvisioner(ctx, c); err != nil {
		k.fatal("process", "cannot start the plugin: %v", err)
	}
	base := strings.TrimSuffix(filepath.Base(c.Path), ".exe")
	if want := lumirpc.ProvisionerPrefix + p.Name; base != want && !c.JSON {
		_ = p.Close() // The test fails anyway.
		k.fatal("name", "the handshake name is %q, so the executable must be named %s, not %s", p.Name, want, base)
	}
	return p
}

// end stops a process and checks its output for secrets. It returns an error if the process does not exit cleanly, unless it
// has already exited.
func (k *provisionerTest) end(p *process) error {
	var gone bool
	select {
	case <-p.Done():
		gone = true // It caused the call to fail, which is already reported.
	default:
	}
	err := p.Close()
	k.keep("the log", p.log.String())
	k.keep("an event", p.events.String())
	if gone {
		return nil
	}
	return err
}

// call calls f with a new process and returns its error. It retries f with another process after a *[lumi.RetryError].
// method is the name of the calls in failures.
func (k *provisionerTest) call(method string, f func(context.Context, *plugin.Provisioner) error) error {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), k.Patience)
	defer cancel()
	for {
		err := k.once(method, func(p *plugin.Provisioner) error { return f(ctx, p) })
		if err != nil {
			k.keep("an error of "+method, err.Error())
		}
		var retry *lumi.RetryError
		if !errors.As(err, &retry) || ctx.Err() != nil {
			return err
		}
		pause(ctx, retry.After)
	}
}

func (k *provisionerTest) once(method string, f func(*plugin.Provisioner) error) error {
	k.Helper()
	p := k.start(0)
	defer p.Close() //nolint:errcheck // It is needed only if f ends the test.
	err := f(p.Provisioner)
	if err := k.end(p); err != nil {
		k.fail("process", "stopped after %s: %v", method, err)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(max(d, 20*time.Millisecond)):
	}
}

func (k *provisionerTest) plan(c *provisioner.Change) []string {
	k.Helper()
	plan := &provisioner.Plan{}
	err := k.call("Plan", func(ctx context.Context, p *plugin.Provisioner) (err error) {
		plan, err = p.Plan(ctx, c)
		return err
	})
	if err != nil {
		k.fatal("plan", "Plan failed: %v", err)
	}
	k.keep("the plan", plan.Text+"\n"+strings.Join(plan.Tasks, "\n"))
	return plan.Tasks
}

// settle makes a change and waits until it is done. It returns the token and the final status. If the change fails, settle
// ends the test with a violation of the given rule.
func (k *provisionerTest) settle(c *provisioner.Change, rule string) (token string, s *provisioner.Status) {
	k.Helper()
	err := k.call("Provision", func(ctx context.Context, p *plugin.Provisioner) (err error) {
		token, err = p.Provision(ctx, c)
		return err
	})
	if err != nil {
		k.fatal(rule, "Provision failed: %v", err)
	}
	k.keep("the token", token)
	if len(token) > lumirpc.MaxToken {
		k.fail("token", "Provision returned a token of %d bytes: at most %d are allowed", len(token), lumirpc.MaxToken)
	}
	for deadline := time.Now().Add(k.Patience); token != ""; pause(k.Context(), 0) {
		err := k.call("Status", func(ctx context.Context, p *plugin.Provisioner) (err error) {
			s, err = p.Status(ctx, token)
			return err
		})
		if err != nil {
			k.fatal("status", "Status failed: %v", err)
		}
		k.keep("a message of Status", s.Message)
		switch {
		case s.State == provisioner.Done:
			k.metadata(c, s)
			return token, s
		case s.State != provisioner.Running:
			k.fatal(rule, "the change is %s, not done: %s", s.State, s.Message)
		case time.Now().After(deadline):
			k.fatal("status", "the change is not done after %v: %s", k.Patience, s.Message)
		}
	}
	return "", &provisioner.Status{}
}

// metadata checks that metadata belongs to resources in New, and that its secrets are wrapped.
func (k *provisionerTest) metadata(c *provisioner.Change, s *provisioner.Status) {
	k.Helper()
	for _, key := range slices.Sorted(maps.Keys(s.Metadata)) {
		if !slices.ContainsFunc(c.New, func(r *provisioner.Resource) bool { return r.Key == key }) {
			k.fail("metadata", "Status returned metadata for %q, which is not the key of a resource in New", key)
		}
		eachText(s.Metadata[key], false, func(text string, secret bool) {
			if !secret {
				k.keep("metadata of "+key+", unwrapped", text)
			}
		})
	}
}

// eachText calls f for each string in v, and reports whether the string is inside a secret. secret is set if v itself is.
func eachText(v any, secret bool, f func(text string, secret bool)) {
	switch v := v.(type) {
	case provisioner.Secret:
		eachText(v.Value, true, f)
	case string:
		f(v, secret)
	case []any:
		for _, element := range v {
			eachText(element, secret, f)
		}
	case map[string]any:
		for _, member := range v {
			eachText(member, secret, f)
		}
	}
}

// again checks that another process returns the same status for a finished change, concurrently, and none for unknown
// tokens.
func (k *provisionerTest) again(token string, done *provisioner.Status) {
	k.Helper()
	_ = k.call("Status", func(ctx context.Context, p *plugin.Provisioner) error {
		var calls sync.WaitGroup
		answers := make([]string, 8)
		for i := range answers {
			calls.Go(func() {
				s, err := p.Status(ctx, token)
				if err != nil {
					answers[i] = err.Error()
				} else if s.State != done.State || !reflect.DeepEqual(s.Metadata, done.Metadata) {
					answers[i] = fmt.Sprintf("%s %v, not %s %v", s.State, s.Metadata, done.State, done.Metadata)
				}
			})
		}
		calls.Wait()
		if i := slices.IndexFunc(answers, func(a string) bool { return a != "" }); i >= 0 {
			k.fail("status", "Status returns a different result to another process after the change is done: %s", answers[i])
		}
		for _, other := range []string{"", "garbage", "0b51b2a0-0a3c-4a7e-9f53-0c5e3a1de8c4", token + "x"} {
			if _, err := p.Status(ctx, other); !errors.Is(err, lumi.ErrNotFound) {
				err = cmp.Or(err, errors.New("a status"))
				k.fail("token", "Status of %q, a token that Provision did not return, must return NOT_FOUND, but returned %v", other, err)
			}
		}
		return nil
	})
}
