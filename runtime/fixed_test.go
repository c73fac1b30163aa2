package lumi_test

import (
	"context"
	"errors"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// door has what cidlc generates for fixed properties.
type door struct {
	Size  float64
	ARN   string
	Key   *string
	Zones []string
	Parts map[string]string
	Late  *string
	URL   string
}

func (d *door) Lumi(p *lumi.Props) {
	lumi.Required(p, "size", &d.Size, lumi.Number)
	lumi.Required(p, "arn", &d.ARN, lumi.With(lumi.String, lumi.Equal("caseless"), lumi.Was("id")), lumi.Out, lumi.Fixed)
	lumi.Optional(p, "key", &d.Key, lumi.String, lumi.Out, lumi.Fixed, lumi.Secret)
	lumi.Required(p, "zones", &d.Zones, lumi.With(lumi.List(lumi.String), lumi.Equal("set")), lumi.Out, lumi.Fixed)
	lumi.Nilable(p, "parts", &d.Parts, lumi.Map(lumi.String), lumi.Out, lumi.Fixed)
	lumi.Optional(p, "late", &d.Late, lumi.String, lumi.Out, lumi.Fixed)
	lumi.Required(p, "url", &d.URL, lumi.String, lumi.Out)
}

type doorState = lumi.State[*door]

type doorOps struct {
	create func(want *doorState) error
	update func(old, want *doorState) error
}

func (doorOps) Check(context.Context, *doorState) error { return nil }

func (doorOps) Name(context.Context, *doorState) (string, error) { return "d", nil }

func (o doorOps) Create(_ context.Context, want *doorState) (lumi.ID, error) {
	return "id", o.create(want)
}

func (doorOps) Get(context.Context, lumi.ID, *doorState) (*door, error) {
	return &door{ARN: "other", URL: "u"}, nil
}

func (o doorOps) Update(_ context.Context, old, want *doorState, _ *lumi.Diff) error {
	return o.update(old, want)
}

func (doorOps) Delete(context.Context, *doorState) error { return nil }

// Whatever an Update returns, the properties that it reports have the old values of fixed ones.
func TestFixed(t *testing.T) {
	const (
		key     = `"key": {"$sig": "$secret", "value": "hunter2"}`
		kept    = `"arn": "a", ` + key + `, "zones": ["x", "y"], "parts": {"a": "b"}`
		invalid = "partially done: the provider returned an invalid result: "
	)
	own := func(properties string) func(_, _ *doorState) error {
		return func(*doorState, *doorState) error {
			return &lumi.PartialError{ID: "id", Properties: bag(t, properties), Err: errHalf}
		}
	}
	for _, test := range []struct {
		name         string
		old          string
		update       func(old, want *doorState) error
		message, has string
	}{
		{"nothing", kept, func(_, want *doorState) error {
			want.Properties.URL = "v"
			return nil
		}, "", kept + `, "url": "v"`},
		{"equal", kept, func(_, want *doorState) error {
			want.Properties.ARN, want.Properties.Zones = "A", []string{"y", "x"}
			return nil
		}, "", kept + `, "url": "u"`},
		{"of older state", `"id": "a"`, func(_, want *doorState) error {
			want.Properties.Late, want.Properties.Zones = new("now"), []string{}
			return nil
		}, "", `"arn": "a", "late": "now", "zones": [], "url": "u"`},
		{"changed", kept, func(_, want *doorState) error {
			want.Properties.ARN = "b"
			return nil
		}, invalid + `arn: is fixed, but Update changed it from "a" to "b"`, kept + `, "url": "u", "size": 2`},
		{"in the old properties too", kept, func(old, want *doorState) error {
			old.Properties.ARN, want.Properties.ARN = "b", "b"
			return nil
		}, invalid + `arn: is fixed, but Update changed it from "a" to "b"`, kept + `, "url": "u", "size": 2`},
		{"all", kept, func(_, want *doorState) error {
			*want.Properties = door{ARN: "b", Key: new("hunter3"), Zones: []string{"x"}, Late: new("now"), URL: "v"}
			return nil
		}, invalid + `arn: is fixed, but Update changed it from "a" to "b"` +
			"\nkey: is fixed, but Update changed it from (secret) to (secret)" +
			"\nzones[1]: is fixed, but Update changed it\nparts: is fixed, but Update changed it",
			kept + `, "late": "now", "url": "v", "size": 2`},
		{"partly", kept, func(_, want *doorState) error {
			want.Properties.Parts["a"] = "c"
			want.Done("size")
			return errHalf
		}, "partially done: half way\nthe provider returned an invalid result: " +
			`parts.a: is fixed, but Update changed it from "b" to "c"`, kept + `, "url": "u", "size": 2`},
		{"partly, with equal ones", kept, own(`{"arn": "A", ` + key + `, "zones": ["x", "y"], "parts": {"a": "b"}, "size": 1}`),
			"partially done: half way", kept + `, "size": 1`},
		{"partly, without", kept, own(`{}`), "partially done: half way\nthe provider returned an invalid result: " +
			"arn: is fixed, but Update changed it\nkey: is fixed, but Update changed it\nzones: is fixed, but Update changed it\n" +
			"parts: is fixed, but Update changed it", kept},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := lumi.NewProvider[*door]("shop:index:Door", func() *door { return new(door) }, doorOps{update: test.update})
			resp, err := p.Update(t.Context(), &lumi.UpdateRequest{
				ID: "id", Old: bag(t, `{"size": 1, "url": "u", `+test.old+`}`), New: bag(t, `{"size": 2}`),
			})
			var has lumi.Bag
			switch {
			case test.message != "":
				has = failed(t, err, "id", test.message)
			case err != nil:
				t.Fatal(err)
			default:
				has = resp.Properties
			}
			if !same(bag(t, "{"+test.has+"}"), has) {
				t.Errorf("got %v", has)
			}
		})
	}
}

