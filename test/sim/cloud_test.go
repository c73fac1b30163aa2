package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

func TestConformance(t *testing.T) {
	for _, typ := range types {
		t.Run(typ.Token.Name(), func(t *testing.T) {
			c := sim.New(sim.Options{Types: types})
			h := providertest.InProcess(t, providertest.Resources(c.Provider(disk), c.Provider(bucket), c.Provider(server)))
			base, create := h.Resource(disk, "base"), providertest.Properties{"size": 1, "region": "oslo", "mode": "rw"}
			base.Create(t, providertest.Properties{"name": "base", "size": 1})
			create = create.With(providertest.Properties{
				"password": "correct horse", "on": []any{base}, "at": base.Output("arn"),
			})
			r, replacement := h.Unnamed(typ.Token), providertest.Properties{"region": "lisbon"}
			if typ.Named {
				r = h.Resource(typ.Token, "web")
				create["name"] = "web"
			}
			if typ.Unique {
				replacement["name"] = "web2"
			}
			r.Life(t, providertest.Life{
				Create: create, Computed: []string{"arn", "etag", "key"}, Known: []string{"name"},
				Updates: []providertest.Change{
					{Set: providertest.Properties{"size": 2}, Changes: []string{"~ size: 1 -> 2"}},
					{Set: providertest.Properties{"on": nil, "at": nil, "password": "battery staple"}},
					{Set: providertest.Properties{"mode": "ro"}},
				},
				Replaces: []providertest.Replacement{{Set: replacement, Because: nil}},
			})
			if typ.Named {
				lost := h.Resource(typ.Token, "lost")
				lost.Create(t, providertest.Properties{"name": "lost", "size": 1})
				if typ.Idempotent || typ.Find {
					lost.Retry(t)
				}
				lost.Delete(t)
			}
			base.Delete(t)
			if left := c.Resources(); len(left) > 0 {
				t.Errorf("Resources after deleting all = %v, want none", left)
			}
			if v := c.Violations(); len(v) > 0 && typ.Token != disk {
				t.Errorf("Violations = %v, want none", v)
			}
		})
	}
}

func TestConformanceFaults(t *testing.T) {
	c := sim.New(sim.Options{Types: types})
	for at, fault := range map[sim.At]sim.Fault{
		{"partly", sim.Create, 1}: {sim.Half, sim.Fails},
		{"partly", sim.Update, 1}: {sim.Half, sim.Fails},
		{"after", sim.Create, 1}:  {sim.After, sim.Fails},
		{"lost", sim.Create, 1}:   {sim.After, sim.Lost},
		{"lost", sim.Delete, 1}:   {sim.After, sim.Lost},
		{"never", sim.Create, 1}:  {sim.Before, sim.Lost},
		{"later", sim.Create, 1}:  {sim.Before, sim.Throttled},
		{"later", sim.Update, 1}:  {sim.Before, sim.Lost},
		{"slowly", sim.Create, 1}: {sim.After, sim.Throttled},
		{"slowly", sim.Update, 1}: {sim.Half, sim.Throttled},
	} {
		c.Script(at, fault)
	}
	h := providertest.InProcess(t, providertest.Resources(c.Provider(bucket)))
	of := func(name string) (*providertest.Resource, providertest.Properties) {
		return h.Resource(bucket, name), providertest.Properties{"name": name, "size": 1, "mode": "rw", "region": "oslo"}
	}
	r, create := of("partly")
	r.Create(t, create, providertest.WantPartial("simulated fault: failed half way"))
	r.Update(t, providertest.Properties{"size": 2}, providertest.WantPartial("simulated fault: failed half way"))
	r.Update(t, create)
	r.Delete(t)
	r, create = of("after")
	r.Create(t, create, providertest.WantPartial("simulated fault: failed after"))
	r.Delete(t)
	r, create = of("lost")
	r.Create(t, create, providertest.WantUncertain("simulated fault: lost after"))
	r.Delete(t, providertest.WantUncertain("simulated fault: lost after"))
	r, create = of("never")
	r.Create(t, create, providertest.WantUncertain("simulated fault: lost before"))
	r.Delete(t)
	r, create = of("later")
	r.Create(t, create, providertest.WantRetry("simulated fault: throttled before"))
	r.Create(t, create)
	r.Update(t, providertest.Properties{"size": 2}, providertest.WantUncertain("simulated fault: lost before"))
	r.Delete(t)
	r, create = of("slowly")
	r.Create(t, create, providertest.WantPartial("simulated fault: throttled after"))
	r.Update(t, create.With(providertest.Properties{"size": 2}), providertest.WantPartial("simulated fault: throttled half way"))
	r.Delete(t)
}

