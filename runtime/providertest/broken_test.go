package providertest_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/bags"
)

// author implements volumes with one mistake, selected by the field that is set.
type author struct {
	*volumeOps
	forgetful bool // the third Create forgets earlier tokens
	creations int
	strict    bool // Delete fails if the resource does not exist
	check     func(want *volumeState) error
	create    func(want *volumeState, id lumi.ID) (lumi.ID, error)
	get       func(v, old *volume) (*volume, error)
	absent    error // returned by Get for a missing resource
	update    func(want *volumeState) error
	log       func(ctx context.Context, v *volume) // called by Create
	delete    func(old *volumeState) error
}

func (a *author) Check(ctx context.Context, want *volumeState) error {
	if a.check != nil {
		return a.check(want)
	}
	return a.volumeOps.Check(ctx, want)
}

func (a *author) Create(ctx context.Context, want *volumeState) (lumi.ID, error) {
	a.cloud.mu.Lock()
	if a.creations++; a.creations == 3 && a.forgetful {
		clear(a.cloud.tokens)
	}
	a.cloud.mu.Unlock()
	id, err := a.volumeOps.Create(ctx, want)
	if a.log != nil {
		a.log(ctx, want.Properties)
	}
	if err != nil || a.create == nil {
		return id, err
	}
	return a.create(want, id)
}

func (a *author) Get(ctx context.Context, id lumi.ID, old *volumeState) (*volume, error) {
	v, err := a.volumeOps.Get(ctx, id, old)
	switch {
	case err != nil && a.absent != nil:
		return nil, a.absent
	case err != nil || a.get == nil:
		return v, err
	}
	if old == nil {
		return a.get(v, nil)
	}
	return a.get(v, old.Properties)
}

func (a *author) Update(ctx context.Context, old, want *volumeState, diff *lumi.Diff) error {
	if a.update != nil {
		return a.update(want)
	}
	return a.volumeOps.Update(ctx, old, want, diff)
}

func (a *author) Delete(ctx context.Context, old *volumeState) error {
	if a.delete != nil {
		return a.delete(old)
	}
	if _, err := a.volumeOps.Get(ctx, old.ID, old); err != nil && a.strict {
		return errors.New("409 gone")
	}
	return a.volumeOps.Delete(ctx, old)
}

// overrider is a provider of volumes with one broken method.
type overrider struct {
	typed
	check   func(resp *lumi.CheckResponse)
	create  func(resp *lumi.CreateResponse)
	get     func(resp *lumi.GetResponse)
	inspect func(resp *lumi.InspectChangeResponse)
	update  func(req *lumi.UpdateRequest) error
}

func (o *overrider) Check(ctx context.Context, req *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	resp, err := o.typed.Check(ctx, req)
	if err == nil && o.check != nil {
		o.check(resp)
	}
	return resp, err
}

func (o *overrider) Create(ctx context.Context, req *lumi.CreateRequest) (*lumi.CreateResponse, error) {
	resp, err := o.typed.Create(ctx, req)
	if err == nil && o.create != nil {
		o.create(resp)
	}
	return resp, err
}

func (o *overrider) Get(ctx context.Context, req *lumi.GetRequest) (*lumi.GetResponse, error) {
	resp, err := o.typed.Get(ctx, req)
	if err == nil && o.get != nil {
		o.get(resp)
	}
	return resp, err
}

func (o *overrider) InspectChange(
	ctx context.Context, req *lumi.InspectChangeRequest,
) (*lumi.InspectChangeResponse, error) {
	resp, err := o.typed.InspectChange(ctx, req)
	if err == nil && o.inspect != nil {
		o.inspect(resp)
	}
	return resp, err
}

func (o *overrider) Update(ctx context.Context, req *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	if o.update != nil {
		return &lumi.UpdateResponse{Properties: lumi.BagOf(&structpb.Struct{})}, o.update(req)
	}
	return o.typed.Update(ctx, req)
}

// small contains the required properties of a volume.
var small = providertest.Properties{"name": "data", "zone": "a", "size": 10, "password": "correct horse"}

// life is a life cycle that exposes most mistakes.
var life = providertest.Life{
	Create:   small,
	Computed: []string{"address"},
	Updates:  []providertest.Change{{Set: providertest.Properties{"size": 20}}},
	Replaces: []providertest.Replacement{{Set: providertest.Properties{"zone": "b"}}},
}

