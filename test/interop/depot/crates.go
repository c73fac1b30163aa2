package depot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Depot is an in-memory cloud, managed by the provider.
type Depot struct {
	mu     sync.Mutex
	config Config
	made   int
	crates map[lumi.ID]*stored
	// shelves maps shelf ids to numbers of rows.
	shelves map[lumi.ID]float64
}

// stored is an existing crate and the token of the Create request that created it.
type stored struct {
	crate
	token string
}

// NewDepot returns an empty depot.
func NewDepot() *Depot {
	return &Depot{crates: map[lumi.ID]*stored{}, shelves: map[lumi.ID]float64{}}
}

// Configure opens the depot. It returns an error if the site has no depot or the password is too short.
func (d *Depot) Configure(ctx context.Context, c *Config) error {
	if c.Site == "moon" {
		return lumi.Faultf(Config_Site, "has no depot")
	}
	if len(c.Password) < 6 {
		return fmt.Errorf("the gate refuses %q", c.Password)
	}
	lumi.Log(ctx).Info("opening the gate", "with", c.Password)
	d.config = *c
	return nil
}

// Crates implements CrateProviderOps and all optional operations.
type Crates struct{ Depot *Depot }

type crateState = lumi.State[*crate]

// Check rejects negative numbers and generates a missing alias.
func (c Crates) Check(ctx context.Context, want *crateState) error {
	p := want.Properties
	var faults []error
	if p.Size < 0 {
		faults = append(faults, lumi.Faultf(Crate_Size, "is negative"))
	}
	for thing, n := range p.Contents {
		if n < 0 {
			faults = append(faults, lumi.Faultf(lumi.Path(Crate_Contents).Key(thing), "is negative"))
		}
	}
	switch {
	case p.Alias != nil || want.Unknown.Has(Crate_Alias):
	case want.Old != nil:
		p.Alias = want.Old.Alias
	default:
		p.Alias = new(want.Seed.Name(p.Name+"-", 6, lumi.LowerAlphanumeric))
	}
	return errors.Join(faults...)
}

// Create creates a crate, or returns the existing crate with the request's token.
func (c Crates) Create(ctx context.Context, want *crateState) (lumi.ID, error) {
	p := want.Properties
	if p.Key != nil {
		lumi.Log(ctx).Warn("sealing", "key", *p.Key)
	}
	if p.Trouble != nil && *p.Trouble == TroubleFail {
		return "", trouble(ctx, p)
	}
	id, known := c.find(want.Token)
	if !known {
		id = c.Depot.add(want)
	}
	c.Depot.mu.Lock()
	made := c.Depot.crates[id]
	p.Serial, p.Place, p.Seal = made.Serial, made.Place, made.Seal
	c.Depot.mu.Unlock()
	err := trouble(ctx, p)
	if err != nil && *p.Trouble == TroubleHalf {
		want.Done(Crate_Contents)
		return id, err
	}
	if err != nil {
		return "", err
	}
	return id, nil
}

// IdempotentCreate implements lumi.IdempotentCreator.
func (Crates) IdempotentCreate() bool { return true }

// Find implements lumi.Finder.
func (c Crates) Find(_ context.Context, want *crateState) (lumi.ID, error) {
	id, known := c.find(want.Token)
	if !known {
		return "", fmt.Errorf("no crate has the token %s: %w", want.Token, lumi.ErrNotFound)
	}
	return id, nil
}

// Get returns the existing crate. The depot does not reveal keys, so Get copies the key from old.
func (c Crates) Get(_ context.Context, id lumi.ID, old *crateState) (*crate, error) {
	c.Depot.mu.Lock()
	defer c.Depot.mu.Unlock()
	found, ok := c.Depot.crates[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	got := found.crate
	if old != nil {
		got.Trouble = old.Properties.Trouble
	}
	return &got, nil
}

// InspectChange implements lumi.Inspector.
func (c Crates) InspectChange(_ context.Context, old, want *crateState, diff *lumi.Diff) error {
	if a, b := old.Properties.Rules, want.Properties.Rules; a != nil && b != nil && compact(*a) == compact(*b) {
		diff.Ignore(Crate_Rules)
	}
	if lid := old.Properties.Lid; lid != nil && *lid == LidLock && diff.Changed(Crate_Lid) {
		diff.Replace(Crate_Lid)
		diff.DeleteBeforeReplace()
	}
	return nil
}

// Update updates the contents before all other properties.
func (c Crates) Update(ctx context.Context, old, want *crateState, _ *lumi.Diff) error {
	lumi.Progress(ctx, "opening crate %s", old.ID)
	err := trouble(ctx, want.Properties)
	if err != nil && *want.Properties.Trouble != TroubleHalf {
		return err
	}
	c.Depot.mu.Lock()
	defer c.Depot.mu.Unlock()
	found, ok := c.Depot.crates[old.ID]
	if !ok {
		return fmt.Errorf("crate %s: %w", old.ID, lumi.ErrNotFound)
	}
	found.Contents = want.Properties.Contents
	want.Done(Crate_Contents)
	if err != nil {
		return err
	}
	want.Properties.Serial += "+"
	found.crate = *want.Properties
	return nil
}

// Delete implements CrateProviderOps.
func (c Crates) Delete(ctx context.Context, old *crateState) error {
	if err := trouble(ctx, old.Properties); err != nil {
		return err
	}
	return c.Depot.remove(old.ID)
}

// Upgrade implements lumi.Upgrader.
func (Crates) Upgrade(_ context.Context, old *crateState, stored lumi.Bag) error {
	if paint, ok := stored.Get("paint").(string); ok && old.Properties.Color == nil {
		old.Properties.Color = &paint
	}
	return nil
}

// trouble simulates the failure selected by p.Trouble. It returns nil if p.Trouble is nil.
func trouble(ctx context.Context, p *crate) error {
	if p.Trouble == nil {
		return nil
	}
	switch *p.Trouble {
	case TroubleHalf:
		return lumi.Faultf(Crate_Lid, "does not fit")
	case TroubleLost:
		return lumi.Uncertain(errors.New("the depot hung up"))
	case TroubleBusy:
		return &lumi.RetryError{Err: errors.New("the depot is busy"), After: 1500 * time.Millisecond}
	case TroublePanic:
		panic("the key is " + *p.Key)
	case TroubleSlow:
		lumi.Progress(ctx, "waiting")
		<-ctx.Done()
		return ctx.Err()
	}
	return errors.New("the depot is closed")
}

func (c Crates) find(token string) (lumi.ID, bool) {
	c.Depot.mu.Lock()
	defer c.Depot.mu.Unlock()
	for id, made := range c.Depot.crates {
		if made.token == token {
			return id, true
		}
	}
	return "", false
}

func (d *Depot) add(want *crateState) lumi.ID {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made++
	made := &stored{*want.Properties, want.Token}
	made.Serial = d.config.Site + "/" + strconv.Itoa(d.made)
	made.Seal = strings.Repeat("seal", 2) + strconv.Itoa(d.made)
	if shelf := want.Properties.Shelf; shelf != nil {
		ref, _ := want.Refs.Resolve(*shelf)
		made.Place = new(string(ref.ID))
	}
	id := lumi.ID("crate-" + strconv.Itoa(d.made))
	d.crates[id] = made
	return id
}

func (d *Depot) remove(id lumi.ID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.crates[id]; !ok {
		return lumi.ErrNotFound
	}
	delete(d.crates, id)
	return nil
}

// compact removes insignificant white space from a JSON document. It returns invalid JSON unchanged.
func compact(document string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(document)); err != nil {
		return document
	}
	return b.String()
}