// Repeating a Create after a lost response creates a duplicate unless the type is idempotent.
func TestRepeatedCreate(t *testing.T) {
	for _, test := range []struct {
		typ       tokens.Type
		find      string
		resources string
		violation string
	}{
		{disk, "unsupported", "a:1 a:1", "Create of urn:lumi:test::app:index::sim:index:Disk::a again, although disk-"},
		{bucket, "unsupported", "a:1", ""},
		{server, "found", "a:1 a:1", "Create of urn:lumi:test::app:index::sim:index:Server::a again, although server-"},
	} {
		c := sim.New(sim.Options{Types: types})
		c.Script(sim.At{"a", sim.Create, 1}, sim.Fault{sim.After, sim.Lost})
		e := newEngine(c, test.typ, "a")
		if err := e.create(t.Context(), nil); kind(err) != "uncertain" {
			t.Fatal(err)
		}
		first := c.Resources()[0]
		switch id, err := e.find(t.Context()); {
		case errors.Is(err, errors.ErrUnsupported) != (test.find == "unsupported"), err == nil && id != first.ID:
			t.Errorf("Find(%s) = %s, %v, want %s if Find is supported", test.typ, id, err, first.ID)
		}
		must.Do(t, e.create(t.Context(), nil))
		if got := show(c); got != test.resources {
			t.Errorf("%s: resources = %q, want %q", test.typ, got, test.resources)
		}
		for range 20 { // Find must be deterministic.
			if id, err := e.find(t.Context()); err == nil && id != min(first.ID, e.id) {
				t.Errorf("Find(%s) = %s, want the lower of %s and %s", test.typ, id, first.ID, e.id)
			}
		}
		got := strings.Join(c.Violations(), "\n")
		if (got == "") != (test.violation == "") || !strings.HasPrefix(got, test.violation) {
			t.Errorf("%s: violations = %q, want %q", test.typ, got, test.violation)
		}
		if made := first.ID == e.id; made != (test.typ == bucket) {
			t.Errorf("%s: second Create returned id %s after %s, want the same = %t", test.typ, e.id, first.ID, !made)
		}
	}
}

func TestTokens(t *testing.T) {
	c := sim.New(sim.Options{Types: types})
	e := newEngine(c, bucket, "a")
	e.token = ""
	for _, step := range []struct {
		token string
		size  float64
		want  string
	}{
		{"", 1, "ok"}, {"t", 1, "invalid"}, // the name is taken
	} {
		e.token = step.token
		if err := e.create(t.Context(), map[string]any{"size": step.size}); kind(err) != step.want {
			t.Errorf("Create with token %q = %v, want %s", step.token, err, step.want)
		}
	}
	b := newEngine(c, bucket, "b")
	must.Do(t, b.create(t.Context(), nil))
	if err := b.create(t.Context(), map[string]any{"size": 2.0}); err == nil ||
		err.Error() != fmt.Sprintf("the token was already used for %s, with different inputs", b.id) {
		t.Errorf("Create with other inputs and the same token = %v, want an error", err)
	}
	must.Do(t, b.delete(t.Context()))
	if err := b.create(t.Context(), map[string]any{"size": 2.0}); err != nil {
		t.Errorf("Create with the token of a deleted resource = %v, want nil", err)
	}
	want := []string{
		"Create of " + string(e.urn) + " without a token",
		"Create of " + string(b.urn) + " with other inputs and the token of " + string(c.Calls()[2].ID),
	}
	if got := c.Violations(); !slices.Equal(got, want) {
		t.Errorf("Violations = %q, want %q", got, want)
	}
}

