package lumi_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/bags"
	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// link is a resource whose IDL has changed: ip was renamed to address, id to arn, the title of an end to label, and note, which
// the IDL says, to comment; endpoint, such as "example.com:80", was split into host and port; and open was added.
type link struct {
	Address string
	Host    *string
	Port    float64
	Open    bool
	Ends    []end
	Comment *string
	ARN     string
}

type end struct{ Label string }

func (l *link) Lumi(p *lumi.Props) {
	lumi.Required(p, "address", &l.Address, lumi.String, lumi.Replaces)
	lumi.Optional(p, "host", &l.Host, lumi.String)
	lumi.Required(p, "port", &l.Port, lumi.Number)
	lumi.Required(p, "open", &l.Open, lumi.Bool, lumi.Replaces)
	lumi.Nilable(p, "ends", &l.Ends, lumi.List(lumi.Struct[*end]()))
	lumi.Optional(p, "comment", &l.Comment, lumi.With(lumi.String, lumi.Was("note")))
	lumi.Required(p, "arn", &l.ARN, lumi.String, lumi.Out)
}

func (e *end) Lumi(p *lumi.Props) { lumi.Required(p, "label", &e.Label, lumi.String) }

const (
	oldLink = `{"ip": "10.0.0.1", "endpoint": "example.com:80", "ends": [{"title": "a"}, {"title": "b"}], "id": "arn:1"}`
	newLink = `{"address": "10.0.0.1", "host": "example.com", "port": 80, "open": false,
		"ends": [{"label": "a"}, {"label": "b"}], "arn": "arn:1"}`
)

// linkOps implements links with a correct Upgrade. Tests implement the other operations.
type linkOps struct {
	upgraded int
	upgrade  func(old *lumi.State[*link], stored lumi.Bag) error
	check    func(want *lumi.State[*link]) error
	get      func(old *lumi.State[*link]) (*link, error)
	inspect  func(old, want *lumi.State[*link], diff *lumi.Diff) error
	update   func(old, want *lumi.State[*link]) error
	delete   func(old *lumi.State[*link]) error
}

func (o *linkOps) Upgrade(_ context.Context, old *lumi.State[*link], stored lumi.Bag) error {
	o.upgraded++
	if o.upgrade != nil {
		return o.upgrade(old, stored)
	}
	n := old.Properties
	if ip, ok := stored.Get("ip").(string); ok {
		n.Address = ip
		old.Done("open") // All links were closed.
	}
	if endpoint, ok := stored.Get("endpoint").(string); ok {
		host, port, _ := strings.Cut(endpoint, ":")
		number, err := strconv.ParseFloat(port, 64)
		if err != nil {
			return fmt.Errorf("endpoint: %w", err)
		}
		n.Host, n.Port = &host, number
	}
	if id, ok := stored.Get("id").(string); ok {
		n.ARN = id
	}
	ends, _ := stored.Get("ends").([]any)
	for i := range n.Ends {
		if title, ok := ends[i].(map[string]any)["title"].(string); ok {
			n.Ends[i].Label = title
		}
	}
	return nil
}

func (o *linkOps) Check(_ context.Context, want *lumi.State[*link]) error {
	if o.check == nil {
		return nil
	}
	return o.check(want)
}

func (o *linkOps) Create(context.Context, *lumi.State[*link]) (lumi.ID, error) { return "l-1", nil }

func (o *linkOps) Get(_ context.Context, _ lumi.ID, old *lumi.State[*link]) (*link, error) {
	return o.get(old)
}

func (o *linkOps) InspectChange(_ context.Context, old, want *lumi.State[*link], diff *lumi.Diff) error {
	if o.inspect == nil {
		return nil
	}
	return o.inspect(old, want, diff)
}

func (o *linkOps) Update(_ context.Context, old, want *lumi.State[*link], _ *lumi.Diff) error {
	return o.update(old, want)
}

func (o *linkOps) Delete(_ context.Context, old *lumi.State[*link]) error {
	if o.delete == nil {
		return nil
	}
	return o.delete(old)
}

func linkProvider(ops *linkOps) *lumi.Provider {
	p := lumi.NewNamedProvider("test::Link", func() *link { return &link{} }, ops)
	return &p
}

