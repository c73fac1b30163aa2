package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// subnet is what cidlc generates for a resource with the options computed, equal=, and fixed.
type subnet struct {
	Name    string
	Zone    *string
	Gateway *string
	Size    float64
	Hosts   *float64
	Policy  *string
	Rules   []string
	ARN     *string
}

func (s *subnet) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &s.Name, lumi.String, lumi.Replaces)
	lumi.Optional(p, "zone", &s.Zone, lumi.String, lumi.Computed, lumi.Replaces)
	lumi.Optional(p, "gateway", &s.Gateway, lumi.String, lumi.Computed)
	lumi.Required(p, "size", &s.Size, lumi.Number)
	lumi.Optional(p, "hosts", &s.Hosts, lumi.Number, lumi.Out)
	lumi.Optional(p, "policy", &s.Policy, lumi.With(lumi.String, lumi.Equal("json")), lumi.Replaces)
	lumi.Nilable(p, "rules", &s.Rules, lumi.With(lumi.List(lumi.With(lumi.String, lumi.Equal("caseless"))), lumi.Equal("set")))
	lumi.Optional(p, "arn", &s.ARN, lumi.String, lumi.Out, lumi.Fixed)
}

// subnets is a cloud of subnets. It has a zone for each one without a zone.
type subnets struct {
	made map[lumi.ID]subnet
	next int
	arn  string // set by Update
}

func (*subnets) Check(context.Context, *lumi.State[*subnet]) error { return nil }

func (c *subnets) Create(_ context.Context, want *lumi.State[*subnet]) (lumi.ID, error) {
	c.next++
	if want.Properties.Zone == nil {
		want.Properties.Zone = new(fmt.Sprint("zone-", c.next))
	}
	id := lumi.ID(fmt.Sprint("subnet-", c.next))
	want.Properties.ARN = new("arn:" + string(id))
	return id, c.put(id, want.Properties)
}

func (c *subnets) put(id lumi.ID, s *subnet) error {
	if s.Gateway == nil {
		s.Gateway = new("gateway of " + string(id))
	}
	s.Hosts = new(s.Size)
	c.made[id] = *s
	return nil
}

