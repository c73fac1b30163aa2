package run_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/sim"
)

// world is an environment with a simulated cloud and the processes that deploy to it.
type world struct {
	t          *testing.T
	seen       *transitions
	cloud      *sim.Cloud // created by the first command that needs it
	options    sim.Options
	engine     run.Options // options for new processes
	store      *memory.Store
	key        *secret.Key
	processes  map[string]*process
	current    *process
	dead       map[string]bool
	names      map[lumi.ID]string
	fakers     map[string]*faker // by name
	mapping    sync.Map          // name of the faker by type name
	result     atomic.Value      // what the function Latest returns
	simulated  bool              // whether new processes simulate deployments
	renamed    []lumi.Property   // renamed properties of all types
	wanted     []*lumigl.Snapshot
	log        log
	background sync.WaitGroup
}

var simTypes = []sim.Type{
	{Token: "sim:index:Disk", Named: true, Find: true},
	{Token: "sim:index:Key", Named: true},
	{Token: "sim:index:Net", Named: true, Idempotent: true},
	{Token: "sim:index:Zone", Named: true, Idempotent: true, Repeatable: true},
	{Token: "sim:index:Free"},
	{Token: "sim:index:Unique", Named: true, Find: true, Unique: true},
}

func newWorld(t *testing.T, seen *transitions) *world {
	key := secret.NewKey()
	return &world{
		t: t, seen: seen, options: sim.Options{Types: simTypes}, engine: run.Options{Parallelism: 1, Key: key}, store: memory.New(), key: key,
		processes: map[string]*process{}, dead: map[string]bool{}, names: map[lumi.ID]string{}, log: log{start: time.Now()},
	}
}

// Provider returns the provider of a type in the simulated cloud.
func (w *world) Provider(_ context.Context, t tokens.Type, configuration lumigl.Value) (lumi.ResourceProvider, string, error) {
	if t.Name() == "Latest" {
		return latest{w: w}, "1.0.0", nil
	}
	p := w.cloud.Provider(t)
	if p == nil {
		return nil, "", fmt.Errorf("no provider for %s", t)
	}
	return &configured{p, w, configuration}, "1.0.0", nil
}

// configured is a provider that logs the configured account in deletions.
type configured struct {
	*lumi.Provider
	w             *world
	configuration lumigl.Value
}

// Describe implements [lumi.ResourceProvider].
func (c *configured) Describe(ctx context.Context) (*lumi.Description, error) {
	d, err := c.Provider.Describe(ctx)
	return &lumi.Description{
		Type: d.Type, Named: d.Named, CanFind: d.CanFind, IdempotentCreate: d.IdempotentCreate,
		RepeatableChange: d.RepeatableChange, Properties: slices.Concat(d.Properties, c.w.renamed),
	}, err
}

// Delete implements [lumi.ResourceProvider].
func (c *configured) Delete(ctx context.Context, r *lumi.DeleteRequest) (*lumi.DeleteResponse, error) {
	if account, ok := c.configuration.Get("account").Text(); ok {
		c.w.log.add(c.w, r.URN.Name(), "· in the account %s:", account)
	}
	return c.Provider.Delete(ctx, r)
}

// process is an executor with its own connection to the store.
type process struct {
	store.Store
	w      *world
	name   string
	engine *environment.Environment
	mutex  sync.Mutex
	writes int
	// crash is the row change at which the process is killed, or "". The change is still made unless lost is set.
	crash   string
	lost    bool
	crashed bool
	stalled chan struct{} // closed when the process continues, or nil
	// shows is set if row changes are included in the story.
	shows bool
}

var errCrashed = errors.New("the process has ended")

// as makes the named process the current one. It starts the process if necessary.
func (w *world) as(name string) {
	if w.cloud == nil {
		w.cloud = sim.New(w.options)
		if err := environment.Add(w.t.Context(), w.store, store.Environment{Name: "dev", Lineage: "lineage"}); err != nil {
			w.t.Fatal(err)
		}
	}
	p := w.processes[name]
	if p == nil {
		p = &process{Store: w.store, w: w, name: name}
		o := w.engine
		o.Store, o.Environment, o.Providers, o.Owner, o.Events = p, "dev", always(w), name, w.event
		o.IsDead = func(owner string) bool { return w.dead[owner] }
		if len(w.fakers) > 0 {
			o.Provisioners, o.Provisioner = map[string]plan.Provisioner{}, w.handler
		}
		for name, f := range w.fakers {
			if o.Provisioners[name] = f; w.simulated {
				o.Provisioners[name] = &provision.SimulatedProvisioner{Desired: func() []*lumigl.Snapshot { return w.wanted }}
				o.Providers = always(provision.Simulate(w))
			}
		}
		p.engine = environment.New(o)
		w.processes[name] = p
	}
	w.current = p
}

