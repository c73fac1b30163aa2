package run_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/job"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/policy"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

// command runs a command of a story:
//
//	set latency=1s retries=2    sets options of the cloud and of processes; must precede all other commands
//	as second                   runs the following commands in another process
//	deploy a target=Disk/x replace=Disk/y   plans, queues, and runs a deployment; "plan" only plans, and "queue" does not run it
//	destroy a, cleanup a
//	run a[1]                    runs a queued deployment; "retry", "abort", and "resolve a[1] Key/x --id=ID" also run it
//	rollback a[1]               deploys the state of a[1] again
//	status                      shows the queue; "show 1" shows the request of deployment 1
//	history 5 a before=3        lists up to 5 deployments of a module before deployment 3; "log 3" shows the events of deployment 3
//	move a Disk/x Disk/y        renames a resource; "forget a Disk/x Disk/y" removes resources from the state
//	refresh a                   compares the resources of a module with the cloud; "accept a" also stores their actual state,
//	                            and "accept a move a Disk/x Disk/y" runs a command in between
//	rekey                       reseals all secrets with a new key, which only new processes have
//	stop                        stops the process
//	crash after create Disk/a STARTED   kills the process after a row change; with "before", kills it before the change
//	cut first                   disconnects the process from the store; "stall" and "resume" do so temporarily
//	dead first                  marks the process as known to have exited
//	gone first                  forgets the process, whose host is gone
//	untoken                     removes the tokens of all calls, as if an older version had stored them
//	rows                        includes row changes in the rest of the story
//	fault Create a 1 half lost  makes a call of the cloud fail
//	change a size=2, vanish a   changes or removes a resource in the cloud
//	heal                        removes all faults
//	policy                      replaces the policy by the rules in the following lines: a name, "advisory" if it is, and a condition
//	result 2                    changes what the function Latest returns
//	was volume size             declares a former name of a property in new processes
//	provisioner Net status=running,done more=1   creates the provisioner "fake" for a type, or another one with as=NAME
//	map Net other               maps a type to another provisioner, or with "-" to its provider; "uninstall fake" removes one
//	inputs a Net/n              shows the stored inputs and metadata of a resource; "results a Latest/#1" shows stored results
//	sleep 10s, wait             waits for a duration, or for background commands, which end with "&"
func (w *world) command(words []string, program string) {
	if words[0] != "set" && words[0] != "provisioner" && words[0] != "map" && w.current == nil {
		w.as("first")
	}
	ctx := context.Background()
	if words[len(words)-1] == "&" {
		p := w.current
		w.background.Go(func() { w.report(w.deployment(ctx, p, words[:len(words)-1], program)) })
		return
	}
	switch words[0] {
	case "set":
		for _, word := range words[1:] {
			w.set(strings.Cut(word, "="))
		}
	case "as":
		w.as(words[1])
	case "stop":
		w.current.engine.Stop()
	case "crash":
		w.current.crash, w.current.lost = strings.Join(words[2:], " "), words[1] == "before"
	case "cut", "stall", "resume":
		w.processes[words[1]].command(words[0])
	case "dead":
		w.dead[words[1]] = true
	case "gone":
		isGone := func(owner string) bool { return owner == words[1] }
		_, err := job.New(job.Options{Store: w.current, Environment: "dev", IsDead: isGone}).Forget(ctx, words[1])
		w.report(err)
	case "rows":
		w.current.shows = true
	case "untoken":
		w.report(w.untoken(ctx))
	case "fault":
		w.fault(words[1:])
	case "change":
		key, value, _ := strings.Cut(words[2], "=")
		w.cloud.Change(w.id("$"+words[1]), key, value)
	case "result":
		w.result.Store(words[1])
	case "vanish":
		w.cloud.Remove(w.id("$" + words[1]))
	case "policy":
		w.policy(program)
	case "was":
		w.renamed = append(w.renamed, lumi.Property{Name: words[1], Kind: lumi.KindAny, Was: words[2:]})
	case "provisioner":
		w.configureFaker(words[1:])
	case "map":
		w.mapping.Store(words[1], words[2])
	case "uninstall":
		delete(w.fakers, words[1])
	case "inputs", "results":
		w.report(w.stored(ctx, words[0], words[1], words[2]))
	case "sleep":
		d, _ := time.ParseDuration(words[1])
		time.Sleep(d)
	case "wait":
		w.background.Wait()
	case "status":
		w.report(w.status(ctx))
	case "show":
		w.report(w.show(ctx, words[1]))
	case "history":
		w.report(w.history(ctx, words[1:]))
	case "log":
		w.report(w.showLog(ctx, words[1]))
	case "move", "forget":
		w.report(w.edit(ctx, words))
	case "refresh", "accept":
		w.report(w.refresh(ctx, words))
	case "rekey":
		w.report(w.rekey(ctx))
	case "concurrency":
		w.log.add(w, "", "%d calls at once", w.concurrency())
	default:
		w.report(w.deployment(ctx, w.current, words, program))
	}
}

