package lumi_test

import (
	"context"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// group has what cidlc generates for the option equal=.
type group struct {
	Name   string
	Policy *string
	Owner  *string
	Rules  []rule
	Hosts  map[string]string
	Tree   *rule
}

func (g *group) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &g.Name, lumi.String, lumi.Replaces)
	lumi.Optional(p, "policy", &g.Policy, lumi.With(lumi.String, lumi.Equal("json"), lumi.Was("document")), lumi.Replaces)
	lumi.Optional(p, "owner", &g.Owner, lumi.With(lumi.String, lumi.Pattern("^[a-z]+$"), lumi.Equal("caseless")))
	lumi.Nilable(p, "rules", &g.Rules, lumi.With(lumi.List(lumi.Struct[*rule]()), lumi.Equal("set")), lumi.Replaces)
	lumi.Nilable(p, "hosts", &g.Hosts, lumi.Map(lumi.With(lumi.String, lumi.Equal("caseless"))))
	lumi.Optional(p, "tree", &g.Tree, lumi.Struct[*rule]())
}

type rule struct {
	Port  string
	Inner []rule
}

func (r *rule) Lumi(p *lumi.Props) {
	lumi.Required(p, "port", &r.Port, lumi.With(lumi.String, lumi.Equal("decimal")))
	lumi.Nilable(p, "inner", &r.Inner, lumi.With(lumi.List(lumi.Struct[*rule]()), lumi.Equal("set")))
}

type groupState = lumi.State[*group]

type groupOps struct {
	inspect func(want *groupState, diff *lumi.Diff)
	update  func(want *groupState)
}

func (groupOps) Check(context.Context, *groupState) error { return nil }

func (groupOps) Create(context.Context, *groupState) (lumi.ID, error) { return "id", nil }

func (groupOps) Get(context.Context, lumi.ID, *groupState) (*group, error) {
	return nil, lumi.ErrNotFound
}

func (o groupOps) InspectChange(_ context.Context, _, want *groupState, diff *lumi.Diff) error {
	o.inspect(want, diff)
	return nil
}

func (o groupOps) Update(_ context.Context, _, want *groupState, _ *lumi.Diff) error {
	o.update(want)
	return nil
}

func (groupOps) Delete(context.Context, *groupState) error { return nil }

func (o groupOps) provider() *lumi.Provider {
	p := lumi.NewNamedProvider[*group]("shop:index:Group", func() *group { return new(group) }, o)
	return &p
}

