package refresh

import (
	"context"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// comparison compares a resource that was read with the stored one.
type comparison struct {
	*Result
	description plan.Description
	// inputs and outputs hold the real properties.
	inputs, outputs lumigl.Value
}

// complete fills in the stored values of everything that cannot be read: properties that are only sent to the provider,
// properties with an unknown value, references, and the contents of files.
func (c *comparison) complete() {
	stored := c.Stored.Checked
	for _, name := range slices.Concat(c.description.WriteOnly, c.Stored.Unread) {
		c.inputs = c.inputs.With(name, stored.Get(name))
	}
	for _, name := range c.description.Computed { // computed properties that the program does not set
		if v := c.inputs.Get(name); v.Exists() && !stored.Get(name).Exists() {
			c.inputs, c.outputs = c.inputs.With(name, lumigl.Value{}), c.outputs.With(name, v)
		}
	}
	c.inputs = withForeign(c.inputs, stored)
}

// withForeign returns v with the stored references and files that it lacks, since clouds store neither URNs nor where files
// come from. Files that it has are the stored ones, too.
func withForeign(v, stored lumigl.Value) lumigl.Value {
	if v.Kind() == lumigl.List {
		return v.Map(func(i int, _ string, part lumigl.Value) (lumigl.Value, bool) {
			was := stored.At(i)
			if was.IsFile() && part.IsFile() {
				return was, true
			}
			return withForeign(part, was), was.Len() > 0
		})
	}
	for name, was := range stored.Members() {
		switch part := v.Get(name); {
		case !part.Exists() && isForeign(was), part.IsFile() && was.IsFile():
			v = v.With(name, was)
		case part.Len() > 0 && was.Len() > 0:
			v = v.With(name, withForeign(part, was))
		}
	}
	return v
}

// isForeign reports whether a value consists of references and files.
func isForeign(v lumigl.Value) bool {
	if v.Kind() == lumigl.Reference || v.IsFile() {
		return true
	}
	for _, part := range v.Elements() {
		if !isForeign(part) {
			return false
		}
	}
	for _, part := range v.Members() {
		if !isForeign(part) {
			return false
		}
	}
	return v.Len() > 0
}

// compare sets the actual resource and the paths that differ. The provider compares inputs, since it knows which
// notations are equal. Outputs are compared exactly. ignored lists paths that never count as drifted.
func (c *comparison) compare(
	ctx context.Context, p plan.Provider, references map[urn.URN]plan.Reference, ignored lumigl.Value,
) error {
	stored, actual := c.Stored, *c.Stored
	var changes []plan.Change
	if !c.inputs.Equal(stored.Checked) {
		d, err := p.InspectChange(ctx, plan.InspectChangeRequest{
			Desired: plan.Desired{URN: stored.URN, Properties: stored.Checked, References: references}, ID: stored.ID, Old: lumigl.Merged(c.inputs, c.outputs),
		})
		if err != nil {
			return err
		}
		changes = d.Changes
	}
	accepted := plan.Ignore(c.inputs, stored.Checked, ignored)
	counted := plan.Ignore(accepted, stored.Checked, stored.Options.Get("ignoreChanges"))
	for _, change := range changes {
		was, is := plan.At(stored.Checked, change.Path), plan.At(c.inputs, change.Path)
		if !isSame(was, is) && isSame(was, plan.At(counted, change.Path)) {
			c.Ignored = append(c.Ignored, change.Path)
		} else {
			c.Drifted = append(c.Drifted, change.Path)
		}
		if isSame(was, is) || !isSame(was, plan.At(accepted, change.Path)) {
			name := wire.PathParts(change.Path)[0]
			actual.Checked, c.Actual = actual.Checked.With(name, accepted.Get(name)), &actual
		}
	}
	accepted = plan.Ignore(c.outputs, stored.Outputs, ignored)
	for name := range lumigl.Merged(stored.Outputs, c.outputs).Members() {
		was := stored.Outputs.Get(name)
		switch now := accepted.Get(name); {
		case was.Equal(c.outputs.Get(name)):
		case isSame(was, now):
			c.Ignored = append(c.Ignored, name)
		default:
			c.Drifted = append(c.Drifted, name)
			actual.Outputs, c.Actual = actual.Outputs.With(name, now), &actual
		}
	}
	slices.Sort(c.Drifted)
	slices.Sort(c.Ignored)
	actual.Drifted = slices.Concat(stored.Drifted, c.Drifted)
	slices.Sort(actual.Drifted)
	actual.Drifted = slices.Compact(actual.Drifted)
	return nil
}

// isSame reports whether two values are equal. Absent values equal empty ones, since an ignored member may be the only
// one of an object.
func isSame(a, b lumigl.Value) bool {
	isEmpty := func(v lumigl.Value) bool { return !v.Exists() || v.Kind() == lumigl.Object && v.Len() == 0 }
	return a.Equal(b) || isEmpty(a) && isEmpty(b)
}

// ignoredPaths returns the paths of patterns for a type.
func ignoredPaths(patterns []string, t tokens.Type) lumigl.Value {
	var paths []lumigl.Value
	for _, pattern := range patterns {
		if path, ok := strings.CutPrefix(pattern, string(t)+"."); ok {
			paths = append(paths, lumigl.TextOf(path))
		}
	}
	return lumigl.ListOf(paths...)
}