func (w *world) report(err error) {
	if err != nil {
		w.log.add(w, "", "error: %s", strings.ReplaceAll(err.Error(), "\n", "\nerror: "))
	}
}

// deployment runs a command that concerns a deployment.
func (w *world) deployment(ctx context.Context, p *process, words []string, program string) error {
	e, command := p.engine, words[0]
	var id int64
	switch command {
	case "plan", "deploy", "queue", "destroy", "rollback":
		r, err := w.request(ctx, p, words, program)
		if err != nil {
			return err
		}
		shown, err := planOne(ctx, e, r)
		if err != nil {
			return err
		}
		if command == "plan" {
			w.showPlan(shown)
			return nil
		}
		d, err := queueOne(ctx, e, shown)
		if err != nil || command == "queue" {
			return err
		}
		id = d.ID
	case "cleanup":
		var err error
		if id, err = e.CleanUp(ctx, words[1]); err != nil {
			return err
		}
	default:
		id = w.find(words[1])
	}
	var err error
	switch command {
	case "retry":
		if slices.Contains(words, "--call-again") {
			err = e.CallAgain(ctx, id)
		}
		err = cmp.Or(err, e.Retry(ctx, id))
	case "abort":
		err = e.Abort(ctx, id)
	case "resolve":
		answer := ""
		if id, ok := strings.CutPrefix(words[3], "--id="); ok {
			answer = string(w.id(id))
		}
		module, _, _ := strings.Cut(words[1], "[")
		err = e.Resolve(ctx, id, urn.URN(urnOf(module, words[2])), answer)
	}
	if err != nil || slices.Contains(words, "only") {
		return err
	}
	d, err := e.Run(ctx, id)
	if err != nil {
		return err
	}
	if d.State == store.Wait || d.State == store.Running || d.State == store.Aborting {
		w.log.add(w, "", "left %s %s", nameOf(d), d.State)
	}
	return nil
}

func (w *world) status(ctx context.Context) error {
	all, err := w.current.engine.Status(ctx)
	for _, s := range all {
		text := fmt.Sprintf("%s %s", s.Name, s.State)
		for _, wait := range s.Waits {
			text += fmt.Sprintf(", waits for %s: %s", wait.For.Name(), wait.Reason)
		}
		w.log.add(w, "", "%s%s", text, map[bool]string{true: ", ready"}[s.Ready])
	}
	return err
}

// show prints the request of the deployment with the given number.
func (w *world) show(ctx context.Context, number string) error {
	n, _ := strconv.ParseInt(number, 10, 64)
	d, err := w.current.engine.Find(ctx, n)
	if err != nil {
		return err
	}
	r := d.Request
	text := fmt.Sprintf("%s %s", nameOf(d.Job), d.State)
	if r.Desired != nil {
		text += fmt.Sprintf(" of %d vertices", r.Desired.Len())
	}
	for _, e := range d.Approved {
		text += fmt.Sprintf(", %s %s", e.Kind, e.URN)
	}
	w.log.add(w, "", "%s%s", text, map[bool]string{true: ", destroy " + r.Destroy}[r.Destroy != ""])
	return nil
}

