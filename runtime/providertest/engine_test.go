package providertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
)

// After a lost response, the kit determines the state of the resource, like an engine.
func TestUncertain(t *testing.T) {
	everywhere(t, func(t *testing.T, h *providertest.Harness) {
		timeout := providertest.WantUncertain("timeout")
		v := h.Resource(volumeToken, "data")
		v.Create(t, small.With(providertest.Properties{"comment": "lose create"}), timeout)
		if v.ID() != "id-1" {
			t.Errorf("ID() = %q, want \"id-1\"", v.ID())
		}
		v.Update(t, providertest.Properties{"size": 20, "comment": "lose update"}, timeout)
		if got := v.Get(t).Get("size"); got != 20.0 {
			t.Errorf("size = %v, want 20", got)
		}
		s := h.Unnamed(snapshotToken)
		s.Create(t, providertest.Properties{"volume": v, "label": "lose request"}, timeout)
		if s.ID() != "" {
			t.Errorf("ID() = %q, want \"\"", s.ID())
		}
		s.Create(t, providertest.Properties{"volume": v, "label": "lose snapshot"}, timeout)
		if got := s.Output("source").GetStringValue(); s.ID() != "id-2" || got != "id-1 arn:id-1" {
			t.Errorf("ID() = %q with source %q, want \"id-2\" with \"id-1 arn:id-1\"", s.ID(), got)
		}
		s.Update(t, providertest.Properties{"label": "weekly"})
		v.Update(t, providertest.Properties{"comment": "lose delete"})
		v.Delete(t, timeout)
		v.GetID(t, "id-1", providertest.WantNotFound())
	})
}

// A repeated update may compute different values.
func TestVersions(t *testing.T) {
	t.Parallel()
	a := &author{volumeOps: &volumeOps{newCloud()}}
	version := 0
	a.update = func(want *volumeState) error {
		version++
		want.Properties.Address = new(fmt.Sprint("version ", version))
		a.cloud.put(want.ID, want.Properties)
		return nil
	}
	v := providertest.InProcess(t, providertest.Resources(newVolumes(a))).Resource(volumeToken, "data")
	v.Create(t, small)
	v.Update(t, providertest.Properties{"size": 20})
	if got := v.Output("address").GetStringValue(); got != "version 2" {
		t.Errorf("address = %q, want \"version 2\"", got)
	}
}

// A partially failed update can be completed by another.
func TestPartial(t *testing.T) {
	everywhere(t, func(t *testing.T, h *providertest.Harness) {
		v := h.Resource(volumeToken, "data")
		v.Create(t, small)
		set := providertest.Properties{"size": 20, "tags": map[string]string{"a": "b"}, "comment": "fail half way"}
		v.Update(t, set, providertest.WantPartial("no more room"))
		if v.Output("size").GetNumberValue() != 10 || v.Output("tags.a").GetStringValue() != "b" {
			t.Errorf("size = %v, tags = %v, want 10 and a: b", v.Output("size"), v.Output("tags"))
		}
		v.Update(t, providertest.Properties{"comment": "made later"})
	})
}

