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

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/sim"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// command runs a command of a story:
//
//	set latency=1s retries=2    options of the cloud and of processes, before the first other command
//	as second                   the following commands are those of another process
//	deploy a target=Disk/x replace=Disk/y   plans, queues and runs; "plan" only plans, "queue" does not run
//	destroy a, cleanup a
//	run a[1]                    runs what was queued; with "retry", "abort", "resolve a[1] Key/x --id=ID" it is told to run again
//	rollback a[1]               deploys what a[1] did
//	status                      shows the queue; "show 1" what deployment 1 was asked to do
//	history 5 a before=3        lists up to 5 deployments of a module before deployment 3; "log 3" shows the events of deployment 3
//	move a Disk/x Disk/y        renames a resource; "forget a Disk/x Disk/y" removes some from the state
//	rekey                       seals everything with another key, which only processes that start from now on have
//	stop                        stops the process
//	crash after create Disk/a STARTED   the process ends once a row has become that; "before" leaves the row as it was
//	cut first                   the process does not reach the store any more; "stall" and "resume": for a while
//	dead first                  the process is known to have ended
//	rows                        the changes of rows are part of the story from now on
//	fault Create a 1 half lost  a call of the cloud fails
//	change a size=2, vanish a   the cloud changes or loses a resource
//	heal                        no more faults
//	provisioner Net status=running,done more=1   a provisioner for a type
//	sleep 10s, wait             until the time is over, and until commands that end with "&" are done
func (w *world) command(words []string, program string) {
	if words[0] != "set" && words[0] != "provisioner" && w.current == nil {
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
	case "rows":
		w.current.shows = true
	case "fault":
		w.fault(words[1:])
	case "change":
		key, value, _ := strings.Cut(words[2], "=")
		w.cloud.Change(w.id("$"+words[1]), key, value)
	case "vanish":
		w.cloud.Remove(w.id("$" + words[1]))
	case "provisioner":
		w.faker = newFaker(w, words[1:])
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

// deployment runs a command about a deployment.
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
			w.showPlan(shown.Plan)
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
		err = e.Retry(ctx, id)
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

// status shows the queue.
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

// show shows what a deployment was asked to do.
func (w *world) show(ctx context.Context, number string) error {
	n, _ := strconv.ParseInt(number, 10, 64)
	d, r, effects, err := w.current.engine.Find(ctx, n)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s %s", nameOf(d), d.State)
	if r.Desired != nil {
		text += fmt.Sprintf(" of %d vertices", r.Desired.Len())
	}
	for _, e := range effects {
		text += fmt.Sprintf(", %s %s", e.Kind, e.URN)
	}
	w.log.add(w, "", "%s%s", text, map[bool]string{true: ", destroy " + r.Destroy}[r.Destroy != ""])
	return nil
}

// history lists deployments.
func (w *world) history(ctx context.Context, words []string) error {
	limit, _ := strconv.Atoi(words[0])
	module, before := "", int64(0)
	for _, word := range words[1:] {
		if number, ok := strings.CutPrefix(word, "before="); ok {
			n, _ := strconv.ParseInt(number, 10, 64)
			d, _, _, err := w.current.engine.Find(ctx, n)
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
		w.log.add(w, "", "%s %s %s", run.Name(d), d.Purpose, d.State)
	}
	return err
}

// showLog shows the events of a deployment.
func (w *world) showLog(ctx context.Context, number string) error {
	n, _ := strconv.ParseInt(number, 10, 64)
	d, _, _, err := w.current.engine.Find(ctx, n)
	if err != nil {
		return err
	}
	events, err := w.current.engine.Log(ctx, d.ID)
	for _, e := range events {
		w.log.add(w, "", "%s", strings.Join(strings.Fields(fmt.Sprint(e.Name, " ", e.Kind, " ", e.URN, " ", e.State, " ", e.Message)), " "))
	}
	return err
}

// edit changes the state of a module.
func (w *world) edit(ctx context.Context, words []string) error {
	var urns []urn.URN
	for _, resource := range words[2:] {
		urns = append(urns, urn.URN(urnOf(words[1], resource)))
	}
	one := run.Edit{Module: words[1], Message: strings.Join(words, " ")}
	one.Change = func(g *graph.Graph, _ graph.Deployment) (*graph.Graph, error) { return g.Forget(urns...) }
	if words[0] == "move" {
		one.Was, one.Now = urns[0], urns[1]
		one.Change = func(g *graph.Graph, _ graph.Deployment) (*graph.Graph, error) { return g.Rename(one.Was, one.Now) }
	}
	return w.current.engine.Edit(ctx, one)
}

// rekey changes the key, and checks that nothing is left that the former one sealed.
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
			w.t.Errorf("the key is wrapped as %q", environment.Key)
		}
		vertices, _ := tx.Vertices("dev")
		rows, _ := tx.Queue("dev")
		history, _ := tx.History("dev", 0, 1000)
		count := 0
		for _, text := range texts(tx, vertices, append(rows, history...)) {
			for _, m := range sealed.FindAllStringSubmatch(text, -1) {
				if count++; !strings.HasPrefix(m[1], id) {
					w.t.Errorf("the former key sealed %s", text)
				}
			}
		}
		w.log.add(w, "", "%d secrets", count)
		return err
	})
}

