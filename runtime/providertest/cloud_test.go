package providertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// This file contains a correct provider with an in-memory cloud.

const (
	volumeToken   tokens.Type = "store:index:Volume"
	snapshotToken tokens.Type = "store:index:Snapshot"
)

// volume is like a generated struct of a resource that programs name.
type volume struct {
	Name     string
	Zone     string
	Size     float64
	Comment  *string
	Tags     map[string]string
	Disks    []disk
	Key      *urn.URN
	Peers    []urn.URN
	Links    map[string]urn.URN
	Image    *lumi.Asset
	Code     *lumi.Archive
	Password *string
	Secret   *string
	Policy   any
	ARN      string
	Zones    []string
	Address  *string
	Token    *string
}

// Lumi implements lumi.Object.
func (v *volume) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &v.Name, lumi.String, lumi.Replaces)
	lumi.Required(p, "zone", &v.Zone, lumi.String, lumi.Replaces)
	lumi.Required(p, "size", &v.Size, lumi.Number)
	lumi.Optional(p, "comment", &v.Comment, lumi.String)
	lumi.Nilable(p, "tags", &v.Tags, lumi.Map(lumi.String))
	lumi.Nilable(p, "disks", &v.Disks, lumi.List(lumi.Struct[*disk]()))
	lumi.Optional(p, "key", &v.Key, lumi.AnyResource)
	lumi.Nilable(p, "peers", &v.Peers, lumi.List(lumi.AnyResource))
	lumi.Nilable(p, "links", &v.Links, lumi.Map(lumi.AnyResource))
	lumi.Optional(p, "image", &v.Image, lumi.AssetValue)
	lumi.Optional(p, "code", &v.Code, lumi.ArchiveValue)
	lumi.Optional(p, "password", &v.Password, lumi.String, lumi.In, lumi.Secret)
	lumi.Optional(p, "secret", &v.Secret, lumi.String, lumi.Secret)
	lumi.Nilable(p, "policy", &v.Policy, lumi.Any)
	lumi.Required(p, "arn", &v.ARN, lumi.String, lumi.Out)
	lumi.Required(p, "zones", &v.Zones, lumi.List(lumi.String), lumi.Out)
	lumi.Optional(p, "address", &v.Address, lumi.String, lumi.Out)
	lumi.Optional(p, "token", &v.Token, lumi.String, lumi.Out, lumi.Secret)
}

// disk is a struct within a resource.
type disk struct {
	Label string
	Pin   *string
}

// Lumi implements lumi.Object.
func (d *disk) Lumi(p *lumi.Props) {
	lumi.Required(p, "label", &d.Label, lumi.String)
	lumi.Optional(p, "pin", &d.Pin, lumi.String, lumi.Secret)
}

// snapshot is like a generated struct of a resource that the provider names.
type snapshot struct {
	Volume urn.URN
	Label  *string
	Source *string
}

// Lumi implements lumi.Object.
func (s *snapshot) Lumi(p *lumi.Props) {
	lumi.Required(p, "volume", &s.Volume, lumi.Capability(volumeToken), lumi.Replaces)
	lumi.Optional(p, "label", &s.Label, lumi.String)
	lumi.Optional(p, "source", &s.Source, lumi.String, lumi.Out)
}

type (
	volumeState   = lumi.State[*volume]
	snapshotState = lumi.State[*snapshot]
)

// cloud holds existing resources by id.
type cloud struct {
	mu        sync.Mutex
	made      int
	volumes   map[lumi.ID]volume
	snapshots map[lumi.ID]snapshot
	tokens    map[string]lumi.ID // ids of created resources by token
	lost      map[string]bool    // texts of requests whose response was lost
}

func newCloud() *cloud {
	return &cloud{
		volumes: map[lumi.ID]volume{}, snapshots: map[lumi.ID]snapshot{}, tokens: map[string]lumi.ID{},
		lost: map[string]bool{},
	}
}

// answer simulates the response to a request. If text is "lose" and the name of the request, it loses the first response.
func (c *cloud) answer(request string, text *string) error {
	if text == nil || *text != "lose "+request || c.lost[*text] {
		return nil
	}
	c.lost[*text] = true
	return lumi.Uncertain(errors.New("timeout"))
}

// id returns a new id, or the id returned before for the same request.
func (c *cloud) id(request string, exists func(lumi.ID) bool) lumi.ID {
	if id, ok := c.tokens[request]; ok && exists(id) {
		return id
	}
	c.made++
	id := lumi.ID(fmt.Sprintf("id-%d", c.made))
	c.tokens[request] = id
	return id
}

// volumeOps implements volumes.
type volumeOps struct{ cloud *cloud }

func (o *volumeOps) Check(_ context.Context, want *volumeState) error {
	if want.Properties.Comment == nil && !want.Unknown.Has("comment") {
		want.Properties.Comment = new("made by a test")
	}
	if size := want.Properties.Size; size <= 0 && !want.Unknown.Has("size") {
		return lumi.Faultf("size", "is %v, and must be more than 0", size)
	}
	return nil
}

func (o *volumeOps) Create(ctx context.Context, want *volumeState) (lumi.ID, error) {
	c, v := o.cloud, want.Properties
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.id(want.Token, func(id lumi.ID) bool { _, ok := c.volumes[id]; return ok })
	v.Zones = []string{v.Zone}
	v.ARN, v.Address, v.Token = "arn:"+string(id), new("10.0.0.1"), new("token of "+string(id))
	c.put(id, v)
	lumi.Progress(ctx, "%s is ready", id)
	if err := c.answer("create", v.Comment); err != nil {
		return "", err
	}
	return id, nil
}

