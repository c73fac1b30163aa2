package providertest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Provisioner is a provisioner under test.
type Provisioner struct {
	// Command describes how to start the plugin. Its Events field is ignored.
	Command plugin.Command
	// Changes lists the changes to make, in order. RunProvisioner sets Old to New of the previous change, with the
	// metadata returned by Status, and sets environments, modules, and keys if they are empty. After the last change, it
	// deletes the remaining resources.
	Changes []provisioner.Change
	// Observe returns a description of all resources managed by the tool. It must be deterministic, so it must omit
	// generated ids and times. If it is nil, RunProvisioner cannot check that Plan and repeated calls of Provision have
	// no side effects.
	Observe func() (string, error)
	// Patience is the timeout for a change to become DONE. The default is 1 min.
	Patience time.Duration
}

// ProvisionerResource returns a resource for use in [Provisioner.Changes].
func ProvisionerResource(t tokens.Type, name string, properties provisioner.Properties) *provisioner.Resource {
	u := urn.URN("urn:lumi:" + environment + "::" + module + ":index::" + string(t) + "::" + name)
	return &provisioner.Resource{URN: u, Type: t, Properties: properties}
}

const environment, module = "test", "app"

// RunProvisioner tests a provisioner. It reports each violated rule to t.
func RunProvisioner(t TB, p Provisioner) {
	t.Helper()
	k := &provisionerTest{
		TB: t, Provisioner: p, secrets: newSecrets(), seen: map[int]string{}, mark: "LUMI_PROVIDERTEST=" + rand.Text(),
	}
	k.Patience = cmp.Or(p.Patience, time.Minute)
	if len(p.Changes) == 0 || len(p.Changes[0].New) == 0 {
		fatalf(t, "providertest: Provisioner.Changes[0] must create something")
	}
	for _, c := range p.Changes {
		for _, r := range slices.Concat(c.New, c.Context) {
			eachText([]any{r.Properties, r.Metadata}, false, func(text string, secret bool) {
				if secret {
					k.known.AddValue(text)
				}
			})
		}
	}
	defer k.leave()
	k.step = "before the first change"
	before := k.observe()
	k.values()
	k.same(before, "plan", "Plan has side effects")
	first := k.fill(p.Changes[0])
	k.settle(&provisioner.Change{Environment: first.Environment, Module: first.Module, Old: first.New}, "delete")
	k.pass("change %d", k.change)
	k.pass("change %d with crashes", k.crash)
}

// provisionerTest is a run of [RunProvisioner].
type provisionerTest struct {
	TB
	Provisioner
	secrets
	// mark is an environment variable that identifies the plugin's processes and their children.
	mark string
	// step is the name of the current step in failures.
	step string
	// old holds the resources that may exist. deployment is the number of the last change.
	old        []*provisioner.Resource
	deployment int
	// seen maps the index of a change to the result of Observe after it.
	seen map[int]string
}

func (k *provisionerTest) fail(rule, format string, args ...any) {
	k.Helper()
	text := k.mask(fmt.Sprintf(format, args...))
	k.Errorf("%s: %s\n\tThis breaks the rule %q of docs/protocol.md#the-contract-of-a-provisioner", k.step, text, rule)
}

func (k *provisionerTest) fatal(rule, format string, args ...any) {
	k.Helper()
	k.fail(rule, format, args...)
	k.FailNow()
}

// keep checks that text contains no secrets. what describes the text in the failure.
func (k *provisionerTest) keep(what, text string) {
	k.Helper()
	if masked := k.mask(text); masked != text {
		k.fail("secret", "secret in %s: %s", what, strings.TrimSpace(masked))
	}
}

// fill returns a copy of a change with the fields that an engine sets.
func (k *provisionerTest) fill(c provisioner.Change) *provisioner.Change {
	k.deployment++
	c.Environment, c.Module, c.Old = cmp.Or(c.Environment, environment), cmp.Or(c.Module, module), k.old
	c.New = slices.Clone(c.New)
	for i, r := range c.New {
		one := *r
		one.Key = cmp.Or(r.Key, fmt.Sprintf("%s:%s::%s:%d", c.Module, r.Type, r.URN.Name(), k.deployment))
		for _, old := range k.old {
			if old.URN == r.URN && reflect.DeepEqual(old.Properties, r.Properties) {
				one.Key, one.Metadata = old.Key, old.Metadata
			}
		}
		c.New[i] = &one
	}
	return &c
}

// pass calls change for each change, and finally for a change that deletes all resources. step is the format of step names.
func (k *provisionerTest) pass(step string, change func(i int, c *provisioner.Change)) {
	for i, c := range append(slices.Clone(k.Changes), provisioner.Change{}) {
		filled := k.fill(c)
		if len(filled.New)+len(filled.Old) == 0 {
			continue
		}
		k.step = fmt.Sprintf(step, i+1)
		k.old = slices.Concat(filled.New, filled.Old) // in case the change fails
		change(i, filled)
	}
}

// change makes change number i without interruption, and then repeats it.
func (k *provisionerTest) change(i int, c *provisioner.Change) {
	before := k.observe()
	tasks := k.plan(c)
	k.plan(c)
	k.same(before, "plan", "Plan has side effects")
	for _, task := range append([]string{""}, tasks...) {
		c.Task = task
		token, done := k.settle(c, "status")
		if task == "" {
			k.old = after(c, done)
		}
		if token != "" {
			k.again(token, done)
		}
		before := k.observe()
		_, again := k.settle(c, "repeat")
		k.same(before, "repeat", "Repeating a finished Provision changes resources")
		if task == "" && !reflect.DeepEqual(after(c, done), after(c, again)) {
			k.fail("repeat", "Repeating a finished Provision changes metadata: %v, not %v", again.Metadata, done.Metadata)
		}
	}
	c.Task = ""
	k.seen[i] = k.observe()
}

