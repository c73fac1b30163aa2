package traps

import (
	"context"
	"strconv"
	"strings"
	"sync"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Memory holds the resources of a [Memory.Plugin].
type Memory struct {
	mu     sync.Mutex
	traps  map[lumi.ID]trap
	baits  map[lumi.ID]bait
	serial int
	config *Config
}

// Left returns the number of resources.
func (m *Memory) Left() int { return len(m.traps) + len(m.baits) }

// Plugin returns the plugin whose resources are in m.
func (m *Memory) Plugin() serve.Plugin {
	m.traps, m.baits = map[lumi.ID]trap{}, map[lumi.ID]bait{}
	return serve.Plugin{
		Package: "traps",
		Configure: serve.Configure(func(_ context.Context, c *Config) error {
			m.config = c
			return nil
		}),
		Resources: map[tokens.Type]lumi.ResourceProvider{Trap: NewTrapProvider(traps{m}), Bait: NewBaitProvider(baits{m})},
	}
}

// next returns a number that no resource has.
func (m *Memory) next() int {
	m.serial++
	return m.serial
}

type traps struct{ *Memory }

func (traps) Check(_ context.Context, want *lumi.State[*trap]) error {
	p := want.Properties
	if old := want.Old; p.Word == nil && !want.Unknown.Has(Trap_Word) && old != nil {
		p.Word = old.Word
	}
	if p.Word == nil && !want.Unknown.Has(Trap_Word) {
		p.Word = new(want.Seed.Name("word-", 8, lumi.LowerAlphanumeric))
	}
	return nil
}

func (m traps) Create(_ context.Context, want *lumi.State[*trap]) (lumi.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := want.Properties
	id := lumi.ID(p.Name + "-" + strconv.Itoa(m.next()))
	if p.Late == nil {
		p.Late = new("late-" + string(id))
	}
	p.Serial, p.Revision, p.Key = m.serial, 1, m.config.Password+" of "+string(id)
	m.traps[id] = *p
	return id, nil
}

func (m traps) Get(_ context.Context, id lumi.ID, _ *lumi.State[*trap]) (*trap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.traps[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	found.PIN = nil
	return &found, nil
}

func (m traps) Update(_ context.Context, old, want *lumi.State[*trap], _ *lumi.Diff) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, before := want.Properties, m.traps[old.ID]
	if p.Late == nil {
		p.Late = before.Late
	}
	p.Serial, p.Revision, p.Key = before.Serial, before.Revision+1, before.Key
	m.traps[old.ID] = *p
	return nil
}

func (m traps) Delete(_ context.Context, old *lumi.State[*trap]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.traps, old.ID)
	return nil
}

type baits struct{ *Memory }

func (baits) Check(_ context.Context, want *lumi.State[*bait]) error {
	if label := want.Properties.Label; label != nil && strings.ToLower(*label) != *label {
		return lumi.Faultf(Bait_Label, "must be in lower case")
	}
	return nil
}

func (baits) Name(_ context.Context, want *lumi.State[*bait]) (string, error) {
	return want.Properties.Food, nil
}

func (m baits) Create(_ context.Context, want *lumi.State[*bait]) (lumi.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := lumi.ID(strconv.Itoa(m.next()))
	m.baits[id] = *want.Properties
	return id, nil
}

func (m baits) Get(_ context.Context, id lumi.ID, _ *lumi.State[*bait]) (*bait, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.baits[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &found, nil
}

func (m baits) Update(_ context.Context, old, want *lumi.State[*bait], _ *lumi.Diff) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.baits[old.ID] = *want.Properties
	return nil
}

func (m baits) Delete(_ context.Context, old *lumi.State[*bait]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.baits, old.ID)
	return nil
}
