package plan_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// simType is a resource type. All types have the same properties, but their providers behave differently.
type simType struct {
	plan.Description
	// deleteFirst is set if a resource must be deleted before its replacement is created.
	deleteFirst bool
	// ignored lists the properties whose changes InspectChange does not report.
	ignored []string
	// suffixed is set if the type has a default value derived from the seed.
	suffixed bool
}

// simTypes lists the types used in random environments. They have the properties "name" or "key"; "zone" and "base",
// which require replacement; and "size", "text", and "link". Names are derived from a few keys, which can be changed in
// place. The output "arn" is fixed, and "state" changes with each update.
var simTypes = []simType{
	{Description: describe("x:m:Disk", true, "zone", "base")},
	{Description: describe("x:m:Rule", false, "key", "zone", "base"), suffixed: true},
	{Description: describe("x:m:Host", true, "zone", "base"), deleteFirst: true},
	{Description: describe("x:m:Note", true, "zone"), ignored: []string{"text"}},
	{Description: describe("x:m:Key", false, "zone")},
}

func describe(t tokens.Type, named bool, replaces ...string) plan.Description {
	if named {
		replaces = append(replaces, "name")
	}
	slices.Sort(replaces)
	return plan.Description{Type: t, Named: named, Replaces: replaces, Outputs: []string{"arn", "state"}, Fixed: []string{"arn"}}
}

func simTypeOf(t tokens.Type) simType {
	i := slices.IndexFunc(simTypes, func(s simType) bool { return s.Type == t })
	return simTypes[i]
}

// simProvider is a provider of simTypes that counts its calls.
type simProvider struct{ calls atomic.Int64 }

func (p *simProvider) Describe(_ context.Context, types []tokens.Type) ([]plan.Description, error) {
	var all []plan.Description
	for _, t := range types {
		all = append(all, simTypeOf(t).Description)
	}
	return all, nil
}

// Check sets defaults for "region" and, for some types, for "suffix", which is constant for the lifetime of a resource.
func (p *simProvider) Check(_ context.Context, r plan.CheckRequest) (lumigl.Value, error) {
	p.calls.Add(1)
	checked := r.Properties
	if !checked.Get("region").Exists() {
		checked = checked.With("region", lumigl.TextOf("r1"))
	}
	if simTypeOf(r.URN.Type()).suffixed {
		suffix := r.Old.Get("suffix")
		if !suffix.Exists() {
			suffix = lumigl.TextOf(hex.EncodeToString(r.Seed[:min(3, len(r.Seed))]))
		}
		checked = checked.With("suffix", suffix)
	}
	return checked, nil
}

// Name derives the name of a rule from its key. The name of a key also depends on the resource that it links to.
func (p *simProvider) Name(_ context.Context, r plan.Desired) (string, error) {
	p.calls.Add(1)
	key, ok := r.Properties.Get("key").Int()
	if !ok {
		return "", fmt.Errorf("%s has no key", r.URN)
	}
	name := fmt.Sprintf("rule-%d", key)
	if link, _, ok := r.Properties.Get("link").Target(); ok && r.URN.Type() == "x:m:Key" {
		name += "-of-" + link.URN().Name()
	}
	return name, nil
}

// Get is never called, since the programs import nothing.
func (p *simProvider) Get(context.Context, plan.Existing) (inputs, outputs lumigl.Value, err error) {
	return inputs, outputs, errors.New("there is nothing to import")
}

// Call is never called.
func (p *simProvider) Call(context.Context, plan.Desired) (results lumigl.Value, err error) {
	return results, errors.New("there is no function")
}

// InspectChange compares top-level properties except outputs.
func (p *simProvider) InspectChange(_ context.Context, r plan.InspectChangeRequest) (plan.Difference, error) {
	p.calls.Add(1)
	t := simTypeOf(r.URN.Type())
	d := plan.Difference{DeleteFirst: t.deleteFirst}
	desired := r.Properties
	for _, name := range simNames(r.Old, desired) {
		old, new := r.Old.Get(name), desired.Get(name)
		switch {
		case old.Equal(new) || slices.Contains(t.Outputs, name):
		case slices.Contains(t.ignored, name):
			desired = desired.With(name, old)
			d.Properties = desired
		default:
			d.Changes = append(d.Changes, plan.Change{
				Path: name, Unknown: !expr.IsKnown(new), Replaces: slices.Contains(t.Replaces, name),
			})
		}
	}
	return d, nil
}

// simNames returns the sorted keys of several objects.
func simNames(objects ...lumigl.Value) (names []string) {
	for _, o := range objects {
		for name := range o.Members() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// simOutputs returns the outputs of a resource that was created or updated with checked.
func simOutputs(id string, checked lumigl.Value) lumigl.Value {
	h := fnv.New32a()
	h.Write([]byte(simText(checked)))
	return lumigl.ObjectOf(
		lumigl.Member{Key: "arn", Value: lumigl.TextOf("arn:" + id)},
		lumigl.Member{Key: "state", Value: lumigl.IntOf(int64(h.Sum32() % 1000))},
	)
}

// simText formats a value on a single line with sorted object keys.
func simText(v lumigl.Value) string {
	var parts []string
	switch v.Kind() {
	case lumigl.List:
		for _, e := range v.Elements() {
			parts = append(parts, simText(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case lumigl.Object:
		for _, name := range simNames(v) {
			parts = append(parts, name+":"+simText(v.Get(name)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case lumigl.Reference:
		target, property, _ := v.Target()
		return "→" + target.Key() + "." + property
	case lumigl.Text:
		text, _ := v.Text()
		return strconv.Quote(text)
	case lumigl.Number:
		number, _ := v.Literal()
		return number
	case lumigl.Bool:
		b, _ := v.Bool()
		return strconv.FormatBool(b)
	default:
		return v.Kind().String()
	}
}