// The report of each mistake is in its golden file.
func TestReports(t *testing.T) {
	hidden := providertest.Life{Create: providertest.Properties{
		"name": "data", "zone": "a", "size": 10, "comment": providertest.Secret("hidden"),
	}}
	var c *cloud
	random := 0
	for _, test := range []struct {
		name     string
		author   author
		override overrider
		life     providertest.Life
	}{
		{name: "check changes what is given", author: author{check: func(want *volumeState) error {
			if !want.Unknown.Has("size") {
				want.Properties.Size++
			}
			return nil
		}}},
		{name: "check is not idempotent", author: author{check: func(want *volumeState) error {
			if c := want.Properties.Comment; c == nil {
				want.Properties.Comment = new("x")
			} else {
				*c += "x"
			}
			return nil
		}}},
		{name: "check refuses what it returned", author: author{check: func(want *volumeState) error {
			if want.Properties.Comment != nil {
				return lumi.Faultf("comment", "is set by the cloud")
			}
			want.Properties.Comment = new("x")
			return nil
		}}},
		{name: "check refuses what is not known", author: author{check: func(want *volumeState) error {
			if want.Properties.Size <= 0 {
				return lumi.Faultf("size", "must be more than 0")
			}
			return nil
		}}},
		{name: "check makes up what is not known", override: overrider{check: func(resp *lumi.CheckResponse) {
			if resp.Properties.Struct().Fields["zone"].GetStringValue() == wire.Unknown {
				bags.Set(&resp.Properties, "zone", structpb.NewStringValue("z"))
			}
		}}},
		{name: "check is random", author: author{check: func(want *volumeState) error {
			if want.Properties.Comment == nil {
				random++
				want.Properties.Comment = new(fmt.Sprint("comment ", random))
			}
			return nil
		}}},
		{name: "check bares a secret", override: overrider{check: func(resp *lumi.CheckResponse) { bare(&resp.Properties) }}},
		{name: "create fails", author: author{create: func(*volumeState, lumi.ID) (lumi.ID, error) {
			return "", errors.New("no more room")
		}}},
		{name: "create fails half way", author: author{create: func(_ *volumeState, id lumi.ID) (lumi.ID, error) {
			return id, errors.New("no more room")
		}}},
		{name: "create panics", author: author{create: func(*volumeState, lumi.ID) (lumi.ID, error) {
			panic("no idea")
		}}},
		{name: "create does not compute", author: author{create: func(want *volumeState, id lumi.ID) (lumi.ID, error) {
			want.Properties.Zones, want.Properties.Address = nil, nil
			return id, nil
		}}},
		{name: "create forgets what it computes", author: author{
			create: func(want *volumeState, id lumi.ID) (lumi.ID, error) {
				want.Properties.ARN = ""
				return id, nil
			},
			get: func(v, _ *volume) (*volume, error) {
				v.ARN = ""
				return v, nil
			},
		}},
		{name: "create returns too much", override: overrider{create: func(resp *lumi.CreateResponse) {
			bags.Set(&resp.Properties, "size", structpb.NewNumberValue(11))
			bags.Set(&resp.Properties, "address", lumi.NewUnknown())
		}}},
		{name: "create makes two", author: author{forgetful: true}},
		{name: "get fails", author: author{get: func(*volume, *volume) (*volume, error) { return nil, lumi.ErrNotFound }}},
		{name: "get differs", author: author{get: func(v, _ *volume) (*volume, error) {
			v.Size, v.Comment, v.Tags = 11, nil, map[string]string{"a": "b"}
			return v, nil
		}}},
		{name: "get differs for a refresh", author: author{get: func(v, old *volume) (*volume, error) {
			if old != nil {
				v.Comment = nil
			}
			return v, nil
		}}},
		{name: "get forgets after an update", author: author{get: func(v, old *volume) (*volume, error) {
			if old != nil && old.Size == 20 {
				v.Comment = nil
			}
			return v, nil
		}}},
		{name: "get repeats what it is told", author: author{get: func(v, old *volume) (*volume, error) {
			if old != nil {
				v.Size = old.Size
			}
			return v, nil
		}}},
		{name: "get needs what it was told", author: author{get: func(v, old *volume) (*volume, error) {
			if old == nil {
				return nil, errors.New("which volume?")
			}
			return v, nil
		}}},
		{name: "create logs a secret", author: author{log: func(ctx context.Context, v *volume) {
			lumi.Log(ctx).Warn("created", "token", *v.Token)
		}}},
		{name: "a change is not ignored", life: providertest.Life{
			Create: small, Ignores: []providertest.Properties{{"comment": "Made for a test"}},
		}},
		{name: "what is ignored is not kept", override: overrider{inspect: func(resp *lumi.InspectChangeResponse) {
			resp.Properties = lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{"size": number(1)}})
		}}, life: providertest.Life{
			Create: small, Ignores: []providertest.Properties{{"comment": "MADE by a test"}},
		}},
		{name: "get bares a secret", override: overrider{get: func(resp *lumi.GetResponse) { bare(&resp.Properties) }}},
		{name: "check bares what came as a secret", override: overrider{
			check: func(resp *lumi.CheckResponse) { bare(&resp.Properties) },
		}, life: hidden},
		{name: "get bares what came as a secret", override: overrider{
			get: func(resp *lumi.GetResponse) { bare(&resp.Properties) },
		}, life: hidden},
		{name: "a change where there is none", override: overrider{inspect: func(resp *lumi.InspectChangeResponse) {
			if len(resp.Changes) == 0 {
				resp.Changes = []lumi.Change{{Kind: lumi.Modified, Path: "size", Old: number(10), New: number(10)}}
			}
		}}},
		// Package serve masks only secrets passed to the call, and Get receives none.
		{name: "get tells a secret", author: author{get: func(v, _ *volume) (*volume, error) {
			return nil, fmt.Errorf("the token %s has expired", *v.Token)
		}}},
		{name: "get tells an encoded secret", author: author{get: func(v, _ *volume) (*volume, error) {
			return nil, fmt.Errorf("the header %s is refused", base64.StdEncoding.EncodeToString([]byte("me:"+*v.Token)))
		}}},
		{name: "no change where there is one", override: overrider{inspect: func(resp *lumi.InspectChangeResponse) {
			resp.Changes, resp.Replaces = nil, nil
		}}},
		{name: "update does nothing", author: author{update: func(*volumeState) error { return nil }}},
		{name: "update fails half way", author: author{update: func(want *volumeState) error {
			want.Properties.Tags = map[string]string{"a": "b"}
			want.Done("tags")
			return errors.New("no more room")
		}}},
		{name: "update works once", author: author{update: func(want *volumeState) error {
			v := c.volumes[want.ID]
			if v.Size == want.Properties.Size {
				return errors.New("409 nothing to change")
			}
			v.Size = want.Properties.Size
			c.volumes[want.ID] = v
			return nil
		}}},
		{name: "update where it must be refused", override: overrider{update: func(*lumi.UpdateRequest) error {
			return nil
		}}, life: providertest.Life{Create: small, Replaces: life.Replaces}},
		{name: "update refused otherwise", override: overrider{update: func(*lumi.UpdateRequest) error {
			return errors.New("that cannot be")
		}}, life: providertest.Life{Create: small, Replaces: life.Replaces}},
		{name: "delete does nothing", author: author{delete: func(*volumeState) error { return nil }}},
		{name: "delete twice fails", author: author{strict: true}},
		{name: "get after delete", author: author{absent: errors.New("404 not found")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, run(t, func(t providertest.TB) {
				c = newCloud()
				test.author.volumeOps = &volumeOps{c}
				test.override.typed = newVolumes(&test.author)
				h := providertest.InProcess(t, providertest.Resources(&test.override))
				l := test.life
				if l.Create == nil {
					l = life
				}
				h.Resource(volumeToken, "data").Life(t, l)
			}))
		})
	}
}

