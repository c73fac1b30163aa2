package traps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Cloud has boxes and lids.
type Cloud struct {
	// Before and After are called around each change of a box. The change returns their errors.
	Before, After func(ctx context.Context, op string) error
	// Unreadable and NoLids, if not nil, are the errors of reading boxes and of creating lids.
	Unreadable, NoLids error
	// Changes is the diff of the last update of a box.
	Changes string

	mu     sync.Mutex
	file   string
	config Config
	boxes  map[lumi.ID]*box
	lids   map[lumi.ID]*lid
	made   map[string]lumi.ID // by token
}

// NewCloud returns an empty cloud.
func NewCloud() *Cloud {
	return &Cloud{boxes: map[lumi.ID]*box{}, lids: map[lumi.ID]*lid{}, made: map[string]lumi.ID{}}
}

// Keep makes the cloud start from a file, if it exists, and save each change to it, except the content of assets.
func (c *Cloud) Keep(file string) error {
	c.file = file
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &kept{&c.boxes, &c.lids, &c.made})
}

// kept is the content of a cloud's file.
type kept struct {
	Boxes *map[lumi.ID]*box
	Lids  *map[lumi.ID]*lid
	Made  *map[string]lumi.ID
}

// lock locks the cloud. The result saves and unlocks it.
func (c *Cloud) lock() (unlock func()) {
	c.mu.Lock()
	return func() {
		defer c.mu.Unlock()
		if c.file == "" {
			return
		}
		data, err := json.Marshal(kept{&c.boxes, &c.lids, &c.made})
		if err == nil {
			err = os.WriteFile(c.file, data, 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
}

// Plugin returns the plugin that manages the cloud.
func (c *Cloud) Plugin() serve.Plugin {
	return serve.Plugin{
		Package: "acme/traps", Version: "v1.2.3",
		Configure: serve.Configure(func(_ context.Context, config *Config) error {
			c.config = *config
			return nil
		}),
		Resources: map[tokens.Type]lumi.ResourceProvider{Box: NewBoxProvider(boxes{c}), Lid: NewLidProvider(lids{c})},
		Functions: map[tokens.Type]lumi.Function{FindLid: FindLidFunc(c.find).Function()},
	}
}

// Drift changes the code, size, and shape of a box without the engine.
func (c *Cloud) Drift(id, code string, size int) {
	defer c.lock()()
	b := c.boxes[lumi.ID(id)]
	b.Code, b.Size, b.Shape = &code, &size, &Shape{Round: &Round{Radius: float64(size)}}
}

// Lose deletes a box without the engine.
func (c *Cloud) Lose(id string) {
	defer c.lock()()
	delete(c.boxes, lumi.ID(id))
}

// Config returns the configuration.
func (c *Cloud) Config() Config { return c.config }

func (c *Cloud) hook(ctx context.Context, hook func(context.Context, string) error, op string) error {
	if hook == nil {
		return nil
	}
	return hook(ctx, op)
}

func (c *Cloud) find(_ context.Context, call *findLid, _ lumi.References) error {
	for id, l := range c.lids {
		if l.Color != nil && *l.Color == call.Color {
			call.Lid, call.Key = urn.ByID(Lid, string(id)), c.config.Key
			return nil
		}
	}
	return fmt.Errorf("no %s lid: %w", call.Color, lumi.ErrNotFound)
}

type boxes struct{ *Cloud }

func (boxes) Check(ctx context.Context, want *lumi.State[*box]) error {
	b := want.Properties
	if b.Label == nil && !want.Unknown.Has(Box_Label) {
		b.Label = new(want.Seed.Name("box-", 6, lumi.LowerAlphanumeric))
	}
	if b.Password != nil && *b.Password == "weak-password" {
		lumi.Log(ctx).Warn("the password is " + *b.Password)
	}
	return nil
}

func (boxes) Name(_ context.Context, want *lumi.State[*box]) (string, error) {
	return *want.Properties.Label, nil
}

func (boxes) InspectChange(_ context.Context, _, want *lumi.State[*box], diff *lumi.Diff) error {
	if lid := want.Properties.Lid; lid != nil && want.Refs[*lid].ID == "" {
		return errors.New("the lid was not looked up")
	}
	if diff.Changed(Box_Files) {
		diff.Replace(Box_Files)
		diff.DeleteBeforeReplace()
	}
	return nil
}

func (c boxes) Create(ctx context.Context, want *lumi.State[*box]) (lumi.ID, error) {
	if err := c.hook(ctx, c.Before, "create"); err != nil {
		return "", err
	}
	defer c.lock()()
	b := want.Properties
	id := lumi.ID("box-" + strconv.Itoa(len(c.made)+1))
	if b.Size == nil {
		b.Size = new(7)
	}
	b.Serial, b.Token, b.Owner = "serial of "+string(id), "token of "+string(id), new(c.config.Region)
	c.set(want)
	c.boxes[id], c.made[want.Token] = copyOf(b), id
	err := c.hook(ctx, c.After, "create")
	if err != nil && !errors.As(err, new(*lumi.PartialError)) {
		return "", err
	}
	return id, err
}

// set sets what an update changes.
func (c boxes) set(want *lumi.State[*box]) {
	b := want.Properties
	b.Count = len(b.Parts)
	b.Keeper = urn.ByID(Lid, string(lumi.ID("none")))
	if b.Lid != nil {
		ref, _ := want.Refs.Resolve(*b.Lid)
		b.Keeper = urn.ByID(Lid, string(ref.ID))
		if ref.Properties.Get(Lid_Color) == string(Blue) {
			b.Owner = new("blue")
		}
	}
}

func copyOf(b *box) *box {
	c := *b
	return &c
}

func (c boxes) Find(_ context.Context, want *lumi.State[*box]) (lumi.ID, error) {
	defer c.lock()()
	if id, ok := c.made[want.Token]; ok {
		return id, nil
	}
	return "", lumi.ErrNotFound
}

func (c boxes) Get(_ context.Context, id lumi.ID, _ *lumi.State[*box]) (*box, error) {
	defer c.lock()()
	b, ok := c.boxes[id]
	switch {
	case c.Unreadable != nil:
		return nil, c.Unreadable
	case !ok:
		return nil, lumi.ErrNotFound
	}
	b = copyOf(b)
	b.Script, b.Files = nil, nil // Assets cannot be read.
	return b, nil
}

func (c boxes) Update(ctx context.Context, old, want *lumi.State[*box], diff *lumi.Diff) error {
	if err := c.hook(ctx, c.Before, "update"); err != nil {
		return err
	}
	defer c.lock()()
	c.Changes = diff.String()
	b := want.Properties
	b.Token, b.Owner, b.Serial = old.Properties.Token, old.Properties.Owner, old.Properties.Serial
	if b.Size == nil {
		b.Size = old.Properties.Size
	}
	c.set(want)
	c.boxes[old.ID] = copyOf(b)
	return c.hook(ctx, c.After, "update")
}

func (c boxes) Delete(ctx context.Context, old *lumi.State[*box]) error {
	func() {
		defer c.lock()()
		delete(c.boxes, old.ID)
	}()
	return c.hook(ctx, c.After, "delete")
}

type lids struct{ *Cloud }

func (lids) Check(context.Context, *lumi.State[*lid]) error { return nil }

func (c lids) Create(_ context.Context, want *lumi.State[*lid]) (lumi.ID, error) {
	defer c.lock()()
	if c.NoLids != nil {
		return "", c.NoLids
	}
	id := lumi.ID("lid-" + want.Properties.Name)
	c.lids[id] = want.Properties
	return id, nil
}

func (c lids) Get(_ context.Context, id lumi.ID, _ *lumi.State[*lid]) (*lid, error) {
	defer c.lock()()
	if l, ok := c.lids[id]; ok {
		return l, nil
	}
	return nil, lumi.ErrNotFound
}

func (c lids) Update(_ context.Context, old, want *lumi.State[*lid], _ *lumi.Diff) error {
	defer c.lock()()
	c.lids[old.ID] = want.Properties
	return nil
}

func (c lids) Delete(_ context.Context, old *lumi.State[*lid]) error {
	defer c.lock()()
	delete(c.lids, old.ID)
	return nil
}