func (w *world) history(ctx context.Context, words []string) error {
	limit, _ := strconv.Atoi(words[0])
	module, before := "", int64(0)
	for _, word := range words[1:] {
		if number, ok := strings.CutPrefix(word, "before="); ok {
			n, _ := strconv.ParseInt(number, 10, 64)
			d, err := w.current.engine.Find(ctx, n)
			if err != nil {
				return err
			}
			before = d.ID
		} else {
			module = word
		}
	}
	all, err := w.current.engine.History(ctx, module, before, limit)
	for _, d := range all {
		w.log.add(w, "", "%s %s %s", job.Name(d), d.Kind, d.State)
	}
	return err
}

func (w *world) showLog(ctx context.Context, number string) error {
	n, _ := strconv.ParseInt(number, 10, 64)
	d, err := w.current.engine.Find(ctx, n)
	if err != nil {
		return err
	}
	events, err := w.current.engine.Log(ctx, d.ID)
	for _, e := range events {
		w.log.add(w, "", "%s", strings.Join(strings.Fields(fmt.Sprint(e.Name, " ", e.Kind, " ", e.URN, " ", e.State, " ", e.Message)), " "))
	}
	return err
}

func (w *world) edit(ctx context.Context, words []string) error {
	var urns []urn.URN
	for _, resource := range words[2:] {
		urns = append(urns, urn.URN(urnOf(words[1], resource)))
	}
	one := environment.Edit{Module: words[1], Message: strings.Join(words, " ")}
	one.Change = func(g *graph.Graph, _ graph.Deployment) (*graph.Graph, error) { return g.Forget(urns...) }
	if words[0] == "move" {
		one.Was, one.Now = urns[0], urns[1]
		one.Change = func(g *graph.Graph, _ graph.Deployment) (*graph.Graph, error) { return g.Rename(one.Was, one.Now) }
	}
	return w.current.engine.Edit(ctx, one)
}

// refresh compares the resources of a module with the cloud. For "accept", it runs the rest of the words as a command, and
// stores the actual state.
func (w *world) refresh(ctx context.Context, words []string) error {
	e := w.current.engine
	found, err := e.Compare(ctx, words[1:2], func(*graph.Resource) bool { return true })
	if err != nil {
		return err
	}
	for _, r := range found {
		w.log.addCalls(w)
		switch u := r.Stored.URN; {
		case r.Err != nil:
			w.log.add(w, "", "%s: %v", u, r.Err)
		case len(r.Drifted)+len(r.Ignored) > 0:
			w.log.add(w, "", "%s drifted %v ignored %v", u, r.Drifted, r.Ignored)
		}
	}
	if words[0] == "refresh" {
		return nil
	}
	if len(words) > 2 {
		w.command(words[2:], "")
	}
	left, err := e.Accept(ctx, found)
	for _, r := range left {
		w.log.add(w, "", "%s has changed since", r.Stored.URN)
	}
	return err
}

// rekey changes the key and checks that no data sealed with the old key remains.
func (w *world) rekey(ctx context.Context) error {
	key := secret.NewKey()
	if err := w.current.engine.Rekey(ctx, key, "wrapped"); err != nil {
		return err
	}
	w.key, w.engine.Key = key, key
	id := w.sealedWith(key)
	return w.store.Read(ctx, func(tx store.Tx) error {
		environment, err := tx.Environment("dev")
		if environment.Key != "wrapped" {
			w.t.Errorf(`stored wrapped key = %q, want "wrapped"`, environment.Key)
		}
		vertices, _ := tx.Vertices("dev")
		rows, _ := tx.Queue("dev")
		history, _ := tx.History("dev", 0, 1000)
		count := 0
		for _, text := range texts(tx, vertices, append(rows, history...)) {
			for _, m := range sealed.FindAllStringSubmatch(text, -1) {
				if count++; !strings.HasPrefix(m[1], id) {
					w.t.Errorf("stored text is sealed with the old key: %s", text)
				}
			}
		}
		w.log.add(w, "", "%d secrets", count)
		return err
	})
}

var sealed = regexp.MustCompile(`sealed:1:([^"]*)`)

// sealedWith returns the prefix of data sealed with a key, which is the key's ID.
func (w *world) sealedWith(key *secret.Key) string {
	v, err := key.Seal("", lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
		lumigl.Member{Key: "value", Value: lumigl.TextOf("x")}))
	if err != nil {
		w.t.Fatal(err)
	}
	text, _ := v.Get("value").Text()
	return sealed.FindStringSubmatch(text)[1][:5]
}

