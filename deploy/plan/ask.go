package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// answers holds the provider's answers about an item.
type answers struct {
	// checked holds the properties returned by Check. properties holds the properties to deploy, which differ from
	// checked if the provider ignores changes.
	checked, properties lumigl.Value
	// outputs holds the outputs of a resource to import.
	outputs    lumigl.Value
	difference Difference
	// verdict is derived from the difference. It determines the remaining questions.
	verdict verdict
	// takenOver is set if the item was missing from the graph but then paired with a resource that has the name chosen
	// by the provider.
	takenOver bool
}

// ask asks the provider the questions for an item's class and sets the item's final URN.
func (p *planner) ask(ctx context.Context, c *classified) (a answers, err error) {
	switch c.class {
	case missing, importable:
		return p.askNew(ctx, c)
	case restated:
		a.properties = c.stored.Checked
	case unfinished:
		if a.properties, err = p.sent(c); err != nil {
			return a, err
		}
	case differing:
		if a, err = p.compare(ctx, c); err != nil {
			return a, err
		}
	}
	a.verdict = judge(c, a.checked, a.difference.Changes)
	switch {
	case a.verdict.replaces:
		p.incarnate(c)
		if a.properties, err = p.check(ctx, c, lumigl.Value{}); err == nil {
			p.followName(ctx, c, a.properties)
		}
	case c.class == unfinished:
		if checked, err := p.check(ctx, c, c.stored.Checked); err == nil {
			p.followName(ctx, c, checked)
		}
	case c.class == differing && (c.computed == "" || !a.properties.Equal(c.old.Checked)):
		p.followName(ctx, c, a.properties)
	}
	return a, err
}

// askNew asks the provider about an item that is not in the graph.
func (p *planner) askNew(ctx context.Context, c *classified) (a answers, err error) {
	if a.checked, err = p.check(ctx, c, lumigl.Value{}); err != nil {
		return a, err
	}
	a.properties = a.checked
	if isNumbered(c.urn.Name()) {
		name, err := p.askName(ctx, c, a.checked)
		if err != nil {
			return a, err
		}
		if err := urn.CheckName(name); err != nil {
			return a, fmt.Errorf("the provider chose an invalid name: %w", err)
		}
		if a.takenOver = c.class == missing && p.takeOver(c.number, name); a.takenOver {
			return a, nil
		}
		p.claimName(c.number, name)
	}
	if c.class == importable {
		a.outputs, err = p.inspectImport(ctx, c, a.checked)
	}
	return a, err
}

// inspectImport returns the outputs of a resource to import. It returns an error if known, readable properties of the
// resource differ from the program.
func (p *planner) inspectImport(ctx context.Context, c *classified, checked lumigl.Value) (lumigl.Value, error) {
	references := p.references(c.number, lumigl.Value{})
	inputs, outputs, err := p.Provider.Get(ctx, Existing{URN: c.urn, ID: c.id, References: references, Graph: p.Graph})
	if err != nil {
		return outputs, fmt.Errorf("cannot import %q: %w", c.id, err)
	}
	for _, name := range p.types[c.desired.Type].Computed {
		if v := inputs.Get(name); v.Exists() && !checked.Get(name).Exists() {
			outputs = outputs.With(name, v)
		}
	}
	d, err := p.Provider.InspectChange(ctx, InspectChangeRequest{
		Desired: Desired{URN: c.urn, Properties: checked, References: references}, ID: c.id, Old: inputs,
	})
	if err != nil {
		return outputs, err
	}
	var differs []string
	for _, change := range d.Changes {
		parts := wire.PathParts(change.Path)
		if change.Unknown || len(parts) == 0 {
			continue
		}
		if name, _ := keyOrIndex(parts[0]); inputs.Get(name).Exists() {
			differs = append(differs, name)
		}
	}
	if len(differs) > 0 {
		return outputs, fmt.Errorf("%q differs from the program: change the program to match the existing resource, and update the resource later\n%s",
			c.id, p.differences(c.desired.Type, inputs, checked, differs))
	}
	return outputs, nil
}

// differences formats the differences between an existing resource's properties and the program. Secrets are masked.
func (p *planner) differences(t tokens.Type, exists, checked lumigl.Value, names []string) string {
	of := func(properties lumigl.Value) *lumigl.Vertex {
		v := &lumigl.Vertex{Type: t, Properties: identity(properties, names)}
		v.Properties, _ = WrapSecrets(v.Properties, p.types[t].Secrets)
		return v
	}
	var text strings.Builder
	_ = diff.CompareResource(of(exists), of(checked), nil).WriteText(&text, 1, diff.TextOptions{}) // Writing to a Builder cannot fail.
	return strings.TrimRight(text.String(), "\n")
}

// compare asks the provider for the differences between the stored properties and an item's properties.
func (p *planner) compare(ctx context.Context, c *classified) (a answers, err error) {
	old := c.stored
	if a.checked, err = p.check(ctx, c, old.Checked); err != nil {
		return a, err
	}
	if old.Inputs.Exists() { // Accepted drift of ignored properties stays.
		a.checked = Ignore(a.checked, old.Checked, c.options.Get("ignoreChanges"))
	}
	// A reference to a different resource with the same URN would look unchanged, so pass it as unknown.
	desired := a.checked.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		target, _, ok := part.Target()
		if !ok {
			return lumigl.Value{}, false
		}
		_, isRenewed := c.renewed[target.URN()]
		return lumigl.TextOf(wire.Unknown), isRenewed
	})
	a.difference, err = p.Provider.InspectChange(ctx, InspectChangeRequest{
		Desired: Desired{URN: c.urn, Properties: desired, References: p.references(c.number, old.Checked)},
		ID:      old.ID, Old: old.Before(a.checked),
	})
	a.properties = a.checked
	if properties := a.difference.Properties; properties.Exists() {
		a.properties = properties.Map(func(_ int, name string, part lumigl.Value) (lumigl.Value, bool) {
			return a.checked.Get(name), !expr.IsKnown(part) // restores the hidden references
		})
	}
	return a, err
}

// check asks the provider to check the known properties of an item.
func (p *planner) check(ctx context.Context, c *classified, old lumigl.Value) (lumigl.Value, error) {
	properties, err := p.sent(c)
	if err != nil {
		return lumigl.Value{}, err
	}
	d := Desired{URN: c.urn, Properties: properties, References: p.references(c.number, lumigl.Value{})}
	return p.Provider.Check(ctx, CheckRequest{Desired: d, Old: old, Seed: c.seed})
}

func (p *planner) askName(ctx context.Context, c *classified, checked lumigl.Value) (string, error) {
	return p.Provider.Name(ctx, Desired{URN: c.urn, Properties: checked, References: p.references(c.number, lumigl.Value{})})
}

// followName renames an item to the name that its provider currently computes, if known. Provisioners do not compute
// names and identify a resource by its first name, so their resources are not renamed.
func (p *planner) followName(ctx context.Context, c *classified, checked lumigl.Value) {
	if p.decided || !isNumbered(c.desired.URN().Name()) || c.old.Provisioner != "" {
		return
	}
	name, err := p.askName(ctx, c, checked)
	if err != nil || urn.CheckName(name) != nil || isPlaceholder(name) {
		c.computed = ""
		return
	}
	p.claimName(c.number, name)
}