func upgradedLink() *link {
	return &link{
		Address: "10.0.0.1", Host: ptr("example.com"), Port: 80, Ends: []end{{Label: "a"}, {Label: "b"}}, ARN: "arn:1",
	}
}

func TestUpgrade(t *testing.T) {
	seen := 0
	see := func(old *link) {
		t.Helper()
		seen++
		expect.Equal(t, upgradedLink(), old)
	}
	ops := &linkOps{
		check: func(want *lumi.State[*link]) error { see(want.Old); return nil },
		get: func(old *lumi.State[*link]) (*link, error) {
			see(old.Properties)
			return old.Properties, nil
		},
		inspect: func(old, want *lumi.State[*link], _ *lumi.Diff) error {
			see(old.Properties)
			if want.Properties.ARN != "arn:1" {
				t.Errorf("the computed property was lost: %+v", want.Properties)
			}
			return nil
		},
		update: func(old, want *lumi.State[*link]) error { see(old.Properties); return nil },
		delete: func(old *lumi.State[*link]) error { see(old.Properties); return nil },
	}
	p := linkProvider(ops)
	old, wanted := bag(t, oldLink), with(t, newLink, `{"arn": null}`)

	must.Get(p.Check(t.Context(), &lumi.CheckRequest{Properties: wanted, Old: old}))(t)
	got, err := p.Get(t.Context(), &lumi.GetRequest{ID: "l-1", Purpose: lumi.Refresh, Old: old})
	if err != nil || !same(bag(t, newLink), got.Properties) {
		t.Errorf("Get = %v, %v, want %s", got, err, newLink)
	}
	inspected, err := p.InspectChange(t.Context(), &lumi.InspectChangeRequest{ID: "l-1", Old: old, New: wanted})
	if err != nil || len(inspected.Changes) > 0 || !same(wanted, inspected.Properties) {
		t.Errorf("InspectChange = %v, %v, want no changes", inspected, err)
	}
	updated, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "l-1", Old: old, New: wanted})
	if err != nil || !same(bag(t, `{"arn": "arn:1"}`), updated.Properties) {
		t.Errorf("Update = %v, %v, want arn:1", updated, err)
	}
	must.Get(p.Delete(t.Context(), &lumi.DeleteRequest{ID: "l-1", Properties: old}))(t)
	if seen != 5 || ops.upgraded != 5 {
		t.Errorf("saw %d links and %d upgrades, want 5 and 5", seen, ops.upgraded)
	}
	if !same(bag(t, oldLink), old) {
		t.Error("a call modified its request, want it unchanged")
	}
}

// Upgrade returns stored properties under the current IDL.
func TestProviderUpgrade(t *testing.T) {
	for _, test := range []struct {
		name         string
		stored, want lumi.Bag
		upgraded     int
	}{
		{"current", bag(t, newLink), bag(t, newLink), 0},
		{"older", bag(t, oldLink), bag(t, newLink), 1},
		{"renamed", with(t, newLink, `{"comment": null, "note": "x"}`), with(t, newLink, `{"comment": "x"}`), 0},
		{"removed", with(t, newLink, `{"gone": 1}`), bag(t, newLink), 1},
		{"another kind", with(t, newLink, `{"host": 5, "open": "no"}`), with(t, newLink, `{"host": null, "open": null}`), 1},
		{"missing", bag(t, `{"address": "a"}`), bag(t, `{"address": "a"}`), 1},
		{"secret", with(t, oldLink, `{"endpoint": {"$sig": "$secret", "value": "example.com:80"}, "ends": null, "id": null}`),
			bag(t, `{"address": {"$sig": "$secret", "value": "10.0.0.1"}, "host": {"$sig": "$secret", "value": "example.com"},
				"port": {"$sig": "$secret", "value": 80}, "open": false}`), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			ops := &linkOps{}
			got, err := linkProvider(ops).Upgrade(t.Context(), test.stored)
			if err != nil || !same(test.want, got) || ops.upgraded != test.upgraded {
				t.Errorf("Upgrade = %v, %v after %d upgrades, want %s after %d", got, err, ops.upgraded, test.want, test.upgraded)
			}
			again, err := linkProvider(ops).Upgrade(t.Context(), got)
			if err != nil || !same(got, again) {
				t.Errorf("second Upgrade = %v, %v, want no change", again, err)
			}
		})
	}
	_, err := linkProvider(&linkOps{}).Upgrade(t.Context(), with(t, oldLink, `{"endpoint": "here"}`))
	if want := `upgrading the stored properties: endpoint: strconv.ParseFloat: parsing "": invalid syntax`; err == nil || err.Error() != want {
		t.Errorf("Upgrade error = %v, want %s", err, want)
	}
}