var sealed = regexp.MustCompile(`sealed:1:([^"]*)`)

// sealedWith returns how all that a key seals begins: with the ID of the key.
func (w *world) sealedWith(key *secret.Key) string {
	v, err := key.Seal("", lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)},
		lumigl.Member{Key: "value", Value: lumigl.TextOf("x")}))
	if err != nil {
		w.t.Fatal(err)
	}
	text, _ := v.Get("value").Text()
	return sealed.FindStringSubmatch(text)[1][:5]
}

// texts returns all that the store has sealed.
func texts(tx store.Tx, vertices []store.Vertex, deployments []store.Deployment) (all []string) {
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

// request returns what words ask for.
func (w *world) request(ctx context.Context, p *process, words []string, program string) (r run.Request, err error) {
	switch words[0] {
	case "destroy":
		return run.Request{Destroy: words[1]}, nil
	case "rollback":
		r, empty, err := p.engine.Rollback(ctx, w.find(words[1]))
		for _, u := range empty {
			w.log.add(w, "", "%s will be empty", u)
		}
		return r, err
	}
	r.Desired = w.desired(words[1], program)
	for _, word := range words[2:] {
		switch name, target, _ := strings.Cut(word, "="); name {
		case "target":
			r.Targets = append(r.Targets, urn.URN(urnOf(words[1], target)))
		case "replace":
			r.Replace = append(r.Replace, urn.URN(urnOf(words[1], target)))
		case "interrupt":
			r.Interrupt = append(r.Interrupt, target)
		}
	}
	return r, nil
}

func (w *world) showPlan(p *plan.Plan) {
	for _, s := range p.Steps {
		mark := map[bool]string{s.Possible: "?"}[true]
		w.log.add(w, "", "%s%s %s", s.Kind, mark, s.URN)
	}
	for _, c := range p.Cleanups {
		for _, r := range c.Deleted {
			w.log.add(w, "", "Cleanup[%s]: delete %s", c.Module, r.URN)
		}
	}
}

// find returns the ID of the last deployment with a name.
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

// id returns the ID of the resource in "$name", or an ID itself.
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
	w.t.Fatalf("there is no resource %s", name)
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

// fault makes a call fail, such as "Create a 1 half lost", or all calls that no other fault is about, if the number is 0.
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

// concurrency returns how many calls of the cloud ran at once.
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

// faker is a provisioner for a type that does nothing, and says what it was asked for.
type faker struct {
	w    *world
	kind string
	// statuses are the answers of Status, the last one for ever; more is how many further tasks Plan returns.
	statuses []string
	more     int
	idle     bool
	secret   bool       // of what it notes about resources
	mutex    sync.Mutex // of statuses
}

func newFaker(w *world, words []string) *faker {
	f := &faker{w: w, kind: words[0]}
	if w.faker != nil { // which processes have already
		f = w.faker
	}
	for _, word := range words[1:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "status":
			f.mutex.Lock()
			f.statuses = strings.Split(value, ",")
			f.mutex.Unlock()
		case "more":
			f.more, _ = strconv.Atoi(value)
		case "idle":
			f.idle = value == "true"
		case "secret":
			f.secret = value == "true"
		}
	}
	return f
}

func (f *faker) handles(t tokens.Type) string {
	if t.Name() == f.kind {
		return "fake"
	}
	return ""
}

// Plan implements [plan.Provisioner].
func (f *faker) Plan(_ context.Context, in plan.Input) ([]plan.Input, error) {
	return slices.Repeat([]plan.Input{{New: in.New, Old: in.New}}, f.more), nil
}

// Provision implements [plan.Provisioner].
func (f *faker) Provision(_ context.Context, in plan.Input) (string, error) {
	f.w.log.add(f.w, "", "· Provision %s", in)
	if f.idle {
		return "", nil
	}
	var keys []string
	for _, v := range in.New {
		keys = append(keys, v.Resource.Key())
	}
	return cmp.Or(strings.Join(keys, " "), "none"), nil
}

// Status implements [plan.Provisioner].
func (f *faker) Status(_ context.Context, token string) (plan.Status, error) {
	f.mutex.Lock()
	state := f.statuses[0]
	if len(f.statuses) > 1 {
		f.statuses = f.statuses[1:]
	}
	f.mutex.Unlock()
	f.w.log.add(f.w, "", "· Status of %q: %s", token, state)
	if state == "error" {
		return plan.Status{}, errors.New("the provisioner does not answer")
	}
	s := plan.Status{State: plan.State(state), Message: "no quota", Metadata: map[string]lumigl.Value{}}
	for key := range strings.FieldsSeq(token) {
		arn := lumigl.TextOf(fmt.Sprintf("made of %s", key))
		if f.secret {
			arn = lumigl.ObjectOf(lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: arn})
		}
		s.Metadata[key] = lumigl.ObjectOf(lumigl.Member{Key: "arn", Value: arn})
	}
	return s, nil
}