// changer implements snapshots that modify references.
type changer struct{ *snapshotOps }

func (c *changer) Find(ctx context.Context, want *snapshotState) (lumi.ID, error) {
	clear(want.Refs)
	return c.snapshotOps.Find(ctx, want)
}

func (c *changer) Get(ctx context.Context, id lumi.ID, old *snapshotState) (*snapshot, error) {
	if old != nil {
		clear(old.Refs)
	}
	return c.snapshotOps.Get(ctx, id, old)
}

// A Find or Get that modifies references is reported.
func TestMutatedReferences(t *testing.T) {
	got := said(run(t, func(t providertest.TB) {
		h := providertest.InProcess(t, providertest.Resources(newSnapshots(&changer{&snapshotOps{newCloud()}})))
		h.Unnamed(snapshotToken).Create(t, ofGiven(h))
	}))
	const volume = "the reference to urn:lumi:test::store:index::store:index:Volume::data in its request\n"
	const want = "store:index:Snapshot \"#1\": create: Find modifies " + volume +
		"store:index:Snapshot \"#1\": create, get: Get modifies " + volume +
		"store:index:Snapshot \"#1\": cleaned up id-1\n"
	if got != want {
		t.Errorf("report =\n%s\nwant\n%s", got, want)
	}
}

// renamer implements snapshots. Its Name returns a different name for each call.
type renamer struct {
	*snapshotOps
	calls int
}