func TestUpgradeIfNeeded(t *testing.T) {
	tests := []struct {
		name, change string
		want         int
	}{
		{"current", `{}`, 0},
		{"a secret", `{"address": {"$sig": "$secret", "value": "x"}}`, 0},
		{"an optional one absent", `{"host": null, "ends": null}`, 0},
		{"a computed one absent", `{"arn": null}`, 0},
		{"left over", `{"gone": 1}`, 1},
		{"left over, inside", `{"ends": [{"label": "a", "title": "a"}]}`, 1},
		{"missing", `{"open": null}`, 1},
		{"missing, inside", `{"ends": [{}]}`, 1},
		{"another kind", `{"host": 5}`, 1},
		{"another kind, inside", `{"ends": [{"label": 5}]}`, 1},
		{"another kind of element", `{"ends": [5]}`, 1},
		{"another kind, computed", `{"arn": 5}`, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ops := &linkOps{upgrade: func(*lumi.State[*link], lumi.Bag) error { return nil }}
			stored := with(t, newLink, test.change)
			must.Get(linkProvider(ops).Delete(t.Context(), &lumi.DeleteRequest{Properties: stored}))(t)
			if ops.upgraded != test.want {
				t.Errorf("upgraded %d times, want %d", ops.upgraded, test.want)
			}
		})
	}
	left := bag(t, newLink)
	bags.Set(&left, "gone", bag(t, `{"gone": null}`).Struct().Fields["gone"])
	ops := &linkOps{}
	if _, err := linkProvider(ops).Delete(t.Context(), &lumi.DeleteRequest{Properties: left}); err != nil || ops.upgraded > 0 {
		t.Errorf("Delete with a null field = %v after %d upgrades, want nil after 0", err, ops.upgraded)
	}
	// Properties set by a program are never upgraded.
	_, err := linkProvider(ops).Check(t.Context(), &lumi.CheckRequest{Properties: bag(t, oldLink)})
	if !errors.As(err, new(*lumi.InvalidError)) || ops.upgraded > 0 {
		t.Errorf("Check error = %v after %d upgrades, want an *InvalidError after 0", err, ops.upgraded)
	}
	_, err = linkProvider(ops).Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, oldLink)})
	if !errors.As(err, new(*lumi.InvalidError)) || ops.upgraded > 0 {
		t.Errorf("Create error = %v after %d upgrades, want an *InvalidError after 0", err, ops.upgraded)
	}
}

func TestUpgradePartial(t *testing.T) {
	tests := []struct {
		name    string
		stored  string
		upgrade func(old *lumi.State[*link])
		want    []string // expected changes
	}{
		{"nothing", oldLink, func(*lumi.State[*link]) {}, []string{
			`+ address: "10.0.0.1"`, `+ ends[0].label: "a"`, `+ ends[1].label: "b"`, `+ host: "example.com"`,
			"+ open: false", "+ port: 80",
		}},
		{"some", oldLink, func(old *lumi.State[*link]) { old.Properties.Address = "10.0.0.2" }, []string{
			`~ address: "10.0.0.2" -> "10.0.0.1"`, `+ ends[0].label: "a"`, `+ ends[1].label: "b"`, `+ host: "example.com"`,
			"+ open: false", "+ port: 80",
		}},
		{"to zero", oldLink, func(old *lumi.State[*link]) { old.Done("open", "port") }, []string{
			`+ address: "10.0.0.1"`, `+ ends[0].label: "a"`, `+ ends[1].label: "b"`, `+ host: "example.com"`,
			"~ port: 0 -> 80",
		}},
		{"inside", oldLink, func(old *lumi.State[*link]) { old.Properties.Ends[1].Label = "c" }, []string{
			`+ address: "10.0.0.1"`, `+ ends[0].label: "a"`, `~ ends[1].label: "c" -> "b"`, `+ host: "example.com"`,
			"+ open: false", "+ port: 80",
		}},
		{"a list with nothing in it", `{"ends": [5, 6]}`, func(old *lumi.State[*link]) {
			old.Properties.Ends = []end{{"a"}, {"b"}}
		}, []string{`+ address: "10.0.0.1"`, `+ host: "example.com"`, "+ open: false", "+ port: 80"}},
		{"all", oldLink, func(old *lumi.State[*link]) {
			old.Properties = upgradedLink()
			old.Done("open")
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ops := &linkOps{upgrade: func(old *lumi.State[*link], _ lumi.Bag) error {
				test.upgrade(old)
				return nil
			}}
			resp := must.Get(linkProvider(ops).InspectChange(t.Context(), &lumi.InspectChangeRequest{
				Old: bag(t, test.stored), New: with(t, newLink, `{"arn": null}`),
			}))(t)
			expect.Equal(t, test.want, lines(resp.Changes))
		})
	}
}