func (c *subnets) Get(_ context.Context, id lumi.ID, _ *lumi.State[*subnet]) (*subnet, error) {
	s, ok := c.made[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &s, nil
}

func (c *subnets) Update(_ context.Context, old, want *lumi.State[*subnet], _ *lumi.Diff) error {
	if c.arn != "" {
		want.Properties.ARN = &c.arn
	}
	return c.put(old.ID, want.Properties)
}

func (c *subnets) Delete(_ context.Context, old *lumi.State[*subnet]) error {
	delete(c.made, old.ID)
	return nil
}

func (c *subnets) Provider(context.Context, tokens.Type, lumigl.Value) (lumi.ResourceProvider, string, error) {
	p := lumi.NewNamedProvider[*subnet]("sim:net:Subnet", func() *subnet { return new(subnet) }, c)
	return &p, "", nil
}

// deployment deploys programs to an environment and shows the plans. A program is the properties of the subnet "a" and
// those of "b", which may refer to "a".
type deployment struct {
	*testing.T
	engine *environment.Environment
}

func newDeployment(t *testing.T, p provision.Providers) deployment {
	o := run.Options{Store: memory.New(), Environment: "dev", Key: secret.NewKey(), Providers: always(p)}
	must.Do(t, environment.Add(t.Context(), o.Store, store.Environment{Name: "dev"}))
	return deployment{t, environment.New(o)}
}

// does expects a plan with the given steps and deploys it.
func (d deployment) does(a, b string, steps ...string) {
	d.Helper()
	if job := d.runs(a, b, steps...); job.State != store.Done {
		d.Errorf("%s: %s", job.State, job.Message)
	}
}

// runs is like does, but lets the deployment fail.
func (d deployment) runs(a, b string, steps ...string) store.Job {
	d.Helper()
	p := must.Get(planOne(d.Context(), d.engine, run.Request{Desired: d.desired(a, b)}))(d.T)
	var planned []string
	for _, s := range p.Steps {
		planned = append(planned, strings.TrimSpace(s.Kind.String()+" "+s.URN.Name()+" "+strings.Join(s.Reasons, ", ")))
	}
	expect.Equal(d, strings.Join(steps, "\n"), strings.Join(planned, "\n"))
	return must.Get(d.engine.Run(d.Context(), must.Get(queueOne(d.Context(), d.engine, p))(d.T).ID))(d.T)
}

func (d deployment) desired(a, b string) *lumigl.Snapshot {
	const resource = `"urn:lumi:dev::m:index::sim:net:Subnet::%[1]s": {"type": "sim:net:Subnet", "options": {%[3]s}, "properties": {"name": %[1]q, %[2]s}}`
	properties, options, _ := strings.Cut(a, ";")
	all := fmt.Sprintf(resource, "a", properties, options)
	if b != "" {
		of := `{"#ref": "urn:lumi:dev::m:index::sim:net:Subnet::a", "property": "%s"}`
		b = strings.NewReplacer("@arn", fmt.Sprintf(of, "arn"), "@zone", fmt.Sprintf(of, "zone"), "@gateway", fmt.Sprintf(of, "gateway")).Replace(b)
		all += ", " + fmt.Sprintf(resource, "b", b, "")
	}
	return must.Get(lumigl.ParseSnapshot(`{"package": "m", "resources": {` + all + `}}`))(d.T)
}

// holds expects the zones and gateways of the deployed subnets.
func (d deployment) holds(c *subnets, want ...string) {
	d.Helper()
	var got []string
	for i := range c.next + 1 {
		if s, ok := c.made[lumi.ID(fmt.Sprint("subnet-", i))]; ok {
			got = append(got, fmt.Sprintf("%s in %s through %s", s.Name, *s.Zone, *s.Gateway))
		}
	}
	expect.Equal(d, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

func TestComputed(t *testing.T) {
	c := &subnets{made: map[lumi.ID]subnet{}}
	d := newDeployment(t, c)
	const b = `"size": 1, "zone": @zone, "gateway": @gateway`
	d.does(`"size": 1`, b, "create a", "create b")
	d.holds(c, "a in zone-1 through gateway of subnet-1", "b in zone-1 through gateway of subnet-1")
	d.does(`"size": 1`, b, "same a", "same b")
	d.does(`"size": 2`, b, "update a", "same b") // the plan knows the zone
	d.does(`"size": 2, "zone": "zone-1"`, b, "same a", "same b")
	d.does(`"size": 2, "gateway": "mine"`, b, "update a", "update b")
	d.holds(c, "a in zone-1 through mine", "b in zone-1 through mine")
	d.does(`"size": 3`, b, "update a", "same b") // keeps what the program set before
	d.does(`"size": 3, "zone": "zone-9"`, b, "delete b", "delete a",
		"replace a zone cannot change, it is deleted first, since both have the same name",
		"replace b zone cannot change and is not known yet, it is deleted first, since both have the same name")
	d.holds(c, "a in zone-9 through gateway of subnet-3", "b in zone-9 through gateway of subnet-3")
	d.does(`"size": 3`, b, "same a", "same b")
	d.does(`"size": 4`, b, "update a", "same b")
	d.holds(c, "a in zone-9 through gateway of subnet-3", "b in zone-9 through gateway of subnet-3")
}

// An imported resource has what the cloud chose, and must have what the program sets.
func TestComputedImport(t *testing.T) {
	c := &subnets{made: map[lumi.ID]subnet{"subnet-1": {Name: "a", Zone: new("zone-7"), Gateway: new("g"), Size: 1, Hosts: new(1.0)}}}
	d := newDeployment(t, c)
	c.next = 1
	d.does(`"size": 1; "import": "subnet-1"`, `"size": 1, "zone": @zone`, "import a", "create b")
	d.holds(c, "a in zone-7 through g", "b in zone-7 through gateway of subnet-2")
	d.does(`"size": 2; "import": "subnet-1"`, `"size": 1, "zone": @zone`, "update a", "same b")
	d.holds(c, "a in zone-7 through g", "b in zone-7 through gateway of subnet-2")

	d = newDeployment(t, c)
	_, err := planOne(t.Context(), d.engine, run.Request{Desired: d.desired(`"size": 2, "zone": "zone-8"; "import": "subnet-1"`, "")})
	expect.Equal(t, `urn:lumi:dev::m:index::sim:net:Subnet::a: "subnet-1" differs from the program: change the program to match the existing resource, and update the resource later
  ~ zone: "zone-7" → "zone-8"`, fmt.Sprint(err))
}

// A simulation makes up what the program leaves to the provider, and keeps it.
func TestComputedSimulated(t *testing.T) {
	d := newDeployment(t, provision.Simulate(&subnets{}))
	const b = `"size": 1, "zone": @zone`
	d.does(`"size": 1, "gateway": "mine"`, b, "create a", "create b")
	d.does(`"size": 2`, b, "update a", "same b")
	g := must.Get(d.engine.Graph(t.Context()))(t)
	for name, want := range map[string]string{"zone": "simulated-a-zone", "gateway": "mine"} {
		v, _ := g.Newest("m").Resource("urn:lumi:dev::m:index::sim:net:Subnet::a").Output(name)
		got, _ := v.Text()
		expect.Equal(t, want, got, name)
	}
}

// The zone of a subnet cannot change, so b would be replaced if the ARN of a were unknown.
func TestFixed(t *testing.T) {
	c := &subnets{made: map[lumi.ID]subnet{}}
	d := newDeployment(t, c)
	const b = `"size": 1, "zone": @arn`
	d.does(`"size": 1`, b, "create a", "create b")
	d.does(`"size": 2`, b, "update a", "same b")
	c.arn = "arn:other"
	job := d.runs(`"size": 3`, b, "update a", "same b")
	expect.Equal(t, `urn:lumi:dev::m:index::sim:net:Subnet::a: the provider returned an invalid result: `+
		`arn: is fixed, but Update changed it from "arn:subnet-1" to "arn:other"`, job.Message)
	c.arn = ""
	d.does(`"size": 3`, b, "same a", "same b") // The update took effect, and the stored ARN stayed.
	d.does(`"size": 3, "zone": "z"`, b, "delete b", "delete a",
		"replace a zone cannot change, it is deleted first, since both have the same name",
		"replace b zone cannot change and is not known yet, it is deleted first, since both have the same name")
	d.holds(c, "a in z through gateway of subnet-3", "b in arn:subnet-3 through gateway of subnet-4")
}

func TestEqual(t *testing.T) {
	c := &subnets{made: map[lumi.ID]subnet{}}
	d := newDeployment(t, c)
	d.does(`"size": 1, "policy": "{\"a\": 1}", "rules": ["x", "y"]`, "", "create a")
	d.does(`"size": 1, "policy": "{ \"a\": 1.0 }", "rules": ["Y", "x"]`, "", "same a")
	d.does(`"size": 1, "policy": "{ \"a\": 1.0 }", "rules": ["Y", "x"]`, "", "same a")
	d.does(`"size": 2, "policy": "{\"a\":1}", "rules": ["y", "X"]`, "", "update a")
	kept := c.made["subnet-1"]
	expect.Equal(t, `{"a": 1}`, *kept.Policy)
	expect.Equal(t, []string{"x", "y"}, kept.Rules)
	d.does(`"size": 2, "policy": "{\"a\":1}", "rules": ["z"]`, "", "update a")
	d.does(`"size": 2, "policy": "{\"a\":2}", "rules": ["Z"]`, "", "delete a", "replace a policy cannot change, it is deleted first, since both have the same name")
	made := c.made["subnet-2"]
	expect.Equal(t, `{"a":2}`, *made.Policy) // as the program spells it
	expect.Equal(t, []string{"Z"}, made.Rules)
}