func TestEqualIsNoChange(t *testing.T) {
	const secret = `{"$sig": "$secret", "value": "{\"a\":1}"}`
	for _, test := range []struct{ old, new, changes, kept string }{
		{`"policy": "{\"a\":1}"`, `"policy": "{ \"a\": 1.0 }"`, "", `"policy": "{\"a\":1}"`},
		{`"document": "{\"a\":1}"`, `"policy": "{ \"a\": 1.0 }"`, "", `"policy": "{\"a\":1}"`},
		{`"policy": "{\"a\":1}"`, `"policy": "{\"a\": 2}"`, "~ policy: \"{\\\"a\\\":1}\" -> \"{\\\"a\\\": 2}\" (replaces)\n", `"policy": "{\"a\": 2}"`},
		{`"policy": ` + secret, `"policy": "{ \"a\": 1.0 }"`, "", `"policy": ` + secret},
		{`"policy": "{\"a\":1}"`, `"policy": {"$sig": "$secret", "value": "{ \"a\": 1}"}`, "", `"policy": ` + secret},
		{`"policy": "{\"a\":1}"`, `"policy": "$unknown"`, "~ policy: \"{\\\"a\\\":1}\" -> (not known yet) (replaces)\n", `"policy": "$unknown"`},
		{`"policy": "1"`, ``, "- policy: \"1\" (replaces)\n", ``},
		{`"rules": [{"port": "1"}, {"port": "2"}]`, `"rules": [{"port": "2.0"}, {"port": "1"}]`, "", `"rules": [{"port": "1"}, {"port": "2"}]`},
		{`"rules": [{"port": "1"}, {"port": "2"}]`, `"rules": [{"port": "2"}, {"port": "$unknown"}]`,
			"~ rules[0].port: \"1\" -> \"2\" (replaces)\n~ rules[1].port: \"2\" -> (not known yet) (replaces)\n",
			`"rules": [{"port": "2"}, {"port": "$unknown"}]`},
		{`"rules": [{"port": "1"}]`, `"rules": [{"port": "1"}, {"port": "1.0"}]`, "", `"rules": [{"port": "1"}]`},
		{`"rules": [{"port": "1"}]`, `"rules": [{"port": "1.0"}, {"port": "2"}]`,
			"~ rules[0].port: \"1\" -> \"1.0\" (replaces)\n+ rules[1]: {\"port\":\"2\"} (replaces)\n", `"rules": [{"port": "1.0"}, {"port": "2"}]`},
		{`"hosts": {"a": "X", "b": "Y"}`, `"hosts": {"a": "x", "b": "z"}`, "~ hosts.b: \"Y\" -> \"z\"\n", `"hosts": {"a": "X", "b": "z"}`},
		{`"tree": {"port": "1", "inner": [{"port": "2"}, {"port": "3"}]}`, `"tree": {"port": "9", "inner": [{"port": "3"}, {"port": "2"}]}`,
			"~ tree.port: \"1\" -> \"9\"\n", `"tree": {"port": "9", "inner": [{"port": "2"}, {"port": "3"}]}`},
		{`"owner": "me"`, `"owner": "me"`, "", `"owner": "me"`},
		{`"owner": "ME"`, `"owner": "me"`, "~ owner: \"ME\" -> \"me\"\n", `"owner": "me"`}, // the old value is no longer valid
		{`"owner": "ME", "policy": "1"`, `"owner": "me", "policy": "1.0"`, "~ owner: \"ME\" -> \"me\"\n", `"owner": "me", "policy": "1"`},
	} {
		changes, want := "", bag(t, `{`+cut(test.new)+`"name": "n"}`)
		kept, old := bag(t, `{`+cut(test.kept)+`"name": "n"}`), bag(t, `{`+cut(test.old)+`"name": "n"}`)
		var seen lumi.Bag
		p := groupOps{
			inspect: func(want *groupState, diff *lumi.Diff) {
				changes, seen = diff.String(), must.Get(lumi.Encode(want.Properties))(t)
			},
			update: func(want *groupState) { seen = must.Get(lumi.Encode(want.Properties))(t) },
		}.provider()
		resp := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: old, New: want}))(t)
		expect.Equal(t, test.changes, changes, test)
		if !same(kept, resp.Properties) {
			t.Errorf("%v: kept %v", test, resp.Properties)
		}
		if test.changes == "" && seen.Get("policy") != kept.Get("policy") {
			t.Errorf("%v: the author saw %v", test, seen)
		}
		if test.changes == "" {
			must.Get(p.Update(t.Context(), &lumi.UpdateRequest{ID: "id", Old: old, New: want}))(t)
			if seen.Get("policy") != kept.Get("policy") {
				t.Errorf("%v: Update saw %v", test, seen)
			}
		}
	}
}

func TestDescribeEquality(t *testing.T) {
	all := map[string]*lumi.Equality{}
	for _, p := range lumi.Describe(new(group)) {
		all[p.Name] = p.Equality
	}
	tree := all["tree"]
	if all["name"] != nil || all["policy"].As != "json" || all["hosts"].Elements.As != "caseless" || all["rules"].As != "set" ||
		tree.Properties["port"].As != "decimal" || tree.Properties["inner"].Elements.Properties["inner"] != tree.Properties["inner"] {
		t.Errorf("got %+v", all)
	}
}

func TestUniqueAsEqual(t *testing.T) {
	for _, test := range []struct{ values, want string }{
		{`["a", "b"]`, ""},
		{`["a", "A"]`, "values: must have no equal elements, but [0] and [1] are equal"},
		{`["é", {"$sig": "$secret", "value": "B"}, "É", "b"]`, "values: must have no equal elements, but [1] and [3] are equal"},
	} {
		got := ""
		if err := lumi.Decode(bag(t, `{"values": `+test.values+`}`), new(names)); err != nil {
			got = err.Error()
		}
		expect.Equal(t, test.want, got, test.values)
	}
}

type names struct{ values []string }

func (n *names) Lumi(p *lumi.Props) {
	lumi.Required(p, "values", &n.values, lumi.With(lumi.List(lumi.With(lumi.String, lumi.Equal("caseless"))), lumi.Unique(), lumi.Equal("set")))
}
