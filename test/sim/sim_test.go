package sim_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/sim"
)

const (
	disk   tokens.Type = "sim:index:Disk"   // neither idempotent nor Find
	bucket tokens.Type = "sim:index:Bucket" // idempotent
	server tokens.Type = "sim:index:Server" // Find, unnamed
)

var types = []sim.Type{
	{Token: disk, Named: true},
	{Token: bucket, Named: true, Idempotent: true, Unique: true},
	{Token: server, Find: true},
}

// engine makes the calls of an engine for one resource and stores its state.
type engine struct {
	c     *sim.Cloud
	typ   tokens.Type
	urn   urn.URN
	token string
	id    lumi.ID
	state map[string]any
	refs  lumi.References
}

func newEngine(c *sim.Cloud, typ tokens.Type, name string) *engine {
	u, err := urn.Format(urn.Parts{Environment: "test", Package: "app", Module: "index", Type: typ, Name: name})
	if err != nil {
		panic(err)
	}
	return &engine{c: c, typ: typ, urn: u, token: "token of " + name, refs: lumi.References{}}
}

func bag(properties map[string]any) lumi.Bag {
	s, err := structpb.NewStruct(properties)
	if err != nil {
		panic(err)
	}
	return lumi.BagOf(s)
}

func (e *engine) inputs(set map[string]any) map[string]any {
	all := map[string]any{"name": e.urn.Name(), "size": 1.0}
	for property, v := range set {
		all[property] = v
	}
	return all
}

// note stores the id and state of the resource returned by a call or contained in a PartialError. It returns err.
func (e *engine) note(id lumi.ID, inputs map[string]any, computed lumi.Bag, err error) error {
	partial := new(lumi.PartialError)
	switch {
	case err == nil:
		e.id, e.state = id, computed.Struct().AsMap()
		for property, v := range inputs {
			e.state[property] = v
		}
	case errors.As(err, &partial):
		e.id, e.state = partial.ID, partial.Properties.Struct().AsMap()
	}
	return err
}

func (e *engine) create(ctx context.Context, set map[string]any) error {
	inputs := e.inputs(set)
	res, err := e.c.Provider(e.typ).Create(ctx, &lumi.CreateRequest{
		URN: e.urn, Properties: bag(inputs), Token: e.token, References: e.refs,
	})
	if err != nil {
		return e.note("", nil, lumi.Bag{}, err)
	}
	return e.note(res.ID, inputs, res.Properties, nil)
}

func (e *engine) update(ctx context.Context, set map[string]any) error {
	inputs := e.inputs(set)
	res, err := e.c.Provider(e.typ).Update(ctx, &lumi.UpdateRequest{
		URN: e.urn, ID: e.id, Old: bag(e.state), New: bag(inputs), References: e.refs,
	})
	if err != nil {
		return e.note("", nil, lumi.Bag{}, err)
	}
	return e.note(e.id, inputs, res.Properties, nil)
}

func (e *engine) delete(ctx context.Context) error {
	_, err := e.c.Provider(e.typ).Delete(ctx, &lumi.DeleteRequest{
		URN: e.urn, ID: e.id, Properties: bag(e.state), References: e.refs,
	})
	return err
}

func (e *engine) get(ctx context.Context) (map[string]any, error) {
	res, err := e.c.Provider(e.typ).Get(ctx, &lumi.GetRequest{
		URN: e.urn, ID: e.id, Purpose: lumi.Refresh, Old: bag(e.state), References: e.refs,
	})
	if err != nil {
		return nil, err
	}
	return res.Properties.Struct().AsMap(), nil
}

func (e *engine) find(ctx context.Context) (lumi.ID, error) {
	res, err := e.c.Provider(e.typ).Find(ctx, &lumi.FindRequest{
		URN: e.urn, Properties: bag(e.inputs(nil)), Token: e.token, References: e.refs,
	})
	if err != nil {
		return "", err
	}
	return res.ID, nil
}

// kind returns a short name for the kind of an error.
func kind(err error) string {
	var partial *lumi.PartialError
	var uncertain *lumi.UncertainError
	var retry *lumi.RetryError
	var invalid *lumi.InvalidError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &partial) && errors.As(err, &retry):
		return fmt.Sprintf("partial, retry after %v", retry.After)
	case errors.As(err, &partial):
		return "partial"
	case errors.As(err, &uncertain):
		return "uncertain"
	case errors.As(err, &retry):
		return fmt.Sprintf("retry after %v", retry.After)
	case errors.As(err, &invalid):
		return "invalid"
	case errors.Is(err, lumi.ErrNotFound):
		return "not found"
	}
	return "failed"
}

// show lists the existing resources in the form name:size, separated by spaces.
func show(c *sim.Cloud) string {
	var all []string
	for _, r := range c.Resources() {
		all = append(all, fmt.Sprintf("%s:%v", r.Inputs["name"], r.Inputs["size"]))
	}
	return strings.Join(all, " ")
}

// inBubble runs a test in a synctest bubble, with a context that expires after one minute.
func inBubble(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		test(t, ctx)
	})
}