// command disconnects, stalls, or resumes the process.
func (p *process) command(what string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch what {
	case "cut":
		p.crashed = true
	case "stall":
		p.stalled = make(chan struct{})
	case "resume":
		close(p.stalled)
		p.stalled = nil
	}
}

// Read implements [store.Store].
func (p *process) Read(ctx context.Context, f func(store.Tx) error) error {
	p.mutex.Lock()
	crashed := p.crashed
	p.mutex.Unlock()
	if crashed {
		return errCrashed
	}
	return p.Store.Read(ctx, f)
}

// Write implements [store.Store]. It records changes, and ends the process at the row change specified by the story.
func (p *process) Write(ctx context.Context, environment string, f func(store.Tx) error) error {
	if p.mutex.Lock(); p.stalled != nil {
		stalled := p.stalled
		p.mutex.Unlock()
		<-stalled
		p.mutex.Lock()
	}
	defer p.mutex.Unlock()
	if p.crashed {
		return errCrashed
	}
	var before, after map[string]row
	err := p.Store.Write(ctx, environment, func(tx store.Tx) error {
		before = rowsOf(tx)
		if err := f(tx); err != nil {
			return err
		}
		after = rowsOf(tx)
		for key, now := range after {
			isIt := p.crash != "" && now != before[key] && strings.Contains(p.w.short(now.text), p.crash)
			p.crashed = p.crashed || isIt
		}
		if p.crashed && p.lost {
			return errCrashed
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.writes++
	for _, key := range slices.Sorted(maps.Keys(after)) {
		was, now := before[key], after[key]
		switch {
		case was == now:
			continue
		case now.isStep && was.state == "" && now.state != store.Started: // The step was moved from another deployment.
		case now.isStep:
			p.w.seen.note(&p.w.seen.steps, cmp.Or(was.state, store.Planned), now.state)
		case was.state != "" && (was.state != now.state || was.fence != now.fence):
			p.w.seen.note(&p.w.seen.deployments, was.state, now.state)
		}
		if p.shows {
			p.w.log.add(p.w, "", "tx %d of %s: %s", p.writes, p.name, now.text)
		}
	}
	if p.crashed {
		return errCrashed
	}
	return nil
}

// row is a row of the store. Rows of tasks have no state.
type row struct {
	text   string
	state  store.State
	fence  int64
	isStep bool
}

func rowsOf(tx store.Tx) map[string]row {
	rows := map[string]row{}
	deployments, _ := tx.Queue("dev")
	history, _ := tx.History("dev", 0, 1000)
	for _, d := range append(deployments, history...) {
		name, key := nameOf(d), fmt.Sprint(d.ID)
		text := fmt.Sprintf("%s %s, fence %d", name, d.State, d.Fence)
		if d.Owner != "" {
			text += " of " + d.Owner
		}
		if d.Abort {
			text += ", is to abort"
		}
		if !d.Expires.IsZero() && !d.State.IsFinal() {
			text += ", lease until " + d.Expires.Format(time.TimeOnly)
		}
		rows[key] = row{text: text, state: d.State, fence: d.Fence}
		tasks, _ := tx.Tasks(d.ID)
		for _, task := range tasks {
			text := fmt.Sprintf("%s task %d %s of %s %s", name, task.Number, task.State, task.Provisioner, task.Token)
			rows[fmt.Sprint(key, " task ", task.Number)] = row{text: strings.TrimSpace(text)}
		}
		steps, _ := tx.Steps(d.ID)
		for _, s := range steps {
			text := fmt.Sprintf("%s step %d %s %s %s, deadline %s", name, s.Number, s.Kind, s.URN, s.State, s.Deadline.Format(time.TimeOnly))
			rows[fmt.Sprint(key, " step ", s.Number)] = row{text: text, state: s.State, isStep: true}
		}
	}
	return rows
}

func nameOf(d store.Job) string {
	if d.Number == 0 {
		return fmt.Sprintf("Cleanup[%s]", d.Module)
	}
	return fmt.Sprintf("%s[%d]", d.Module, d.Number)
}

// hasRow reports whether the step of an event is stored.
func (w *world) hasRow(e store.Event) (found bool) {
	_ = w.store.Read(context.Background(), func(tx store.Tx) error {
		rows, err := tx.Steps(e.Deployment)
		found = slices.ContainsFunc(rows, func(s store.Step) bool { return s.URN == e.URN && s.Kind == e.Kind })
		return err
	})
	return found
}

var (
	resourceURN = regexp.MustCompile(`urn:lumi:dev::\w+:index::sim:index:(\w+)::([\w#]+)`)
	reference   = regexp.MustCompile(`@([\w#]+)(?:([.:])(\w+))?`)
)

// short replaces URNs with short names and IDs with names.
func (w *world) short(text string) string {
	text = resourceURN.ReplaceAllString(text, "$1/$2")
	if w.cloud != nil {
		for _, r := range w.cloud.Resources() {
			w.names[r.ID] = r.URN.Name()
		}
	}
	return text
}

// urnOf returns the URN of a resource such as "Disk/a".
func urnOf(module, resource string) string {
	kind, name, _ := strings.Cut(resource, "/")
	return fmt.Sprintf("urn:lumi:dev::%s:index::sim:index:%s::%s", module, kind, name)
}

// desired parses desired state with one resource per line, such as "Disk/a size=1 on=[@b] at=@b.arn !protect=true".
// @c:x is the value x of module c, join:x@b.arn concatenates a text and an output, and $a is the ID of a resource.
// Other lines are "provides x=@a.arn", "uses c:x", `uses c:x where value > 1`, and "account NAME".
func (w *world) desired(module, program string) *lumigl.Snapshot {
	vertex := func(u, typ, options string, properties ...string) string {
		return fmt.Sprintf(`%q: {"type": %q, "options": {%s}, "properties": {%s}}`, u, typ, options, strings.Join(properties, ", "))
	}
	var resources, provides []string
	urns, uses, account := map[string]string{}, map[string][]string{}, ""
	for line := range strings.Lines(program) {
		fields := strings.Fields(line)
		kind, name, _ := strings.Cut(fields[0], "/")
		switch kind {
		case "account":
			account = fmt.Sprintf(`, "configuration": {"sim": {"account": %q}}`, fields[1])
		case "provides":
			key, v, _ := strings.Cut(fields[1], "=")
			provides = append(provides, fmt.Sprintf(`%q: {"type": "any", "value": %s}`, key, w.value(v, urns)))
		case "uses":
			of, key, _ := strings.Cut(fields[1], ":")
			where := ""
			if len(fields) > 3 {
				where = fmt.Sprintf(`, "where": %q`, strings.Join(fields[3:], " "))
			}
			uses[of] = append(uses[of], fmt.Sprintf(`%q: {"type": "any"%s}`, key, where))
		default:
			urns[name] = urnOf(module, fields[0])
			options, properties := w.members(fields, urns)
			resources = append(resources, vertex(urns[name], "sim:index:"+kind, options, properties))
		}
	}
	moduleVertex := func(name, key string, all []string) string {
		return vertex(moduleURN(name), "lumi:index:Module", "", fmt.Sprintf("%q: {%s}", key, strings.Join(all, ", ")))
	}
	var all []string
	for _, of := range slices.Sorted(maps.Keys(uses)) {
		all = append(all, moduleVertex(of, "uses", uses[of]))
	}
	if all = append(all, resources...); provides != nil {
		all = append(all, moduleVertex(module, "provides", provides))
	}
	text := fmt.Sprintf(`{"package": %q, "resources": {%s}%s}`, module, strings.Join(all, ",\n"), account)
	s, err := lumigl.ParseSnapshot(text)
	if err != nil {
		w.t.Fatalf("ParseSnapshot(%s): %v", text, err)
	}
	w.wanted = append(w.wanted, s)
	return s
}

// members returns the options and the properties of a resource as members of JSON objects.
func (w *world) members(fields []string, urns map[string]string) (options, properties string) {
	_, name, _ := strings.Cut(fields[0], "/")
	all := map[bool]map[string]string{true: {}, false: {}} // options, properties
	if !strings.HasPrefix(name, "#") && !strings.Contains(strings.Join(fields, " "), "!read") {
		all[false]["name"] = fmt.Sprintf("%q", name)
	}
	for _, f := range fields[1:] {
		key, v, _ := strings.Cut(f, "=")
		option, isOption := strings.CutPrefix(key, "!")
		text := w.value(v, urns)
		switch key {
		case "!aliases":
			text = fmt.Sprintf("[%q]", strings.Replace(urns[name], "::"+name, "::"+v, 1))
		case "password":
			text = fmt.Sprintf(`{%q: %q, "value": %s}`, wire.Signature, wire.Secret, text)
		}
		all[isOption][option] = text
	}
	list := func(members map[string]string) string {
		var list []string
		for _, key := range slices.Sorted(maps.Keys(members)) {
			list = append(list, fmt.Sprintf("%q: %s", key, members[key]))
		}
		return strings.Join(list, ", ")
	}
	return list(all[true]), list(all[false])
}

func (w *world) value(text string, urns map[string]string) string {
	joined, isJoined := strings.CutPrefix(text, "join:")
	unique, isUnique := strings.CutPrefix(text, "unique:")
	switch {
	case isUnique:
		return fmt.Sprintf(`{%q: %q, "uniqueName": %q}`, wire.Signature, wire.Expression, unique)
	case isJoined:
		before, ref, _ := strings.Cut(joined, "@")
		return fmt.Sprintf(`{%q: %q, "interpolate": [%q, %s]}`, wire.Signature, wire.Expression, before, w.value("@"+ref, urns))
	case strings.HasPrefix(text, "$"):
		return fmt.Sprintf("%q", w.id(text))
	case !strings.Contains(text, "@") && json.Valid([]byte(text)):
		return text
	case !strings.Contains(text, "@"):
		return fmt.Sprintf("%q", text)
	}
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		switch m := reference.FindStringSubmatch(ref); m[2] {
		case ":":
			return fmt.Sprintf(`{"#ref": %q, "property": "provides.%s"}`, moduleURN(m[1]), m[3])
		case ".":
			return fmt.Sprintf(`{"#ref": %q, "property": %q}`, urns[m[1]], m[3])
		default:
			return fmt.Sprintf(`{"#ref": %q}`, urns[m[1]])
		}
	})
}

func moduleURN(name string) string {
	return fmt.Sprintf("urn:lumi:dev::%s:index::lumi:index:Module::%[1]s", name)
}

// ending returns the final state for the end of a story.
func (w *world) ending() string {
	var b strings.Builder
	for _, r := range w.cloud.Resources() {
		w.names[r.ID] = r.URN.Name()
		fmt.Fprintf(&b, "= %s/%s", r.Type.Name(), r.Inputs["name"])
		for _, key := range slices.Sorted(maps.Keys(r.Inputs)) {
			if key != "name" {
				fmt.Fprintf(&b, " %s=%v", key, r.Inputs[key])
			}
		}
		b.WriteString("\n")
	}
	_ = w.store.Read(w.t.Context(), func(tx store.Tx) error {
		rows, err := tx.Queue("dev")
		for _, d := range rows {
			fmt.Fprintf(&b, "= %s %s\n", nameOf(d), d.State)
		}
		return err
	})
	reader := environment.New(run.Options{Store: w.store, Environment: "dev", Key: w.key})
	g, err := reader.Graph(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := g.Check(); err != nil {
		fmt.Fprintf(&b, "= invalid: %v\n", err)
	}
	writeGraph(&b, g)
	for _, v := range w.cloud.Violations() {
		fmt.Fprintf(&b, "= violation: %s\n", w.short(v))
	}
	return w.short(b.String())
}

// writeGraph writes the versions of a graph, one per line. A star marks the newest version of each module.
func writeGraph(b *strings.Builder, g *graph.Graph) {
	for _, module := range g.Modules() {
		for _, v := range g.Versions(module) {
			mark := map[bool]string{v == g.Newest(module): "*", v.Partial: " partial"}[true]
			fmt.Fprintf(b, "= %s%s", v, mark)
			for r := range v.Resources() {
				fmt.Fprintf(b, " %s:%d", r.URN.Name(), r.Deployment)
				if len(r.Drifted) > 0 {
					fmt.Fprintf(b, " drifted %v", r.Drifted)
				}
			}
			for _, e := range v.Uses {
				fmt.Fprintf(b, " %s→%s", e.Name, e.To)
			}
			b.WriteString("\n")
		}
		for _, p := range g.Pending(module) {
			fmt.Fprintf(b, "= pending %s\n", p.Resource.Key())
		}
	}
}

func planOne(ctx context.Context, e *environment.Environment, r run.Request) (run.Planned, error) {
	all, err := e.Plan(ctx, r)
	if err != nil {
		return run.Planned{}, err
	}
	return all[0], nil
}

func queueOne(ctx context.Context, e *environment.Environment, p run.Planned) (store.Job, error) {
	all, err := e.Queue(ctx, p)
	if err != nil {
		return store.Job{}, err
	}
	return all[0], nil
}

// always returns a function that returns the same providers for every module.
func always(p provision.Providers) func(string) provision.Providers {
	return func(string) provision.Providers { return p }
}