func TestConcurrentCalls(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		c := sim.New(sim.Options{Types: types, Latency: time.Second})
		a, b := newEngine(c, disk, "a"), newEngine(c, disk, "b")
		var wg sync.WaitGroup
		wg.Go(func() { _ = a.create(ctx, nil) })
		wg.Go(func() { _ = b.create(ctx, nil) })
		wg.Wait()
		if v := c.Violations(); v != nil {
			t.Errorf("Violations after concurrent calls for two resources = %q, want none", v)
		}
		again, renewed := newEngine(c, bucket, "again"), newEngine(c, bucket, "renewed")
		wg.Go(func() { _ = again.create(ctx, nil) })
		wg.Go(func() { _ = again.create(ctx, nil) })
		wg.Wait()
		if v := c.Violations(); v != nil {
			t.Errorf("Violations after concurrent idempotent creations = %q, want none", v)
		}
		wg.Go(func() { _ = renewed.create(ctx, nil) })
		other := *renewed
		other.token = "other"
		wg.Go(func() { _ = other.create(ctx, nil) })
		wg.Wait()
		wg.Go(func() { _ = a.delete(ctx) })
		wg.Go(func() { _ = a.delete(ctx) })
		wg.Wait()
		want := []string{
			"Create of urn:lumi:test::app:index::sim:index:Bucket::renewed while another call about it runs",
			"Delete of urn:lumi:test::app:index::sim:index:Disk::a while another call about it runs",
		}
		if v := c.Violations(); !slices.Equal(v, want) {
			t.Errorf("Violations after concurrent calls for one resource = %q, want %q", v, want)
		}
	})
}

func TestReferences(t *testing.T) {
	c := sim.New(sim.Options{Types: types})
	a, b, d := newEngine(c, disk, "a"), newEngine(c, disk, "b"), newEngine(c, disk, "d")
	b.refs = lumi.References{a.urn: {}}
	on := map[string]any{"on": []any{string(a.urn)}}
	want := func(err error, text string) {
		t.Helper()
		if err == nil || err.Error() != text {
			t.Errorf("call error = %v, want %s", err, text)
		}
	}
	want(b.create(t.Context(), on), "on: refers to "+string(a.urn)+", which does not exist")
	want(d.create(t.Context(), map[string]any{"at": "disk-1.arn"}), "at: refers to disk-1, which does not exist")
	must.Do(t, a.create(t.Context(), nil))
	b.refs[a.urn] = lumi.Reference{ID: a.id}
	at := map[string]any{"at": a.state["arn"]}
	must.Do(t, b.create(t.Context(), on))
	if got := c.Resources()[1].Inputs["on"]; !reflect.DeepEqual(got, []any{string(a.id)}) {
		t.Errorf("input \"on\" = %v, want [%s]", got, a.id)
	}
	want(a.delete(t.Context()), string(b.id)+" still refers to it")
	must.Do(t, errors.Join(d.create(t.Context(), at), b.update(t.Context(), nil)))
	want(a.delete(t.Context()), string(d.id)+" still refers to it")
	must.Do(t, errors.Join(d.delete(t.Context()), a.delete(t.Context())))
	want(b.update(t.Context(), on), "on: refers to "+string(a.id)+", which does not exist")
	if err := errors.Join(b.update(t.Context(), map[string]any{"at": string(b.id)}), b.delete(t.Context())); err != nil {
		t.Errorf("Update and Delete of a resource that refers to itself = %v, want nil", err)
	}
	of := "Delete of " + string(a.urn) + ", although "
	violations := []string{of + string(b.id) + " refers to it", of + string(d.id) + " refers to it"}
	if got := c.Violations(); !slices.Equal(got, violations) {
		t.Errorf("Violations = %q, want %q", got, violations)
	}
}

// A repeated Create fails if the first attempt did not set a reference and the referenced resource no longer exists.
func TestRepeatedReference(t *testing.T) {
	for seed := range uint64(20) {
		c := sim.New(sim.Options{Seed: seed, Types: types})
		c.Script(sim.At{"b", sim.Create, 1}, sim.Fault{sim.Half, sim.Lost})
		a, b := newEngine(c, disk, "a"), newEngine(c, bucket, "b")
		must.Do(t, a.create(t.Context(), nil))
		at := map[string]any{"at": string(a.id)}
		if err := b.create(t.Context(), at); kind(err) != "uncertain" {
			t.Fatal(err)
		}
		c.Remove(a.id)
		if c.Resources()[0].Inputs["at"] != nil {
			continue
		}
		if err := b.create(t.Context(), at); err == nil || err.Error() != "at: refers to "+string(a.id)+", which does not exist" {
			t.Errorf("seed %d: repeated Create = %v, want an error for the missing reference", seed, err)
		}
		return
	}
	t.Error("first Create set the reference with all seeds, want at least one without")
}

