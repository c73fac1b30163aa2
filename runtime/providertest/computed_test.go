package providertest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// shelf is like a struct generated for a resource with computed properties.
type shelf struct {
	Name  string
	Room  *string
	Label *string
	Size  float64
	Doors []string
}

// Lumi implements lumi.Object.
func (s *shelf) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &s.Name, lumi.String, lumi.Replaces)
	lumi.Optional(p, "room", &s.Room, lumi.String, lumi.Computed, lumi.Replaces)
	lumi.Optional(p, "label", &s.Label, lumi.String, lumi.Computed, lumi.Secret)
	lumi.Required(p, "size", &s.Size, lumi.Number)
	lumi.Nilable(p, "doors", &s.Doors, lumi.With(lumi.List(lumi.With(lumi.String, lumi.Equal("caseless"))), lumi.Equal("set")))
}

const shelfToken tokens.Type = "store:index:Shelf"

// shelves sorts doors and lowers their case. It has bugs: "forgets" returns no label, "fails" fails after making a shelf, and
// "drops" loses a door.
type shelves struct {
	mu   sync.Mutex
	bug  string
	made map[lumi.ID]shelf
}

func (*shelves) Check(context.Context, *lumi.State[*shelf]) error { return nil }

func (c *shelves) Create(_ context.Context, want *lumi.State[*shelf]) (lumi.ID, error) {
	id := lumi.ID(want.Token)
	want.Done("size")
	return id, c.put(id, want.Properties)
}

func (*shelves) IdempotentCreate() bool { return true }

func (c *shelves) put(id lumi.ID, s *shelf) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Room == nil {
		s.Room = new("attic")
	}
	if s.Label == nil && c.bug != "forgets" {
		s.Label = new("label of " + s.Name)
	}
	made := *s
	made.Doors = nil
	for _, door := range s.Doors[min(len(s.Doors), map[string]int{"drops": 1}[c.bug]):] {
		made.Doors = append(made.Doors, strings.ToLower(door))
	}
	slices.Sort(made.Doors)
	c.made[id] = made
	if c.bug == "fails" {
		c.bug = ""
		return errors.New("broken")
	}
	return nil
}

func (c *shelves) Get(_ context.Context, id lumi.ID, _ *lumi.State[*shelf]) (*shelf, error) {
	s, ok := c.made[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &s, nil
}

func (c *shelves) Update(_ context.Context, old, want *lumi.State[*shelf], _ *lumi.Diff) error {
	return c.put(old.ID, want.Properties)
}

func (c *shelves) Delete(_ context.Context, old *lumi.State[*shelf]) error {
	delete(c.made, old.ID)
	return nil
}

func shelvesWith(t providertest.TB, bug string) *providertest.Resource {
	p := lumi.NewNamedProvider(shelfToken, func() *shelf { return new(shelf) }, &shelves{bug: bug, made: map[lumi.ID]shelf{}})
	return providertest.InProcess(t, providertest.Resources(&p)).Resource(shelfToken, "s")
}

func TestComputed(t *testing.T) {
	one := providertest.Properties{"name": "s", "size": 1}
	shelvesWith(t, "").Life(t, providertest.Life{
		Create: one,
		Expect: providertest.Properties{"room": "attic"},
		Updates: []providertest.Change{
			{Set: providertest.Properties{"size": 2}, Changes: []string{"~ size: 1 -> 2"}},
			{Set: providertest.Properties{"label": "mine"}, Changes: []string{"~ label: (secret) -> (secret)"}},
			{Set: providertest.Properties{"label": nil, "size": 3}, Changes: []string{"~ size: 2 -> 3"}},
		},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"room": "cellar"}}, {Set: providertest.Properties{"name": "t"}}},
	})

	s := shelvesWith(t, "fails")
	s.Create(t, one, providertest.WantPartial("broken"))
	s.Get(t)

	report := run(t, func(t providertest.TB) { shelvesWith(t, "forgets").Create(t, one) })
	if want := "Create does not return label, which is computed and which the program does not set"; !strings.Contains(report, want) {
		t.Error(report)
	}
}