func (r *renamer) Name(context.Context, *snapshotState) (string, error) {
	r.calls++
	return fmt.Sprintf("snapshot-%d", r.calls), nil
}

// A Name that is not deterministic is reported.
func TestNameNotDeterministic(t *testing.T) {
	got := said(run(t, func(t providertest.TB) {
		h := providertest.InProcess(t, providertest.Resources(newSnapshots(&renamer{snapshotOps: &snapshotOps{newCloud()}})))
		s := h.Unnamed(snapshotToken)
		s.Create(t, ofGiven(h))
		s.Retry(t)
	}))
	const want = "store:index:Snapshot \"#1\": create again after a lost response: Name returns a different name for the same" +
		" properties: expected \"snapshot-1\", found \"snapshot-2\"\n" +
		"store:index:Snapshot \"#1\": cleaned up id-1\n"
	if got != want {
		t.Errorf("report =\n%s\nwant\n%s", got, want)
	}
}

// Values that the provider probably forgot to set are reported.
func TestUnset(t *testing.T) {
	const report = "store:index:Volume \"data\": create: Create returns arn unset, as %s. It is" +
		" computed and, not being a pointer in the IDL, must be known now; if this is its real value, list it in" +
		" MayBeEmpty\nstore:index:Volume \"data\": cleaned up id-1\n"
	for _, test := range []struct {
		value any
		want  string // "" if accepted
	}{
		{"", `""`},
		{0, `0`},
		{map[string]any{"host": "", "port": 0, "open": false}, `{"host":"","open":false,"port":0}`},
		{map[string]any{"address": map[string]any{"host": ""}, "none": map[string]any{}}, `{"address":{"host":""},"none":{}}`},
		{providertest.Secret(""), `""`},
		{false, ""},
		{map[string]any{"host": "", "port": 1}, ""},
		{map[string]any{"host": "", "open": true}, ""},
		{map[string]any{"host": "", "names": []string{}}, ""},
		{map[string]any{"open": false}, ""},
		{map[string]any{}, ""},
		{[]string{""}, ""},
	} {
		name := fmt.Sprint(test.value)
		t.Run(name, func(t *testing.T) {
			create := func(t providertest.TB, names ...string) {
				o := &overrider{typed: newVolumes(&author{volumeOps: &volumeOps{newCloud()}})}
				h := providertest.InProcess(t, providertest.Resources(o))
				value := h.Given("other:index:Value", "value", "v", providertest.Properties{"value": test.value}).Output("value")
				o.create = func(resp *lumi.CreateResponse) { bags.Set(&resp.Properties, "arn", value) }
				o.get = func(resp *lumi.GetResponse) { bags.Set(&resp.Properties, "arn", value) }
				v := h.Resource(volumeToken, "data")
				v.MayBeEmpty(names...)
				v.Create(t, small)
			}
			create(t, "arn")
			if test.want == "" {
				create(t)
				return
			}
			got := said(run(t, func(t providertest.TB) { create(t) }))
			if want := fmt.Sprintf(report, test.want); got != want {
				t.Errorf("report =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A test can expect an empty computed value.
func TestExpectedEmpty(t *testing.T) {
	a := &author{volumeOps: &volumeOps{newCloud()}}
	a.create = func(want *volumeState, id lumi.ID) (lumi.ID, error) {
		want.Properties.ARN = ""
		return id, nil
	}
	a.get = func(v, _ *volume) (*volume, error) {
		v.ARN = ""
		return v, nil
	}
	l := life
	l.Expect = providertest.Properties{"arn": ""}
	l.Updates = []providertest.Change{{Set: providertest.Properties{"size": 20}, Expect: l.Expect}}
	l.Replaces = []providertest.Replacement{{Set: providertest.Properties{"zone": "b"}, Expect: l.Expect}}
	providertest.InProcess(t, providertest.Resources(newVolumes(a))).Resource(volumeToken, "data").Life(t, l)
	l.Expect, l.Updates, l.Replaces, l.MayBeEmpty = nil, nil, nil, []string{"arn"}
	providertest.InProcess(t, providertest.Resources(newVolumes(a))).Resource(volumeToken, "data").Life(t, l)
}

// bare unwraps the secrets in a bag.
func bare(bag *lumi.Bag) {
	for _, name := range []string{"password", "token", "comment"} {
		if inner := bag.Struct().Fields[name].GetStructValue().GetFields()["value"]; inner != nil {
			bags.Set(bag, name, inner)
		}
	}
}

func number(n float64) *structpb.Value { return structpb.NewNumberValue(n) }