func TestUpgradeFails(t *testing.T) {
	tests := []struct {
		name    string
		stored  string
		upgrade func(old *lumi.State[*link], stored lumi.Bag) error
		want    string
		is      any
	}{
		{"error", with(t, oldLink, `{"endpoint": "here"}`).String(), nil,
			`upgrading the stored properties: endpoint: strconv.ParseFloat: parsing "": invalid syntax`, new(*strconv.NumError)},
		{"fault", oldLink, func(*lumi.State[*link], lumi.Bag) error { return lumi.Faultf("port", "is odd") },
			"port: upgrading the stored properties: is odd", new(*lumi.InvalidError)},
		{"cannot be encoded", oldLink, func(old *lumi.State[*link], _ lumi.Bag) error {
			old.Properties.Address = "\xff"
			return nil
		}, "upgrading the stored properties: the provider returned an invalid result: address: is not valid " +
			"UTF-8", new(*lumi.OutputError)},
		{"gone", oldLink, func(*lumi.State[*link], lumi.Bag) error { return fmt.Errorf("zone: %w", lumi.ErrNotFound) },
			"upgrading the stored properties: zone: no such resource", nil},
		{"in part", oldLink, func(*lumi.State[*link], lumi.Bag) error { return &lumi.PartialError{ID: "l-1", Err: errHalf} },
			"upgrading the stored properties: partially done: half way", nil},
		{"uncertain", oldLink, func(*lumi.State[*link], lumi.Bag) error { return lumi.Uncertain(errHalf) },
			"upgrading the stored properties: half way", nil},
		{"no property", oldLink, func(old *lumi.State[*link], _ lumi.Bag) error {
			old.Done("opem")
			return nil
		}, `upgrading the stored properties: Done("opem"): no such property; did you mean "open"?`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := linkProvider(&linkOps{upgrade: test.upgrade, update: func(_, _ *lumi.State[*link]) error {
				t.Error("Update called the author's code, want an error before")
				return nil
			}})
			_, err := p.Update(t.Context(), &lumi.UpdateRequest{
				Old: bag(t, test.stored), New: with(t, newLink, `{"arn": null}`),
			})
			if err == nil || err.Error() != test.want || test.is != nil && !errors.As(err, test.is) {
				t.Errorf("Update error = %v\nwant %s", err, test.want)
			}
			_, got := p.Get(t.Context(), &lumi.GetRequest{Purpose: lumi.Refresh, Old: bag(t, test.stored)})
			if got == nil || got.Error() != test.want || errors.Is(got, lumi.ErrNotFound) {
				t.Errorf("Get error = %v, want %s", got, test.want)
			}
			if errors.As(err, new(*lumi.UncertainError)) || errors.As(err, new(*lumi.PartialError)) {
				t.Errorf("Update error = %T, want a certain error, since nothing was changed", err)
			}
		})
	}
}