func (o *volumeOps) IdempotentCreate() bool { return true }

// InspectChange ignores case in comments.
func (o *volumeOps) InspectChange(_ context.Context, old, want *volumeState, diff *lumi.Diff) error {
	if a, b := old.Properties.Comment, want.Properties.Comment; a != nil && b != nil && strings.EqualFold(*a, *b) {
		diff.Ignore("comment")
	}
	return nil
}

// Upgrade reads the comment from note, its former name.
func (o *volumeOps) Upgrade(_ context.Context, old *volumeState, stored lumi.Bag) error {
	if note, ok := stored.Get("note").(string); ok {
		old.Properties.Comment = &note
	}
	return nil
}

// put stores a volume without URNs and the sources of files, like a cloud.
func (c *cloud) put(id lumi.ID, v *volume) {
	stored := *v
	stored.Key, stored.Peers, stored.Links, stored.Image, stored.Code, stored.Password = nil, nil, nil, nil, nil, nil
	stored.Tags = maps.Clone(v.Tags)
	c.volumes[id] = stored
}

func (o *volumeOps) Get(_ context.Context, id lumi.ID, _ *volumeState) (*volume, error) {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	v, ok := o.cloud.volumes[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &v, nil
}

func (o *volumeOps) Update(_ context.Context, old, want *volumeState, _ *lumi.Diff) error {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	if v := want.Properties; v.Comment != nil && *v.Comment == "fail half way" {
		half := *old.Properties
		half.Tags = v.Tags
		want.Done("tags")
		o.cloud.put(old.ID, &half)
		return errors.New("no more room")
	}
	o.cloud.put(old.ID, want.Properties)
	return o.cloud.answer("update", want.Properties.Comment)
}

func (o *volumeOps) Delete(_ context.Context, old *volumeState) error {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	if _, ok := o.cloud.volumes[old.ID]; !ok {
		return lumi.ErrNotFound
	}
	delete(o.cloud.volumes, old.ID)
	return o.cloud.answer("delete", old.Properties.Comment)
}

// snapshotOps implements snapshots, which are named after their volumes.
type snapshotOps struct{ cloud *cloud }

func (o *snapshotOps) Check(context.Context, *snapshotState) error { return nil }

func (o *snapshotOps) Name(_ context.Context, want *snapshotState) (string, error) {
	return "of " + want.Properties.Volume.Name(), nil
}

func (o *snapshotOps) Create(_ context.Context, want *snapshotState) (lumi.ID, error) {
	source, ok := want.Refs.Resolve(want.Properties.Volume)
	if !ok {
		return "", lumi.Faultf("volume", "there is no volume %s", want.Properties.Volume)
	}
	c := o.cloud
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.answer("request", want.Properties.Label); err != nil {
		return "", err
	}
	id := c.id(want.Token, func(lumi.ID) bool { return false })
	want.Properties.Source = new(string(source.ID) + " " + source.Properties.Get("arn").(string))
	stored := *want.Properties
	stored.Volume = ""
	c.snapshots[id] = stored
	if err := c.answer("snapshot", want.Properties.Label); err != nil {
		return "", err
	}
	return id, nil
}

func (o *snapshotOps) Find(_ context.Context, want *snapshotState) (lumi.ID, error) {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	id := o.cloud.tokens[want.Token]
	if _, ok := o.cloud.snapshots[id]; !ok {
		return "", lumi.ErrNotFound
	}
	return id, nil
}

func (o *snapshotOps) Get(_ context.Context, id lumi.ID, _ *snapshotState) (*snapshot, error) {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	s, ok := o.cloud.snapshots[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &s, nil
}

// InspectChange requires a replacement if the label is removed, although the IDL does not, and deletes the old snapshot
// first, since there can be only one.
func (o *snapshotOps) InspectChange(_ context.Context, _, want *snapshotState, diff *lumi.Diff) error {
	if want.Properties.Label == nil && !want.Unknown.Has("label") {
		diff.Replace("label")
		diff.DeleteBeforeReplace()
	}
	return nil
}

func (o *snapshotOps) Update(_ context.Context, old, want *snapshotState, _ *lumi.Diff) error {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	stored := *want.Properties
	stored.Volume = ""
	o.cloud.snapshots[old.ID] = stored
	return nil
}

func (o *snapshotOps) Delete(_ context.Context, old *snapshotState) error {
	o.cloud.mu.Lock()
	defer o.cloud.mu.Unlock()
	delete(o.cloud.snapshots, old.ID)
	return nil
}

// typed is implemented by generated providers.
type typed interface {
	lumi.ResourceProvider
	Token() tokens.Type
}

func newVolumes(ops lumi.Ops[*volume]) typed {
	p := lumi.NewNamedProvider(volumeToken, func() *volume { return new(volume) }, ops)
	return &p
}

func newSnapshots(ops lumi.NamingOps[*snapshot]) typed {
	p := lumi.NewProvider(snapshotToken, func() *snapshot { return new(snapshot) }, ops)
	return &p
}

// store returns a plugin with all resource types.
func store(c *cloud) serve.Plugin {
	return providertest.Resources(newVolumes(&volumeOps{c}), newSnapshots(&snapshotOps{c}))
}