// Each element of the table lists a fault and, for every operation, the kind of error and the resources afterward.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		fault                       sim.Fault
		create, update, delete, get string
	}{
		{sim.Fault{}, "ok a:1", "ok a:2", "ok ", "ok a:1"},
		{sim.Fault{sim.Before, sim.Fails}, "failed ", "failed a:1", "failed a:1", "failed a:1"},
		{
			sim.Fault{sim.Before, sim.Throttled},
			"retry after 1s ", "retry after 1s a:1", "retry after 1s a:1", "retry after 1s a:1",
		},
		{sim.Fault{sim.Before, sim.Lost}, "uncertain ", "uncertain a:1", "uncertain a:1", "failed a:1"},
		{sim.Fault{sim.Before, sim.Hangs}, "uncertain ", "uncertain a:1", "uncertain a:1", "failed a:1"},
		{sim.Fault{sim.After, sim.Fails}, "partial a:1", "partial a:2", "failed ", "failed a:1"},
		{
			sim.Fault{sim.After, sim.Throttled},
			"partial, retry after 1s a:1", "partial, retry after 1s a:2", "retry after 1s ", "retry after 1s a:1",
		},
		{sim.Fault{sim.After, sim.Lost}, "uncertain a:1", "uncertain a:2", "uncertain ", "failed a:1"},
		{sim.Fault{sim.After, sim.Hangs}, "uncertain a:1", "uncertain a:2", "uncertain ", "failed a:1"},
	} {
		t.Run(test.fault.String(), func(t *testing.T) {
			run := func(op sim.Op, want string, call func(*engine, context.Context) error) {
				inBubble(t, func(t *testing.T, ctx context.Context) {
					c := sim.New(sim.Options{Types: types, RetryAfter: time.Second})
					c.Script(sim.At{"a", op, 1}, test.fault)
					e := newEngine(c, disk, "a")
					before := ""
					if op != sim.Create {
						before = "a:1"
						must.Do(t, e.create(ctx, nil))
					}
					began := time.Now()
					err := call(e, ctx)
					after := show(c)
					if got := kind(err) + " " + after; got != want {
						t.Errorf("%s = %q, want %q: %v", op, got, want, err)
					}
					hangs := test.fault.How == sim.Hangs
					if hangs != (time.Since(began) == time.Minute) || hangs != errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s returned %v after %v, want it to hang = %t", op, err, time.Since(began), hangs)
					}
					if err != nil && !hangs && !strings.Contains(err.Error(), "simulated fault: "+test.fault.String()) {
						t.Errorf("%s error = %v, want one that contains %q", op, err, test.fault)
					}
					calls := c.Calls()
					last := calls[len(calls)-1]
					if last.Op != op || (last.Err == nil) != (err == nil) || (last.Effect > 0) != (before != after) {
						t.Errorf("last call = %+v, want %s with error %v and the effect on the resources", last, op, err)
					}
				})
			}
			run(sim.Create, test.create, func(e *engine, ctx context.Context) error { return e.create(ctx, nil) })
			set := map[string]any{"size": 2.0}
			run(sim.Update, test.update, func(e *engine, ctx context.Context) error { return e.update(ctx, set) })
			run(sim.Delete, test.delete, func(e *engine, ctx context.Context) error { return e.delete(ctx) })
			run(sim.Get, test.get, func(e *engine, ctx context.Context) error {
				_, err := e.get(ctx)
				return err
			})
		})
	}
}

func TestPartialFaults(t *testing.T) {
	all := map[string]any{"size": 2.0, "region": "oslo", "mode": "rw"}
	full := 0
	for seed := range uint64(20) {
		c := sim.New(sim.Options{Seed: seed, Types: types})
		c.Script(sim.At{"a", sim.Create, 0}, sim.Fault{sim.Half, sim.Fails})
		c.Script(sim.At{"a", sim.Update, 1}, sim.Fault{sim.Half, sim.Fails})
		e := newEngine(c, disk, "a")
		if err := e.create(t.Context(), all); kind(err) != "partial" {
			t.Fatal(err)
		}
		for _, step := range []string{"partial", "ok"} {
			got, err := e.get(t.Context())
			if err != nil || !reflect.DeepEqual(got, e.state) || got["region"] != "oslo" {
				t.Fatalf("seed %d: Get = %v, %v, want %v from the PartialError", seed, got, err, e.state)
			}
			if got["size"] != nil && got["mode"] != nil && step == "partial" {
				full++
				step = "failed" // Update has no changes left to make.
			}
			if err := e.update(t.Context(), all); kind(err) != step {
				t.Fatalf("seed %d: Update error = %v, want kind %q", seed, err, step)
			}
		}
		want := map[string]any{"name": "a", "size": 2.0, "region": "oslo", "mode": "rw"}
		if got := c.Resources()[0].Inputs; !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: final inputs = %v, want %v", seed, got, want)
		}
	}
	if full == 0 || full == 20 {
		t.Errorf("%d of 20 partial calls set all properties, want some but not all", full)
	}
}

func TestCanceled(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		ends := map[string]int{}
		for seed := range uint64(200) {
			c := sim.New(sim.Options{Seed: seed, Types: types, Latency: 3 * time.Second})
			c.Script(sim.At{"a", sim.Create, 1}, sim.Fault{sim.After, sim.How(seed % 2)}) // every second call fails
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			err := newEngine(c, disk, "a").create(short, nil)
			cancel()
			ends[kind(err)+" "+show(c)]++
			if kind(err) == "partial" && !strings.Contains(err.Error(), "simulated fault: failed after") {
				t.Errorf("seed %d: error of a partial Create = %v, want a simulated fault", seed, err)
			}
		}
		if ends["ok a:1"] == 0 || ends["partial a:1"] == 0 || ends["uncertain a:1"] == 0 || ends["uncertain "] == 0 ||
			len(ends) != 4 {
			t.Errorf("outcomes of Create with a timeout = %v, want ok and partial with a resource, and uncertain with and without", ends)
		}
		c := sim.New(sim.Options{Types: types})
		done, cancel := context.WithCancel(ctx)
		cancel()
		if err := newEngine(c, disk, "a").create(done, nil); kind(err) != "failed" || len(c.Calls()) > 0 {
			t.Errorf("Create with a canceled context = %v with calls %v, want an error without calls", err, c.Calls())
		}
	})
}
