package lumi_test

import (
	"context"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// site has what cidlc generates for computed properties.
type site struct {
	Name string
	Zone *string
	Tags map[string]string
	Size *float64
	ARN  *string
}

func (s *site) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &s.Name, lumi.String, lumi.Replaces)
	lumi.Optional(p, "zone", &s.Zone, lumi.With(lumi.String, lumi.Was("place")), lumi.Computed, lumi.Replaces)
	lumi.Nilable(p, "tags", &s.Tags, lumi.Map(lumi.String), lumi.Computed)
	lumi.Optional(p, "size", &s.Size, lumi.Number)
	lumi.Optional(p, "arn", &s.ARN, lumi.String, lumi.Out)
}

type siteState = lumi.State[*site]

// siteOps calls its functions, where set.
type siteOps struct {
	inspect func(want *siteState, diff *lumi.Diff)
	set     func(want *siteState) error // in Create and Update
}

func (siteOps) Check(context.Context, *siteState) error { return nil }

func (o siteOps) Create(_ context.Context, want *siteState) (lumi.ID, error) {
	return "id", o.set(want)
}

func (siteOps) Get(context.Context, lumi.ID, *siteState) (*site, error) { return nil, lumi.ErrNotFound }

func (o siteOps) InspectChange(_ context.Context, _, want *siteState, diff *lumi.Diff) error {
	o.inspect(want, diff)
	return nil
}

func (o siteOps) Update(_ context.Context, _, want *siteState, _ *lumi.Diff) error {
	return o.set(want)
}

func (siteOps) Delete(context.Context, *siteState) error { return nil }

func (o siteOps) provider() *lumi.Provider {
	p := lumi.NewNamedProvider[*site]("shop:index:Site", func() *site { return new(site) }, o)
	return &p
}

func TestComputedIsNoChange(t *testing.T) {
	for _, test := range []struct{ old, new, changes, zone string }{
		{`"zone": "a", "tags": {"x": "y"}`, ``, "", "a"},
		{`"zone": "a", "size": 1`, `"size": 2`, "~ size: 1 -> 2\n", "a"},
		{`"zone": "a"`, `"zone": "a"`, "", "a"},
		{`"zone": "a"`, `"zone": null`, "", "a"},
		{`"zone": "a"`, `"zone": {"$sig": "$secret", "value": null}`, "", "a"},
		{`"zone": "a"`, `"zone": "b"`, "~ zone: \"a\" -> \"b\" (replaces)\n", "b"},
		{`"zone": "a"`, `"zone": "$unknown"`, "~ zone: \"a\" -> (not known yet) (replaces)\n", ""},
		{``, `"zone": "a"`, "+ zone: \"a\" (replaces)\n", "a"},
		{`"tags": {"x": "y"}`, `"tags": {}`, "- tags.x: \"y\"\n", ""},
		{`"place": "a"`, ``, "", "a"}, // the former name
		{`"place": "a"`, `"zone": "b"`, "~ zone: \"a\" -> \"b\" (replaces)\n", "b"},
		{`"zone": {"$sig": "$secret", "value": "a"}`, ``, "", "a"},
		{`"size": 1`, ``, "- size: 1\n", ""},
	} {
		changes, zone := "", ""
		p := siteOps{inspect: func(want *siteState, diff *lumi.Diff) {
			changes = diff.String()
			if want.Properties.Zone != nil {
				zone = *want.Properties.Zone
			}
		}}.provider()
		old, want := bag(t, `{"name": "n", `+cut(test.old)+`"arn": "x"}`), bag(t, `{`+cut(test.new)+`"name": "n"}`)
		resp := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: old, New: want}))(t)
		expect.Equal(t, test.changes, changes, test)
		expect.Equal(t, test.zone, zone, test)
		if !same(want, resp.Properties) {
			t.Errorf("%v: changed the properties to %v", test, resp.Properties)
		}
	}
}

func cut(members string) string {
	if members == "" {
		return ""
	}
	return members + ", "
}

// Create and Update return what the request leaves to the provider, and after a failure, all that the resource has.
func TestComputedResults(t *testing.T) {
	const hidden = `{"$sig": "$secret", "value": "old"}`
	for _, test := range []struct{ old, new, want, failed string }{
		{"", `"size": 1`, `"zone": "chosen", "arn": "x"`, `"zone": "chosen", "arn": "x", "name": "n"`},
		{"", `"zone": "mine", "tags": {}`, `"arn": "x"`, `"zone": "mine", "arn": "x", "name": "n"`},
		{`"zone": "old"`, `"size": 1`, `"zone": "old", "arn": "x"`, `"zone": "old", "arn": "x", "name": "n"`},
		{`"place": ` + hidden, `"size": 1`, `"zone": ` + hidden + `, "arn": "x"`, `"zone": ` + hidden + `, "arn": "x", "name": "n"`},
		{`"zone": "old", "tags": {"a": "b"}`, `"zone": "old", "tags": {"c": "d"}`, `"arn": "x"`,
			`"zone": "old", "tags": {"a": "b"}, "arn": "x", "name": "n"`},
	} {
		for _, failure := range []error{nil, errHalf} {
			p := siteOps{set: func(want *siteState) error {
				if want.Properties.Zone == nil {
					want.Properties.Zone = new("chosen")
				}
				want.Properties.ARN = new("x")
				want.Done("arn")
				return failure
			}}.provider()
			want := bag(t, `{`+test.new+`, "name": "n"}`)
			var got lumi.Bag
			var err error
			if test.old == "" {
				resp, failure := p.Create(t.Context(), &lumi.CreateRequest{Properties: want})
				if err = failure; err == nil {
					got = resp.Properties
				}
			} else {
				resp, failure := p.Update(t.Context(), &lumi.UpdateRequest{ID: "id", Old: bag(t, `{"name": "n", `+test.old+`}`), New: want})
				if err = failure; err == nil {
					got = resp.Properties
				}
			}
			expected := test.want
			if failure != nil {
				got, expected = failed(t, err, "id", "partially done: half way"), test.failed
			}
			if !same(bag(t, "{"+expected+"}"), got) {
				t.Errorf("%v, %v: got %v", test, failure, got)
			}
		}
	}
}