// Secrets that Upgrade moves from removed properties stay secret in all responses.
func TestUpgradedSecrets(t *testing.T) {
	old := with(t, oldLink, `{"endpoint": {"$sig": "$secret", "value": "hush.example.com:80"},
		"id": {"$sig": "$secret", "value": "arn:hush"}, "ends": [{"title": {"$sig": "$secret", "value": "hush"}}],
		"comment": "plain"}`)
	changed := with(t, newLink, `{"arn": null, "comment": "new"}`)
	p := linkProvider(&linkOps{
		get: func(old *lumi.State[*link]) (*link, error) {
			n := *old.Properties
			n.Ends = []end{{"b"}, {"hush"}}
			return &n, nil
		},
		update: func(_, want *lumi.State[*link]) error {
			want.Done("comment")
			return errors.New("half way")
		},
	})

	inspected := must.Get(p.InspectChange(t.Context(), &lumi.InspectChangeRequest{Old: old, New: changed}))(t)
	want := []string{`~ comment: "plain" -> "new"`, "~ ends: (secret) -> (secret)", "~ host: (secret) -> (secret)"}
	expect.Equal(t, want, lines(inspected.Changes), "changes")
	if printed := fmt.Sprint(inspected.Changes); strings.Contains(printed, "hush") {
		t.Errorf("Sprint of the changes contains a secret: %s", printed)
	}

	const kept = `{"address": {"$sig": "$secret", "value": "10.0.0.1"},
		"host": {"$sig": "$secret", "value": "hush.example.com"}, "port": {"$sig": "$secret", "value": 80},
		"open": false, "arn": {"$sig": "$secret", "value": "arn:hush"}}`
	got := must.Get(p.Get(t.Context(), &lumi.GetRequest{ID: "l-1", Purpose: lumi.Refresh, Old: old}))(t)
	moved := with(t, kept, `{"comment": "plain", "ends": {"$sig": "$secret", "value": [{"label": "b"}, {"label": "hush"}]}}`)
	if !same(moved, got.Properties) {
		t.Errorf("Get returned %v, want %v", got.Properties.Struct(), moved.Struct())
	}

	_, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "l-1", Old: old, New: changed})
	var partial *lumi.PartialError
	if !errors.As(err, &partial) {
		t.Fatal(err)
	}
	left := with(t, kept, `{"comment": "new", "ends": {"$sig": "$secret", "value": [{"label": "hush"}]}}`)
	if !same(left, partial.Properties) {
		t.Errorf("partial failure has %v, want %v", partial.Properties.Struct(), left.Struct())
	}

	p = linkProvider(&linkOps{update: func(_, want *lumi.State[*link]) error { return nil }})
	updated, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "l-1", Old: old, New: changed})
	if err != nil || !same(bag(t, `{"arn": {"$sig": "$secret", "value": "arn:hush"}}`), updated.Properties) {
		t.Errorf("Update = %v, %v, want a secret arn", updated, err)
	}
}

func TestUpgradedSecretsInCheck(t *testing.T) {
	p := linkProvider(&linkOps{check: func(want *lumi.State[*link]) error {
		want.Properties.Host = want.Old.Host
		return nil
	}})
	old := with(t, oldLink, `{"id": null, "endpoint": {"$sig": "$secret", "value": "hush:80"}}`)
	resp, err := p.Check(t.Context(), &lumi.CheckRequest{Old: old, Properties: with(t, newLink, `{"host": null, "arn": null}`)})
	want := with(t, newLink, `{"host": {"$sig": "$secret", "value": "hush"}, "arn": null}`)
	if err != nil || !same(want, resp.Properties) {
		t.Errorf("Check = %v, %v, want %v", resp, err, want)
	}
}

func TestUpgradeAfterPartialCreate(t *testing.T) {
	ops := &linkOps{}
	resp := must.Get(linkProvider(ops).InspectChange(t.Context(), &lumi.InspectChangeRequest{
		Old: bag(t, `{"address": "10.0.0.1", "open": false, "arn": "arn:1"}`),
		New: with(t, newLink, `{"arn": null, "host": null, "ends": null, "port": 0}`),
	}))(t)
	if diff := cmp.Diff([]string{"+ port: 0"}, lines(resp.Changes)); diff != "" || len(resp.Replaces) > 0 {
		t.Errorf("Replaces = %v, want none; changes (-want +got):\n%s", resp.Replaces, diff)
	}
}