// Unexpected and missing uncertain outcomes are reported.
func TestUncertainReports(t *testing.T) {
	lose := providertest.Properties{"comment": "lose create"}
	for _, test := range []struct {
		name string
		test func(t providertest.TB, h *providertest.Harness)
		want string
	}{
		{"not expected", func(t providertest.TB, h *providertest.Harness) {
			h.Unnamed(snapshotToken).Create(t, ofGiven(h).With(providertest.Properties{"label": "lose snapshot"}))
		}, `store:index:Snapshot "#1": create: Create failed: timeout (unknown whether it took effect)
store:index:Snapshot "#1": cleaned up id-1
`},
		{"another", func(t providertest.TB, h *providertest.Harness) {
			h.Resource(volumeToken, "data").Create(t, small.With(lose), providertest.WantUncertain("broken pipe"))
		}, `store:index:Volume "data": create: Create failed, but must fail with an uncertain outcome with "broken pipe": ` +
			`timeout (unknown whether it took effect)
`},
		{"an error", func(t providertest.TB, h *providertest.Harness) {
			h.Resource(volumeToken, "data").Create(t, small.With(lose), providertest.WantError("timeout"))
		}, `store:index:Volume "data": create: Create failed, but must fail with an error with "timeout": ` +
			`timeout (unknown whether it took effect)
`},
		{"none", func(t providertest.TB, h *providertest.Harness) {
			v := h.Resource(volumeToken, "data")
			v.Create(t, small)
			v.Update(t, providertest.Properties{"size": 20}, providertest.WantUncertain("timeout"))
		}, `store:index:Volume "data": update: succeeded, expected an uncertain outcome with "timeout"
store:index:Volume "data": cleaned up id-1
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := said(run(t, func(t providertest.TB) {
				test.test(t, providertest.InProcess(t, store(newCloud())))
			}))
			if got != test.want {
				t.Errorf("report =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// ofGiven returns the properties of a snapshot of a volume declared with Given.
func ofGiven(h *providertest.Harness) providertest.Properties {
	return providertest.Properties{
		"volume": h.Given(volumeToken, "data", "vol-1", providertest.Properties{"arn": "arn:1"}), "label": "daily",
	}
}

// finder implements snapshots with a broken Find.
type finder struct {
	*snapshotOps
	find func(want *snapshotState) (lumi.ID, error)
}

func (f *finder) Find(_ context.Context, want *snapshotState) (lumi.ID, error) { return f.find(want) }

// lonely implements snapshots without Find or an idempotent Create.
type lonely struct{ lumi.NamingOps[*snapshot] }

// Mistakes of Find are reported, and so is a missing Find.
func TestFindReports(t *testing.T) {
	var c *cloud
	const left = "store:index:Snapshot \"#1\": cleaned up id-1\n"
	for _, test := range []struct {
		name string
		find func(want *snapshotState) (lumi.ID, error)
		want string
	}{
		{"any resource", func(*snapshotState) (lumi.ID, error) {
			for id := range c.snapshots {
				return id, nil
			}
			return "", lumi.ErrNotFound
		}, `store:index:Snapshot "#1": create again after a lost response: Find returns id-1 for a token with which nothing was created
An engine would mistake that for the result of its own Create: compare tokens
` + left},
		{"nothing", func(*snapshotState) (lumi.ID, error) { return "", lumi.ErrNotFound },
			`store:index:Snapshot "#1": create again after a lost response: Find must return id-1 for the token of its Create, ` +
				"but failed: no such resource\n" + left},
		{"another", func(*snapshotState) (lumi.ID, error) { return "id-7", nil },
			`store:index:Snapshot "#1": create: Find returns id-7 for a token with which nothing was created
An engine would mistake that for the result of its own Create: compare tokens
store:index:Snapshot "#1": create again after a lost response: Find must return id-1 for the token of its Create, but returned id-7
` + left},
		{"an error", func(*snapshotState) (lumi.ID, error) { return "", errors.New("400 what?") },
			`store:index:Snapshot "#1": create: Find must return lumi.ErrNotFound for a token with which nothing was created, ` +
				`but failed with another error: 400 what?
store:index:Snapshot "#1": create again after a lost response: Find must return id-1 for the token of its Create, but failed: 400 what?
` + left},
		{"none", nil, `store:index:Snapshot "#1": create again after a lost response: the provider neither has an idempotent ` +
			`Create nor can Find resources of this type, so an engine would have to ask the user
` + left},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := said(run(t, func(t providertest.TB) {
				c = newCloud()
				var ops lumi.NamingOps[*snapshot] = &finder{&snapshotOps{c}, test.find}
				if test.find == nil {
					ops = lonely{&snapshotOps{c}}
				}
				h := providertest.InProcess(t, providertest.Resources(newSnapshots(ops)))
				s := h.Unnamed(snapshotToken)
				s.Create(t, ofGiven(h))
				s.Retry(t)
			}))
			if got != test.want {
				t.Errorf("report =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// The kit passes providers the same tokens, seeds, old properties, and purposes as an engine.
func TestRequests(t *testing.T) {
	t.Parallel()
	var told []string
	note := func(format string, args ...any) {
		if said := fmt.Sprintf(format, args...); !slices.Contains(told, said) {
			told = append(told, said)
		}
	}
	names := map[string]string{} // short names for seeds and tokens
	short := func(kind, long string) string {
		if _, ok := names[long]; !ok {
			names[long] = fmt.Sprintf("%s %d", kind, len(names)+1)
		}
		return names[long]
	}
	a := &recording{volumeOps: &volumeOps{newCloud()}, note: note, short: short}
	h := providertest.InProcess(t, providertest.Resources(newVolumes(a)))
	v := h.Resource(volumeToken, "data")
	v.Create(t, small)
	v.Retry(t)
	v.Update(t, providertest.Properties{"size": 20})
	v.Replace(t, providertest.Properties{"zone": "b"})
	v.Delete(t)
	v.Create(t, small.With(providertest.Properties{"size": 0}), providertest.WantFaults("size: is 0, and must be more than 0"))
	want := []string{
		"Check with name 1, nothing old", "Create with token 2", "Get without old", "Get with size 10",
		"Check with name 1, size 10", "Get with size 20", "Check with name 1, size 20",
		"Check with name 3, nothing old", "Create with token 4", "Check with name 5, nothing old",
	}
	if !slices.Equal(told, want) {
		t.Errorf("calls =\n%q\nwant\n%q", told, want)
	}
}

// recording implements volumes and records the input of each call.
type recording struct {
	*volumeOps
	note  func(format string, args ...any)
	short func(kind, long string) string
}

func (r *recording) Check(ctx context.Context, want *volumeState) error {
	old := "nothing old"
	if want.Old != nil {
		old = fmt.Sprint("size ", want.Old.Size)
	}
	r.note("Check with %s, %s", r.short("name", want.Seed.Name("", 8, lumi.LowerAlphanumeric)), old)
	return r.volumeOps.Check(ctx, want)
}

func (r *recording) Create(ctx context.Context, want *volumeState) (lumi.ID, error) {
	r.note("Create with %s", r.short("token", want.Token))
	return r.volumeOps.Create(ctx, want)
}

func (r *recording) Get(ctx context.Context, id lumi.ID, old *volumeState) (*volume, error) {
	if old == nil {
		r.note("Get without old")
	} else {
		r.note("Get with size %v", old.Properties.Size)
	}
	return r.volumeOps.Get(ctx, id, old)
}

// ordered records the order in which volumes are created and deleted.
type ordered struct {
	*volumeOps
	calls       []string
	deleteFirst bool
	refuse      string // a zone to reject
	old         *volume
}

func (o *ordered) Check(ctx context.Context, want *volumeState) error {
	o.old = want.Old
	return o.volumeOps.Check(ctx, want)
}

func (o *ordered) InspectChange(_ context.Context, _, _ *volumeState, diff *lumi.Diff) error {
	if o.deleteFirst {
		diff.DeleteBeforeReplace()
	}
	return nil
}

func (o *ordered) Create(ctx context.Context, want *volumeState) (lumi.ID, error) {
	if want.Properties.Zone == o.refuse {
		return "", errors.New("no such zone")
	}
	id, err := o.volumeOps.Create(ctx, want)
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	o.calls = append(o.calls, "create "+string(id))
	return id, err
}

func (o *ordered) Delete(ctx context.Context, old *volumeState) error {
	err := o.volumeOps.Delete(ctx, old)
	if err == nil { // Record only the first Delete.
		o.calls = append(o.calls, fmt.Sprintf("delete %s of size %v", old.ID, old.Properties.Size))
	}
	return err
}

// Replacements create and delete resources in the right order and pass the right state.
func TestOrder(t *testing.T) {
	t.Parallel()
	replace := func(deleteFirst bool) providertest.Life {
		return providertest.Life{
			Create: providertest.Properties{"name": "data", "zone": "a", "size": 10},
			Replaces: []providertest.Replacement{
				{Set: providertest.Properties{"zone": "b"}, DeleteFirst: deleteFirst},
			},
		}
	}
	upgraded := replace(false)
	upgraded.Replaces = nil
	upgraded.Upgrades = []providertest.Upgrade{{
		Stored: providertest.Properties{"size": 7},
		Change: providertest.Change{Changes: []string{"~ size: 7 -> 10"}},
	}}
	lastFirst := []string{"create id-1", "create id-1", "create id-1", "create id-2", "delete id-1 of size 10", "delete id-2 of size 10"}
	firstFirst := []string{"create id-1", "create id-1", "create id-1", "delete id-1 of size 10", "create id-2", "delete id-2 of size 10"}
	for _, test := range []struct {
		name string
		ops  ordered
		life providertest.Life
		want []string
	}{
		{"by default", ordered{}, replace(false), lastFirst},
		{"chosen by the program", ordered{}, replace(true), firstFirst},
		{"chosen by the provider", ordered{deleteFirst: true}, replace(false), firstFirst},
		{"of an older version", ordered{}, upgraded, []string{"create id-1", "create id-1", "create id-1", "delete id-1 of size 7"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ops := test.ops
			ops.volumeOps = &volumeOps{newCloud()}
			h := providertest.InProcess(t, providertest.Resources(newVolumes(&ops)))
			h.Resource(volumeToken, "data").Life(t, test.life)
			if !slices.Equal(ops.calls, test.want) {
				t.Errorf("calls =\n%q\nwant\n%q", ops.calls, test.want)
			}
		})
	}
}

// After a failed replacement, the old resource is unchanged.
func TestFailedReplacement(t *testing.T) {
	t.Parallel()
	ops := &ordered{volumeOps: &volumeOps{newCloud()}, refuse: "b"}
	v := providertest.InProcess(t, providertest.Resources(newVolumes(ops))).Resource(volumeToken, "data")
	v.Create(t, small)
	v.Replace(t, providertest.Properties{"zone": "b"}, providertest.WantError("no such zone"))
	if ops.old != nil {
		t.Errorf("Check of the replacement got old properties %v, want none", ops.old)
	}
	v.Check(t, small)
	if ops.old == nil || ops.old.Size != 10 {
		t.Errorf("Check after the failed replacement got old properties %v, want size 10", ops.old)
	}
}

// Providers that cannot upgrade stored state are reported.
func TestUpgradeReports(t *testing.T) {
	old := providertest.Upgrade{Stored: providertest.Properties{"comment": nil, "note": "made by a test"}}
	expected := old
	expected.Changes = []string{`+ comment: "made by a test"`}
	replaced := providertest.Upgrade{Stored: providertest.Properties{"zone": "z"}, Change: providertest.Change{
		Changes: []string{`~ zone: "z" -> "a"`},
	}}
	for _, test := range []struct {
		name    string
		upgrade providertest.Upgrade
		want    string
	}{
		{"unexpected", old, `store:index:Volume "data": upgrade: InspectChange reports unexpected changes:
	expected
		no changes
	found
		+ comment: "made by a test"
store:index:Volume "data": cleaned up id-1
`},
		{"expected", expected, ""},
		{"replaced", replaced, `store:index:Volume "data": upgrade: InspectChange requires a replacement because of zone
store:index:Volume "data": cleaned up id-1
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			upgrade := func(t providertest.TB) {
				ops := lumi.Ops[*volume](struct{ lumi.Ops[*volume] }{&volumeOps{newCloud()}}) // without optional operations
				v := providertest.InProcess(t, providertest.Resources(newVolumes(ops))).Resource(volumeToken, "data")
				v.Create(t, providertest.Properties{"name": "data", "zone": "a", "size": 10})
				v.Upgrade(t, test.upgrade)
			}
			if test.want == "" {
				upgrade(t)
				return
			}
			if got := said(run(t, upgrade)); got != test.want {
				t.Errorf("report =\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A failing Describe ends the test.
func TestDescribeFailure(t *testing.T) {
	got := said(run(t, func(t providertest.TB) {
		providertest.InProcess(t, providertest.Resources(&mute{newVolumes(&volumeOps{newCloud()})}))
	}))
	if want := "the provider cannot describe its types: not today\n"; got != want {
		t.Errorf("report =\n%s\nwant\n%s", got, want)
	}
}

type mute struct{ typed }

func (mute) Describe(context.Context) (*lumi.Description, error) { return nil, errors.New("not today") }