// texts returns the stored texts that may contain sealed data.
func texts(tx store.Tx, vertices []store.Vertex, deployments []store.Job) (all []string) {
	for _, v := range vertices {
		all = append(all, v.Text)
	}
	for _, d := range deployments {
		c, _ := tx.Content(d.ID)
		all = append(all, c.Desired, c.Shown)
		steps, _ := tx.Steps(d.ID)
		for _, s := range steps {
			all = append(all, s.New)
		}
	}
	return all
}

func (w *world) request(ctx context.Context, p *process, words []string, program string) (r run.Request, err error) {
	switch words[0] {
	case "destroy":
		return run.Request{Destroy: words[1]}, nil
	case "rollback":
		return p.engine.Rollback(ctx, w.find(words[1]))
	}
	r.Desired = w.desired(words[1], program)
	for _, word := range words[2:] {
		switch name, target, _ := strings.Cut(word, "="); name {
		case "target":
			r.Targets = append(r.Targets, urn.URN(urnOf(words[1], target)))
		case "replace":
			r.Replace = append(r.Replace, urn.URN(urnOf(words[1], target)))
		case "--refresh":
			r.Refresh = true
		case "interrupt":
			r.Interrupt = append(r.Interrupt, target)
		case "unique":
			r.UniqueNames = true
		}
	}
	return r, nil
}

func (w *world) showPlan(p run.Planned) {
	for _, s := range p.Steps {
		if s.IsRead() && !s.Waits() {
			continue
		}
		mark := map[bool]string{s.Possible: "?"}[true]
		w.log.add(w, "", "%s%s %s", s.Kind, mark, s.URN)
	}
	for _, c := range p.Cleanups {
		for _, r := range c.Deleted {
			w.log.add(w, "", "Cleanup[%s]: delete %s", c.Module, r.URN)
		}
	}
	for _, f := range p.Findings {
		w.log.add(w, "", "%s %s %s: %s", f.Result, f.URN, f.Name(), f.Details())
	}
}

// policy replaces the policy of the workspace. Each line is a rule: a name, optionally "advisory", and a condition.
func (w *world) policy(lines string) {
	w.engine.Policy = nil
	if lines != "" {
		text := "rules:\n"
		for line := range strings.Lines(lines) {
			name, when, _ := strings.Cut(strings.TrimSpace(line), " ")
			level := "mandatory"
			if rest, ok := strings.CutPrefix(when, "advisory "); ok {
				level, when = "advisory", rest
			}
			text += fmt.Sprintf("  - {name: %s, level: %s, when: %q, message: not allowed}\n", name, level, when)
		}
		w.engine.Policy = must.Get(policy.Parse([]byte(text), policy.FileName))(w.t)
	}
	if w.current != nil {
		w.current.engine.Policy = w.engine.Policy
	}
}

// find returns the ID of the last deployment with the given name.
func (w *world) find(name string) (id int64) {
	_ = w.store.Read(context.Background(), func(tx store.Tx) error {
		events, err := tx.Events("dev", 0, 0, 1<<20)
		for _, e := range events {
			if e.Name == name {
				id = e.Deployment
			}
		}
		return err
	})
	return id
}

// id returns the ID of the resource named in "$name". It returns any other text unchanged.
func (w *world) id(text string) lumi.ID {
	name, isName := strings.CutPrefix(text, "$")
	if !isName {
		return lumi.ID(text)
	}
	for _, r := range w.cloud.Resources() {
		if r.URN.Name() == name {
			return r.ID
		}
	}
	w.t.Fatalf("no resource %s in the cloud", name)
	return ""
}