func TestMissingResource(t *testing.T) {
	c := sim.New(sim.Options{Types: types})
	e := newEngine(c, bucket, "a")
	must.Do(t, e.create(t.Context(), nil))
	taken := newEngine(c, bucket, "a")
	taken.token = "another"
	if err := taken.create(t.Context(), nil); err == nil || err.Error() != "name: is taken by "+string(e.id) {
		t.Errorf("Create with a taken name = %v, want an error", err)
	}
	z := newEngine(c, disk, "z")
	if err := errors.Join(z.create(t.Context(), nil), newEngine(c, bucket, "z").create(t.Context(), nil)); err != nil {
		t.Errorf("Create with the name of a resource of another type = %v, want nil", err)
	}
	imported := &lumi.GetRequest{ID: z.id, Purpose: lumi.Import}
	if _, err := c.Provider(bucket).Get(t.Context(), imported); kind(err) != "not found" {
		t.Errorf("Get with the id of a resource of another type = %v, want %v", err, lumi.ErrNotFound)
	}
	c.Remove(e.id)
	if _, err := e.get(t.Context()); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Get of a removed resource = %v, want %v", err, lumi.ErrNotFound)
	}
	if err := e.update(t.Context(), map[string]any{"size": 2.0}); !errors.Is(err, lumi.ErrNotFound) {
		t.Errorf("Update of a removed resource = %v, want %v", err, lumi.ErrNotFound)
	}
	if err := e.delete(t.Context()); err != nil {
		t.Errorf("Delete of a removed resource = %v, want nil", err)
	}
	if last := c.Calls()[7]; last.Op != sim.Delete || !errors.Is(last.Err, lumi.ErrNotFound) || last.Effect != 0 {
		t.Errorf("last call = %+v, want a Delete with error %v and without effect", last, lumi.ErrNotFound)
	}
}

func TestDeletion(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		c := sim.New(sim.Options{Types: types, Deletion: 20 * time.Second})
		e := newEngine(c, bucket, "a")
		must.Do(t, e.create(ctx, nil))
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := e.delete(short); kind(err) != "uncertain" {
			t.Fatal(err)
		}
		if _, err := e.get(ctx); err != nil {
			t.Errorf("Get during deletion = %v, want nil", err)
		}
		if err := e.update(ctx, map[string]any{"size": 2.0}); kind(err) != "not found" {
			t.Errorf("Update during deletion = %v, want %v", err, lumi.ErrNotFound)
		}
		next := newEngine(c, bucket, "a")
		next.token = "another"
		if err := next.create(ctx, nil); kind(err) != "invalid" {
			t.Errorf("Create with the name of a resource being deleted = %v, want an InvalidError", err)
		}
		if err := e.create(ctx, nil); kind(err) != "invalid" {
			t.Errorf("Create with the name and token of a resource being deleted = %v, want an InvalidError", err)
		}
		began := time.Now()
		if err := e.delete(ctx); err != nil || time.Since(began) == 0 || show(c) != "" {
			t.Errorf("Delete = %v after %v, left %q, want nil after a delay and no resources", err, time.Since(began), show(c))
		}
		if err := next.create(ctx, nil); err != nil {
			t.Errorf("Create after deletion = %v, want nil", err)
		}
	})
}

func TestLag(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		c := sim.New(sim.Options{Types: types, Lag: 20 * time.Second})
		a, b := newEngine(c, server, "a"), newEngine(c, disk, "b")
		must.Do(t, a.create(ctx, nil))
		at := map[string]any{"at": string(a.id)}
		retry := new(lumi.RetryError)
		if err := b.create(ctx, at); !errors.As(err, &retry) || retry.After <= 0 || retry.After > 20*time.Second {
			t.Fatalf("Create with a reference to a new resource = %v, want a RetryError with a delay of at most 20s", err)
		}
		must.Do(t, a.update(ctx, map[string]any{"size": 1.5}))
		began := time.Now()
		if id, err := a.find(ctx); id != a.id || time.Since(began) != retry.After {
			t.Errorf("Find = %s, %v after %v, want %s after %v", id, err, time.Since(began), a.id, retry.After)
		}
		if err := b.create(ctx, at); err != nil {
			t.Errorf("Create with a reference to a visible resource = %v, want nil", err)
		}
		must.Do(t, a.update(ctx, map[string]any{"size": 2.0}))
		if err := newEngine(c, disk, "c").create(ctx, at); err != nil {
			t.Errorf("Create with a reference to an updated resource = %v, want nil", err)
		}
		for i, want := range []float64{1.5, 2} {
			if got, err := a.get(ctx); err != nil || got["size"] != want {
				t.Errorf("Get number %d = %v, %v, want size %v", i+1, got, err, want)
			}
			time.Sleep(20 * time.Second)
		}
	})
}