// A cloud may return equal values in another spelling.
func TestEqual(t *testing.T) {
	create := providertest.Properties{"name": "s", "size": 1, "doors": []string{"Up", "down"}}
	shelvesWith(t, "").Life(t, providertest.Life{
		Create: create,
		Updates: []providertest.Change{
			{Set: providertest.Properties{"doors": []string{"left", "UP"}}, Changes: []string{`~ doors[0]: "Up" -> "left"`, `~ doors[1]: "down" -> "UP"`}},
			{Set: providertest.Properties{"doors": []string{"UP", "Left"}, "size": 2}, Changes: []string{"~ size: 1 -> 2"}},
		},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"name": "t"}}},
	})
	s := shelvesWith(t, "")
	s.Create(t, create)
	s.NoChange(t, providertest.Properties{"doors": []string{"DOWN", "up"}})
	report := run(t, func(t providertest.TB) { shelvesWith(t, "drops").Create(t, create) })
	if want := `doors[1]: expected "down", found nothing`; !strings.Contains(report, want) {
		t.Error(report)
	}
}

// gate is like a struct generated for a resource with fixed properties.
type gate struct {
	Size float64
	ARN  string
	Made *string
}

// Lumi implements lumi.Object.
func (g *gate) Lumi(p *lumi.Props) {
	lumi.Required(p, "size", &g.Size, lumi.Number)
	lumi.Required(p, "arn", &g.ARN, lumi.With(lumi.String, lumi.Equal("caseless")), lumi.Out, lumi.Fixed)
	lumi.Optional(p, "made", &g.Made, lumi.String, lumi.Out, lumi.Fixed)
}

// gates gives each gate the ARN that it is told to.
type gates struct {
	arn  string
	made map[lumi.ID]gate
}

func (*gates) Check(context.Context, *lumi.State[*gate]) error { return nil }

func (*gates) Name(context.Context, *lumi.State[*gate]) (string, error) { return "g", nil }

func (c *gates) Create(_ context.Context, want *lumi.State[*gate]) (lumi.ID, error) {
	want.Properties.ARN = "arn-1"
	c.made["id"] = *want.Properties
	return "id", nil
}

func (c *gates) Get(_ context.Context, id lumi.ID, _ *lumi.State[*gate]) (*gate, error) {
	g, ok := c.made[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &g, nil
}

func (c *gates) Update(_ context.Context, _, want *lumi.State[*gate], _ *lumi.Diff) error {
	want.Properties.ARN, want.Properties.Made = c.arn, new("now")
	c.made["id"] = *want.Properties
	return nil
}

func (c *gates) Delete(context.Context, *lumi.State[*gate]) error {
	clear(c.made)
	return nil
}

// foreign is a provider without the checks of the runtime.
type foreign struct {
	lumi.Provider
	answer string // to Update
	fails  bool
}

func (p *foreign) Update(_ context.Context, req *lumi.UpdateRequest) (*lumi.UpdateResponse, error) {
	answer := lumi.BagOf(&structpb.Struct{Fields: map[string]*structpb.Value{"arn": structpb.NewStringValue(p.answer)}})
	if p.fails {
		return nil, &lumi.PartialError{ID: req.ID, Properties: answer, Err: errors.New("half way")}
	}
	return &lumi.UpdateResponse{Properties: answer}, nil
}

func TestFixed(t *testing.T) {
	const token tokens.Type = "store:index:Gate"
	update := func(t providertest.TB, arn string, of func(lumi.Provider) typed) {
		made := lumi.NewProvider[*gate](token, func() *gate { return new(gate) }, &gates{arn, map[lumi.ID]gate{}})
		g := providertest.InProcess(t, providertest.Resources(of(made))).Resource(token, "g")
		g.Create(t, providertest.Properties{"size": 1})
		g.Update(t, providertest.Properties{"size": 2})
	}
	native := func(p lumi.Provider) typed { return &p }
	const changed = "update: Update changes properties that are fixed:\n\tarn: expected \"arn-1\", found \"arn-2\"\n"
	update(t, "ARN-1", native)
	for _, test := range []struct {
		of   func(lumi.Provider) typed
		want string
	}{
		{native, `arn: is fixed, but Update changed it from "arn-1" to "arn-2"`},
		{func(p lumi.Provider) typed { return &foreign{p, "arn-2", false} }, changed},
		{func(p lumi.Provider) typed { return &foreign{p, "arn-2", true} }, changed},
	} {
		report := run(t, func(t providertest.TB) { update(t, "arn-2", test.of) })
		if !strings.Contains(report, test.want) {
			t.Error(report)
		}
	}
}
