// Command lumi-resource-notes is a test plugin with one resource type, which logs its secrets if configured to.
package main

import (
	"context"
	"fmt"
	"os"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

type note struct {
	Name string
	Text string
}

// Lumi implements lumi.Object.
func (n *note) Lumi(p *lumi.Props) {
	lumi.Required(p, "name", &n.Name, lumi.String, lumi.Replaces)
	lumi.Required(p, "text", &n.Text, lumi.String, lumi.Secret)
}

type config struct{ Log bool }

// Lumi implements lumi.Object.
func (c *config) Lumi(p *lumi.Props) { lumi.Required(p, "log", &c.Log, lumi.Bool) }

// notes holds all existing notes. It is not safe for concurrent use.
type notes struct {
	config config
	all    map[lumi.ID]note
}

type state = lumi.State[*note]

func (n *notes) Check(context.Context, *state) error { return nil }

func (n *notes) Create(_ context.Context, want *state) (lumi.ID, error) {
	id := lumi.ID(want.Properties.Name)
	n.all[id] = *want.Properties
	if n.config.Log {
		fmt.Fprintf(os.Stderr, "created text=%s\n", want.Properties.Text) // bypassing the log that package serve masks
	}
	if want.Properties.Text == "crash" {
		os.Exit(7)
	}
	return id, nil
}

func (n *notes) Get(_ context.Context, id lumi.ID, _ *state) (*note, error) {
	found, ok := n.all[id]
	if !ok {
		return nil, lumi.ErrNotFound
	}
	return &found, nil
}

func (n *notes) Update(_ context.Context, old, want *state, _ *lumi.Diff) error {
	n.all[old.ID] = *want.Properties
	return nil
}

func (n *notes) Delete(_ context.Context, old *state) error {
	delete(n.all, old.ID)
	return nil
}

func main() {
	n := &notes{all: map[lumi.ID]note{}}
	p := lumi.NewNamedProvider("notes:index:Note", func() *note { return new(note) }, n)
	serve.Main(serve.Plugin{
		Package:   "notes",
		Configure: serve.Configure(func(_ context.Context, c *config) error { n.config = *c; return nil }),
		Resources: map[tokens.Type]lumi.ResourceProvider{"notes:index:Note": &p},
	})
}