func TestDrift(t *testing.T) {
	c := sim.New(sim.Options{Types: types})
	a := newEngine(c, disk, "a")
	must.Do(t, a.create(t.Context(), nil))
	c.Change(a.id, "size", 9.0)
	got, err := a.get(t.Context())
	if err != nil || got["size"] != 9.0 || got["etag"] == a.state["etag"] || got["arn"] != a.state["arn"] {
		t.Errorf("Get after Change = %v, %v, want size 9, a new etag, and the same arn as in %v", got, err, a.state)
	}
	must.Do(t, a.update(t.Context(), map[string]any{"mode": "rw"}))
	// Update writes only differences from the old state, so it does not revert the drift.
	if in := c.Resources()[0].Inputs; in["size"] != 9.0 || in["mode"] != "rw" {
		t.Errorf("inputs after Update = %v, want size 9 and mode rw", in)
	}
}

func TestScript(t *testing.T) {
	c := sim.New(sim.Options{Types: types, Faults: 1})
	c.Script(sim.At{"a", sim.Create, 0}, sim.Fault{sim.Before, sim.Fails})
	c.Script(sim.At{"b", sim.Create, 0}, sim.Fault{sim.Before, sim.Lost})
	c.Script(sim.At{"b", sim.Create, 2}, sim.Fault{})
	for name, want := range map[string]string{"a": "failed failed", "b": "uncertain ok uncertain"} {
		e := newEngine(c, disk, name)
		for i, want := range strings.Fields(want) {
			if err := e.create(t.Context(), nil); kind(err) != want {
				t.Errorf("Create number %d of %s = %v, want %s", i+1, name, err, want)
			}
		}
	}
	c.Script(sim.At{"b", sim.Create, 0}, sim.Fault{})
	must.Do(t, newEngine(c, disk, "b").create(t.Context(), nil))
}

func TestFaultProbabilities(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		const n = 1200
		c := sim.New(sim.Options{Types: types, Faults: .5})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range n {
			e := newEngine(c, disk, fmt.Sprint("r", i))
			e.id = "none"
			wg.Go(func() { _, _ = e.get(ctx) })
		}
		synctest.Wait() // until only hanging calls are in flight
		cancel()
		wg.Wait()
		count := map[sim.Fault]int{}
		for _, call := range c.Calls() {
			count[call.Fault]++
		}
		for fault, k := range count {
			if want := n / 24; fault.How == 0 && (k < n*4/10 || k > n*6/10) || fault.How != 0 && (k < want/2 || k > want*2) {
				t.Errorf("%d of %d calls had fault %q, want about %d, or half of the calls without a fault", k, n, fault, want)
			}
		}
		if len(count) != 13 {
			t.Errorf("calls had %d different faults, want 13: %v", len(count), count)
		}
	})
}