// crash makes change number i with interruptions: it kills the process of Provision after increasing delays, until the call
// ends first, and then stops a process once. It checks that the result is the same as without interruptions.
func (k *provisionerTest) crash(i int, c *provisioner.Change) {
	tasks := k.plan(c)
	for delay, ended := 500*time.Microsecond, false; delay < 2*time.Second && !ended; delay *= 2 {
		ended, _ = k.interrupt(c, delay, time.Nanosecond)
	}
	if _, err := k.interrupt(c, 50*time.Millisecond, 0); err != nil {
		k.fail("process", "stopped during Provision: %v", err)
	}
	_, done := k.settle(c, "repeat")
	k.old = after(c, done)
	for _, task := range tasks {
		c.Task = task
		k.settle(c, "repeat")
	}
	k.same(k.seen[i], "repeat", "Repeating a killed Provision does not lead to the same result")
}

// interrupt calls Provision and stops the process after a delay. It reports whether the call ended before, and returns an error
// if the process did not exit within the grace period.
func (k *provisionerTest) interrupt(c *provisioner.Change, delay, grace time.Duration) (ended bool, err error) {
	p, done := k.start(grace), make(chan struct{})
	go func() {
		defer close(done)
		token, err := p.Provision(k.Context(), c)
		k.keep("the token", token)
		if err != nil {
			k.keep("an error of Provision", err.Error())
		}
	}()
	select {
	case <-done:
		_ = k.end(p)
		return true, nil
	case <-time.After(delay):
	}
	defer func() { <-done }()
	return false, k.end(p)
}

// after returns the resources in c.New with the metadata that an engine stores after the change, given its final status.
func after(c *provisioner.Change, done *provisioner.Status) []*provisioner.Resource {
	var all []*provisioner.Resource
	for _, r := range c.New {
		one := *r
		for _, old := range c.Old {
			if old.URN == r.URN && one.Metadata == nil {
				one.Metadata = old.Metadata
			}
		}
		if metadata, ok := done.Metadata[r.Key]; ok {
			one.Metadata = metadata
		}
		all = append(all, &one)
	}
	return all
}

func (k *provisionerTest) observe() string {
	if k.Observe == nil {
		return ""
	}
	text, err := k.Observe()
	if err != nil {
		k.fatal("plan", "Provisioner.Observe failed: %v", err)
	}
	return text
}

func (k *provisionerTest) same(before, rule, complaint string) {
	if now := k.observe(); now != before {
		k.fail(rule, "%s\nbefore: %s\nafter:  %s", complaint, before, now)
	}
}

// values checks that Plan does not crash if properties are unknown values, secrets, or lists of nulls.
func (k *provisionerTest) values() {
	other := ProvisionerResource("test:index:Other", "other", nil)
	other.Key, other.ID = "app:test:index:Other::other:1", "other-1"
	to := provisioner.Reference{URN: other.URN, Property: "some output"}
	special := map[string]func(v any) any{
		"a secret":         func(v any) any { return provisioner.Secret{Value: v} },
		"a reference":      func(any) any { return to },
		"an interpolation": func(v any) any { return provisioner.Interpolation{Parts: []any{"a", to, provisioner.Secret{Value: v}}} },
		"JSON":             func(v any) any { return provisioner.JSON{Value: map[string]any{"a": to, "b": v}} },
		"a part":           func(any) any { return provisioner.Part{Of: to, Path: "a[0].b"} },
		"a list of nulls":  func(any) any { return []any{nil, []any{nil}, map[string]any{}} },
	}
	_ = k.call("Plan", func(ctx context.Context, p *plugin.Provisioner) error {
		for _, name := range slices.Sorted(maps.Keys(special)) {
			c := k.fill(k.Changes[0])
			c.Context = append(slices.Clone(c.Context), other)
			for _, r := range c.New {
				r.Properties = maps.Clone(r.Properties)
				for property, v := range r.Properties {
					r.Properties[property] = special[name](v)
				}
				r.Dependencies = append(slices.Clone(r.Dependencies), other.URN)
			}
			_, err := p.Plan(ctx, c)
			var e *plugin.Error
			switch {
			case errors.As(err, &e) && (e.Code == codes.Internal || e.Code == codes.Unavailable) && !errors.As(err, new(*lumi.RetryError)):
				k.fail("value", "Plan crashes if a property is %s: %v", name, err)
				return nil
			case err != nil && err.Error() == "":
				k.fail("value", "Plan rejects a property that is %s without a message", name)
			}
		}
		return nil
	})
}

// leave deletes the remaining resources and checks that no child processes remain.
func (k *provisionerTest) leave() {
	defer k.children()
	if len(k.old) == 0 {
		return
	}
	k.step = "cleanup"
	k.settle(k.fill(provisioner.Change{}), "delete")
}

// lingering is the maximum time that child processes may outlive the plugin.
var lingering = 5 * time.Second

// children checks that the plugin's processes and their children exit. It finds them only on Linux.
func (k *provisionerTest) children() {
	for deadline := time.Now().Add(lingering); ; time.Sleep(10 * time.Millisecond) {
		var left []string
		all, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range all {
			if env, err := os.ReadFile(file); err == nil && strings.Contains(string(env), k.mark) {
				name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm")) // The process may have exited.
				left = append(left, strings.TrimSpace(string(name)))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			k.step = "after the last change"
			k.fail("process", "processes still running: %s", strings.Join(left, ", "))
			return
		}
	}
}