// An Update may complete a resource that Create has left without some of its fixed properties.
func TestFixedAfterPartialCreate(t *testing.T) {
	p := lumi.NewProvider[*door]("shop:index:Door", func() *door { return new(door) }, doorOps{
		create: func(want *doorState) error {
			want.Properties.Zones = []string{"x"}
			return errHalf
		},
		update: func(_, want *doorState) error {
			want.Properties.ARN = "a"
			return nil
		},
	})
	_, err := p.Create(t.Context(), &lumi.CreateRequest{Properties: bag(t, `{"size": 1}`)})
	has := failed(t, err, "id", "partially done: half way")
	if !same(bag(t, `{"zones": ["x"], "url": ""}`), has) {
		t.Errorf("got %v", has)
	}
	resp, err := p.Update(t.Context(), &lumi.UpdateRequest{ID: "id", Old: has, New: bag(t, `{"size": 1}`)})
	if err != nil || !same(bag(t, `{"arn": "a", "zones": ["x"], "url": ""}`), resp.Properties) {
		t.Errorf("got %v, %v", resp, err)
	}
}

// A refresh reads what is there, which is drift and no error.
func TestFixedIsRefreshed(t *testing.T) {
	p := lumi.NewProvider[*door]("shop:index:Door", func() *door { return new(door) }, doorOps{})
	resp, err := p.Get(t.Context(), &lumi.GetRequest{ID: "id", Purpose: lumi.Refresh, Old: bag(t, `{"size": 1, "arn": "a", "url": "u"}`)})
	if err != nil {
		t.Fatal(err)
	}
	expect.Equal(t, "other", resp.Properties.Get("arn").(string), "")
}

// An Update may be canceled at any point.
func TestFixedCanceled(t *testing.T) {
	p := lumi.NewProvider[*door]("shop:index:Door", func() *door { return new(door) }, doorOps{
		update: func(_, _ *doorState) error { return nil },
	})
	req := &lumi.UpdateRequest{ID: "id", Old: bag(t, `{"size": 1, "url": "u"}`), New: bag(t, `{"size": 2}`)}
	canceled := 0
	for looks := range 20 {
		_, err := p.Update(&endingContext{Context: t.Context(), looks: looks}, req)
		if errors.Is(err, context.Canceled) {
			canceled++
		} else if err != nil {
			t.Errorf("canceled at %d: %v", looks, err)
		}
	}
	if canceled < 3 || canceled == 20 {
		t.Errorf("%d of 20 calls were canceled, want some", canceled)
	}
}