func (w *world) set(key, value string, _ bool) {
	o, e := &w.options, &w.engine
	durations := map[string]*time.Duration{
		"latency": &o.Latency, "deletion": &o.Deletion, "retryAfter": &o.RetryAfter, "timeout": &e.Timeout, "lease": &e.Lease,
	}
	numbers := map[string]*int{"parallelism": &e.Parallelism, "retries": &e.Retries}
	var err error
	switch {
	case durations[key] != nil:
		*durations[key], err = time.ParseDuration(value)
	case numbers[key] != nil:
		*numbers[key], err = strconv.Atoi(value)
	case key == "simulated":
		w.simulated = true
	case key == "stopOnError":
		e.StopOnError = true
	case key == "key":
		w.engine.Key = map[string]*secret.Key{"known": w.key}[value]
	default:
		err = fmt.Errorf("there is no option %s", key)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// fault makes a call fail, as specified by, for example, "Create a 1 half lost". With the number 0, all calls without
// another fault fail.
func (w *world) fault(words []string) {
	n, _ := strconv.Atoi(words[2])
	how := map[string]sim.How{"fails": sim.Fails, "throttled": sim.Throttled, "lost": sim.Lost, "hangs": sim.Hangs, "none": 0}
	when := map[string]sim.When{"before": sim.Before, "half": sim.Half, "after": sim.After}
	resource := words[1]
	if resource == "-" {
		resource = ""
	}
	w.cloud.Script(sim.At{Resource: resource, Op: sim.Op(words[0]), Attempt: n}, sim.Fault{When: when[words[3]], How: how[words[4]]})
}

// concurrency returns the maximum number of calls of the cloud that were in flight at the same time.
func (w *world) concurrency() (most int) {
	calls := w.cloud.Calls()
	for _, c := range calls {
		n := 0
		for _, other := range calls {
			if !other.Began.After(c.Began) && other.Ended.After(c.Began) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// stored prints the inputs and metadata, or the results, of a resource in each version of its module.
func (w *world) stored(ctx context.Context, what, module, resource string) error {
	g, err := w.current.engine.Graph(ctx)
	if err != nil {
		return err
	}
	for _, v := range g.Versions(module) {
		switch r := v.Resource(urn.URN(urnOf(module, resource))); {
		case r != nil && what == "results":
			w.log.add(w, "", "%s of %s: %s", resource, v.VersionID, textOf(r.Properties()))
		case r != nil:
			w.log.add(w, "", "%s: inputs %s, metadata %s, by %q", resource, textOf(r.Inputs), textOf(r.Metadata), r.Provisioner)
		}
	}
	return nil
}

// textOf formats a value. A reference is formatted as "@name.property", and a secret as "secret(value)".
func textOf(v lumigl.Value) string {
	if secret, ok := v.Secret(); ok {
		return "secret(" + textOf(secret) + ")"
	}
	if target, property, ok := v.Target(); ok {
		return "@" + strings.TrimSuffix(target.URN().Name()+"."+property, ".")
	}
	var parts []string
	for _, e := range v.Elements() {
		parts = append(parts, textOf(e))
	}
	for key, e := range v.Members() {
		parts = append(parts, key+": "+textOf(e))
	}
	switch v.Kind() {
	case lumigl.Absent:
		return "unknown"
	case lumigl.Object:
		return "{" + strings.Join(parts, ", ") + "}"
	case lumigl.List:
		return "[" + strings.Join(parts, ", ") + "]"
	case lumigl.Text:
		s, _ := v.Text()
		return s
	}
	literal, _ := v.Literal()
	return literal
}

// faker is a provisioner for a type. It only logs its calls.
type faker struct {
	w    *world
	name string
	// statuses lists the results of Status. The last one repeats. more is the number of additional tasks returned
	// by Plan.
	statuses []string
	more     int
	idle     bool
	secret   bool   // secret in the metadata of resources
	shows    string // property of resources to log
	foreign  string // unknown key to return metadata for
	message  string
	plans    time.Duration // duration of Plan unless canceled
	takes    time.Duration // duration of Provision unless canceled
	busy     int           // number of retries that Provision requests
	mutex    sync.Mutex    // guards all fields
}

// configureFaker creates or changes a type's provisioner.
func (w *world) configureFaker(words []string) {
	name, all := "fake", map[string]string{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		all[key] = value
		if key == "as" {
			name = value
		}
	}
	f := w.fakers[name]
	if f == nil {
		if w.fakers == nil {
			w.fakers = map[string]*faker{}
		}
		f = &faker{w: w, name: name, statuses: []string{"done"}}
		w.fakers[name] = f
	}
	w.mapping.Store(words[0], name)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for key, value := range all {
		switch key {
		case "status":
			f.statuses = strings.Split(value, ",")
		case "more":
			f.more, _ = strconv.Atoi(value)
		case "idle":
			f.idle = value == "true"
		case "secret":
			f.secret = value == "true"
		case "shows":
			f.shows = value
		case "foreign":
			f.foreign = value
		case "message":
			f.message = value
		case "plans":
			f.plans, _ = time.ParseDuration(value)
		case "takes":
			f.takes, _ = time.ParseDuration(value)
		case "busy":
			f.busy, _ = strconv.Atoi(value)
		}
	}
}

func (w *world) handler(t tokens.Type) (string, error) {
	name, _ := w.mapping.Load(t.Name())
	switch name {
	case nil, "-":
		return "", nil
	case "?":
		return "", errors.New("its provisioner is not installed")
	}
	return name.(string), nil
}

func (f *faker) prefix() string {
	if f.name == "fake" {
		return "· "
	}
	return "· " + f.name + ": "
}

// Plan implements [plan.Provisioner].
func (f *faker) Plan(ctx context.Context, _ plan.Input) (plan.Details, error) {
	if f.plans > 0 {
		select {
		case <-time.After(f.plans):
		case <-ctx.Done():
			return plan.Details{}, ctx.Err()
		}
	}
	return plan.Details{Tasks: slices.Repeat([]string{"migrate"}, f.more)}, nil
}

// Provision implements [plan.Provisioner].
func (f *faker) Provision(ctx context.Context, in plan.Input) (string, error) {
	f.w.log.add(f.w, "", "%sProvision %s", f.prefix(), strings.TrimSpace(in.Task+" "+in.String()))
	f.mutex.Lock()
	takes, busy, idle := f.takes, f.busy > 0, f.idle
	f.busy--
	var keys []string
	for _, v := range in.New {
		keys = append(keys, v.Resource.Key())
		if value := v.Resource.Inputs.Get(f.shows); value.Exists() {
			f.w.log.add(f.w, "", "%s%s has %s=%s", f.prefix(), v, f.shows, textOf(value))
		}
	}
	f.mutex.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return "", errors.New("the tool was interrupted")
	}
	switch {
	case busy:
		return "", &lumi.RetryError{After: 5 * time.Second, Err: errors.New("another run holds the lock")}
	case idle:
		return "", nil
	}
	return cmp.Or(strings.Join(keys, " "), "none"), nil
}

// Status implements [plan.Provisioner].
func (f *faker) Status(ctx context.Context, token string) (plan.Status, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	state := f.statuses[0]
	if len(f.statuses) > 1 {
		f.statuses = f.statuses[1:]
	}
	f.w.log.add(f.w, "", "%sStatus of %q: %s", f.prefix(), token, state)
	switch state {
	case "hangs":
		<-ctx.Done()
		return plan.Status{}, ctx.Err()
	case "error":
		return plan.Status{}, errors.New("the provisioner does not answer")
	}
	s := plan.Status{State: plan.State(state), Message: f.message, Metadata: map[string]lumigl.Value{}}
	if s.State == plan.Failed {
		s.Message = "no quota"
	}
	for key := range strings.FieldsSeq(strings.TrimPrefix(token, "none")) {
		arn := lumigl.TextOf(fmt.Sprintf("made of %s", key))
		if f.secret {
			arn = lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: arn})
		}
		s.Metadata[key] = lumigl.ObjectOf(lumigl.Member{Key: "arn", Value: arn})
	}
	if f.foreign != "" {
		s.Metadata[f.foreign] = lumigl.ObjectOf()
	}
	return s, nil
}

// untoken removes the tokens of all steps.
func (w *world) untoken(ctx context.Context) error {
	return w.store.Write(ctx, "dev", func(tx store.Tx) error {
		jobs, err := tx.Queue("dev")
		for _, j := range jobs {
			steps, failed := tx.Steps(j.ID)
			err = cmp.Or(err, failed)
			for _, s := range steps {
				s.Token = ""
				err = cmp.Or(err, tx.PutStep(s))
			}
		}
		return err
	})
}