func TestTypes(t *testing.T) {
	c := sim.New(sim.Options{Types: types})
	d, err := c.Provider(server).Describe(t.Context())
	if err != nil || d.Named || !d.CanFind || d.IdempotentCreate ||
		d.Properties[0].Required ||
		!slices.ContainsFunc(d.Properties, func(p lumi.Property) bool {
			return p.Name == "arn" && p.Kind == lumi.KindAny && p.Flags == lumi.Out && p.Required
		}) {
		t.Errorf("Describe(%s) = %+v, %v, want an unnamed type with Find and a required output arn", server, d, err)
	}
	if d, err = c.Provider(bucket).Describe(t.Context()); err != nil || !d.Named || d.CanFind || !d.IdempotentCreate ||
		!d.Properties[0].Required {
		t.Errorf("Describe(%s) = %+v, %v, want a named type with idempotent Create and a required name", bucket, d, err)
	}
	for _, typ := range types {
		res, err := c.Provider(typ.Token).InspectChange(t.Context(), &lumi.InspectChangeRequest{
			Old: bag(map[string]any{"name": "a", "size": 1.0}), New: bag(map[string]any{"name": "b", "size": 1.0}),
		})
		if err != nil || len(res.Replaces) != 1 || res.DeleteBeforeReplace != typ.Unique {
			t.Errorf("InspectChange(%s) = %+v, %v, want one replacing property and DeleteBeforeReplace %t", typ.Token, res, err, typ.Unique)
		}
	}
	// Check keeps a generated name, even if the seed changes.
	check := &lumi.CheckRequest{URN: newEngine(c, server, "#1").urn, Properties: bag(map[string]any{"size": 1.0})}
	first, err := c.Provider(server).Check(t.Context(), check)
	if err != nil || !strings.HasPrefix(fmt.Sprint(first.Properties.Get("name")), "server-") {
		t.Fatalf("Check = %v, %v, want a generated name", first, err)
	}
	check.Old, check.Seed = first.Properties, lumi.Seed("another")
	for _, kept := range []bool{true, false} {
		res, err := c.Provider(server).Check(t.Context(), check)
		if err != nil || (res.Properties.Get("name") == first.Properties.Get("name")) != kept {
			t.Errorf("Check with another seed = %v, %v, want the name in %v kept = %t", res, err, first, kept)
		}
		check.Old = lumi.Bag{}
	}
	check.Properties = bag(map[string]any{"size": "big"})
	if _, err := c.Provider(server).Check(t.Context(), check); err == nil || err.Error() != "size: is a string" {
		t.Errorf("Check with a string as size = %v, want an error", err)
	}
}

// chaos returns options that enable all kinds of failures and delays.
func chaos(seed uint64) sim.Options {
	return sim.Options{
		Seed: seed, Types: types, Faults: .48, RetryAfter: time.Second, Latency: 3 * time.Second,
		Deletion: 2 * time.Second, Lag: 2 * time.Second,
	}
}

// log returns the sorted outcomes of all calls, with durations instead of start and end times.
func log(c *sim.Cloud) []string {
	var lines []string
	for _, call := range c.Calls() {
		took := call.Ended.Sub(call.Began)
		lines = append(lines, fmt.Sprint(call.At, call.URN, call.ID, call.Fault, call.Effect > 0, call.Err, took))
	}
	slices.Sort(lines)
	return lines
}

// Outcomes depend only on the seed, not on whether resources are deployed concurrently or sequentially.
func TestInterleaving(t *testing.T) {
	run := func(seed uint64, parallel bool) (lines []string, resources []sim.Resource) {
		inBubble(t, func(t *testing.T, _ context.Context) {
			c := sim.New(chaos(seed))
			var wg sync.WaitGroup
			for _, i := range rand.Perm(20) {
				life := func() {
					if parallel {
						time.Sleep(rand.N(time.Second))
					}
					e := newEngine(c, types[i%3].Token, fmt.Sprint("r", i))
					for _, call := range []func(context.Context) error{
						func(ctx context.Context) error { return e.create(ctx, nil) },
						func(ctx context.Context) error { return e.update(ctx, map[string]any{"size": 2.0}) },
						func(ctx context.Context) error { _, err := e.get(ctx); return err },
						func(ctx context.Context) error {
							if i%4 > 0 {
								return nil
							}
							return e.delete(ctx)
						},
					} {
						ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
						_ = call(ctx)
						cancel()
					}
				}
				if parallel {
					wg.Go(life)
				} else {
					life()
				}
			}
			wg.Wait()
			time.Sleep(time.Minute) // wait for deletions that outlived a canceled Delete
			lines, resources = log(c), c.Resources()
		})
		return lines, resources
	}
	differ := map[string]bool{}
	for seed := range uint64(20) {
		lines, resources := run(seed, false)
		again, same := run(seed, true)
		if !slices.Equal(lines, again) || !reflect.DeepEqual(resources, same) {
			t.Fatalf("seed %d: outcomes of sequential calls\n%s\ndiffer from concurrent calls\n%s", seed, strings.Join(lines, "\n"), strings.Join(again, "\n"))
		}
		differ[strings.Join(lines, "\n")] = true
	}
	if len(differ) != 20 {
		t.Errorf("20 seeds led to %d different outcomes, want 20", len(differ))
	}
}
