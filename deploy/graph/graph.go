// Package graph implements the resource graph of an environment: the versions of its modules, their resources, and the
// values that modules provide to each other.
//
// A module is deployed as a whole, and each deployment creates a version of it. The root refers to the newest version
// of each module. A version refers to its resources and to the versions of other modules that it uses. Versions share
// unchanged resources.
//
//	root ──▶ a::3 ─────────▶ a:aws:rds:Database::foodb:1
//	root ──▶ b::2 ──foo────▶ a::3
//
// An edge between modules has a [Constraint]: the name of a provided value, its type, and an optional predicate. If the
// newest version of a module does not satisfy a user's constraint, an older version that does is kept. A cleanup
// removes unreferenced versions.
//
// Only [Graph.Deploy], [Graph.Cleanup], and [Graph.Destroy] move edges and remove versions. The planner calls them with
// expected resources, the executor with actual ones. They return a [Transition], which holds the resulting graph and
// its consequences:
//
//	m, err := graph.ModuleOf(desired, g.Environment)      // the desired state of a program
//	v := m.Version(2, resources)                          // a version with its actual resources
//	t, err := g.Deploy(graph.Update{Version: v, Became: changed})
//	for _, c := range t.Conflicts { … }                   // changes blocked by other modules
//	for _, r := range t.Deleted { … }                     // resources to delete
//	for _, module := range t.Cleanups { … }               // modules with unused versions
//
// [Graph.Overlay] records the results of a failed deployment. [Graph.Check] checks the invariants that hold before and
// after each operation. [Graph.LumiGL] and [FromLumiGL] convert the graph to its file format and back, and
// [Graph.Snapshot] returns the snapshot shown to users.
//
// The package does no I/O. See docs/engine.md for the design.
package graph

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Deployment is the number of a deployment, counting from 1 in each environment.
type Deployment int64

// Graph is the resource graph of an environment. It is immutable: operations return a new graph that shares unchanged
// parts with the old one. The zero Graph has no modules.
type Graph struct {
	// Environment is the first part of all URNs. Lineage distinguishes environments with the same name.
	Environment, Lineage string

	// newest maps each module to its newest version. Destroyed modules have no entry.
	newest map[string]VersionID
	// versions lists the versions of each module, oldest first.
	versions map[string][]*Version
	// pending lists each module's resources pending deletion, which are not in any version.
	pending map[string][]Pending
}

// VersionID identifies a version of a module by the deployment that created it.
type VersionID struct {
	Module     string
	Deployment Deployment
}

// String returns the key of the vertex, such as "a::3".
func (id VersionID) String() string { return fmt.Sprintf("%s::%d", id.Module, id.Deployment) }

// Version is a version of a module. It must not be modified once it is in a graph.
type Version struct {
	VersionID
	// Partial marks the result of a failed deployment. No edge refers to a partial version.
	Partial bool
	// Provides lists the values provided to other modules and the saved model, sorted by name.
	Provides []Provided
	// Uses lists the edges to versions of other modules, sorted by module and name.
	Uses []Edge
	// Configuration is an object with the configuration of each provider by package, or absent.
	Configuration lumigl.Value
	// Config is an object with the configuration that the program declares, without unset values, or absent.
	Config lumigl.Value

	resources []*Resource
	byURN     map[urn.URN]*Resource
	omitted   int // number of resources omitted from an outline
}

// Provided is a value provided to other modules.
type Provided struct {
	Name string
	Type Type
	// Value is the unevaluated value from the program. It refers to resources of the version by URN.
	Value lumigl.Value
	// Result is Value with known outputs substituted.
	Result lumigl.Value
}

// Edge is a use of another module's version.
type Edge struct {
	To VersionID
	Constraint
	// Broken explains why To does not satisfy the constraint, or is empty. Edges break only when actual changes are
	// recorded: by an interruption, an abort, or a refresh.
	Broken string
}

// Constraint is a requirement on a value provided by another module.
type Constraint struct {
	// Module and Name identify the provided value.
	Module, Name string
	// Type is the required type. The provided value's type must be assignable to it.
	Type Type
	// Where is a CEL predicate in which "value" is the provided value. If empty, any value is accepted.
	Where string
}

// String returns the constraint as text, such as "a.foo: verb {a: number} → number".
func (c Constraint) String() string {
	text := c.Module + "." + c.Name + ": " + c.Type.String()
	if c.Where != "" {
		text += " where " + c.Where
	}
	return text
}

// Resource is the state of a resource after a deployment. It must not be modified once it is in a graph. Its values
// refer to other resources of the version through vertices that have only a URN.
type Resource struct {
	URN urn.URN
	// Deployment is the deployment that last changed the resource.
	Deployment Deployment
	// ID is the ID assigned by the provider. In the graph of a plan, it is empty if the resource does not exist yet.
	ID string
	// Inputs holds the program's properties with outputs substituted. The planner compares them first.
	Inputs lumigl.Value
	// Checked holds the properties returned by Check and sent to the provider.
	Checked lumigl.Value
	// Unread lists properties in Checked whose actual values are unknown: the result of a call that set or removed them
	// was lost, and the provider cannot read them back.
	Unread []string
	// Drifted lists the paths in Checked and Outputs that a refresh changed to their actual values, sorted. It is cleared
	// once the provider has compared the resource with the program. If the resource no longer exists, it is "id".
	Drifted []string
	// Outputs holds the properties computed by the provider.
	Outputs lumigl.Value
	// Referents records the IDs of the resources referenced by Checked when it was sent. A reference alone does not
	// distinguish a resource from its replacement.
	Referents lumigl.Value
	// Sources lists the resources of other modules from which values used by the program's properties came, as keys of
	// Referents, sorted. The properties may contain their outputs as text.
	Sources []string
	// Options holds the LumiGL options, in which references are by URN, too.
	Options lumigl.Value
	// Dependencies lists the resources of the module that are referenced by the program's properties and options,
	// sorted.
	Dependencies []urn.URN
	// Label is the last part of the URN used in the program: a number such as "#1" if the provider chose the name.
	Label string
	// Computed is the name that the provider last computed for a resource not named in the program, or empty if
	// unknown. The URN contains this name unless it was taken.
	Computed string
	// AutoName is set if the program leaves the physical name to the engine, and it is not the default.
	AutoName bool
	// Incarnation is the number of times the resource was replaced. Seed is the seed of its generated values.
	Incarnation int
	Seed        []byte
	// Replaced is the ID of the replaced resource if that has a different URN. The old resource still exists if the
	// deployment failed or another module needs it.
	Replaced string
	// Plugin is the version of the plugin that deployed the resource.
	Plugin string
	// Provisioner is the name of the provisioner that created the resource, or "" for its provider. Metadata is the
	// metadata returned by the provisioner, absent if unknown.
	Provisioner string
	Metadata    lumigl.Value
	// Source is the position of the resource's constructor call in the program.
	Source string
}

// Type returns the token of the resource's type.
func (r *Resource) Type() tokens.Type { return r.URN.Type() }

// Key returns the key of the resource's vertex: module, type, name, and deployment, such as
// "a:aws:rds:Database::foodb:1". The program's name follows the module unless it is "index".
func (r *Resource) Key() string { return fmt.Sprintf("%s:%d", ShortName(r.URN), r.Deployment) }

// ShortName returns a URN without the environment, such as "a:aws:rds:Database::foodb". It returns an invalid URN
// unchanged.
func ShortName(u urn.URN) string {
	p, err := u.Parts()
	if err != nil {
		return string(u)
	}
	module := p.Package
	if p.Module != "index" {
		module += ":" + p.Module
	}
	return fmt.Sprintf("%s:%s::%s", module, p.Type, p.Name)
}

// InProgram returns the URN used in the program, which has a number in place of a name chosen by the provider.
func (r *Resource) InProgram() urn.URN {
	if r.Label == "" {
		return r.URN
	}
	return urn.URN(strings.TrimSuffix(string(r.URN), r.URN.Name()) + r.Label)
}

// Properties returns the checked properties merged with the outputs, which take precedence.
func (r *Resource) Properties() lumigl.Value {
	return lumigl.Merged(r.Checked, r.Outputs)
}

// Before returns the stored properties to compare with desired. It omits unread properties that are in desired, so that
// they always differ.
func (r *Resource) Before(desired lumigl.Value) lumigl.Value {
	all := r.Properties()
	for _, name := range r.Unread {
		if desired.Get(name).Exists() {
			all = all.With(name, lumigl.Value{})
		}
	}
	return all
}

// Output resolves a reference to a property and reports whether its value is known. The value is absent if the resource
// has no such property.
func (r *Resource) Output(property string) (value lumigl.Value, known bool) {
	switch property {
	case "urn":
		return lumigl.TextOf(string(r.URN)), true
	case "id":
		if r.Provisioner == "" || r.Metadata.Exists() && !r.Outputs.Get("id").Exists() {
			return lumigl.TextOf(r.ID), r.ID != ""
		} // An "id" returned by a provisioner may change on updates.
	}
	if value = r.Outputs.Get(property); !value.Exists() {
		value = r.Checked.Get(property)
	}
	isNoted := value.Exists() || r.Provisioner == "" || r.Metadata.Exists()
	return value, r.ID != "" && isNoted && expr.IsKnown(value)
}

// Gone reports whether a refresh found that the resource no longer exists. It keeps its values and its incarnation, but
// has no ID.
func (r *Resource) Gone() bool { return r.ID == "" && len(r.Drifted) > 0 }

// DriftedProperties returns the names of the properties that contain the paths in Drifted. A name may be repeated.
func (r *Resource) DriftedProperties() []string {
	names := make([]string, len(r.Drifted))
	for i, path := range r.Drifted {
		names[i] = wire.PathParts(path)[0]
	}
	return names
}

// Retarget returns a copy of the resource with the target of each reference mapped by to.
func (r *Resource) Retarget(to func(*lumigl.Vertex) *lumigl.Vertex) *Resource {
	now := *r
	for _, v := range []*lumigl.Value{&now.Inputs, &now.Checked, &now.Outputs, &now.Referents, &now.Options} {
		*v = v.Retarget(to)
	}
	return &now
}

// Flag reports whether a boolean option is set.
func (r *Resource) Flag(option string) bool {
	set, _ := r.Options.Get(option).Bool()
	return set
}

// Pending is a resource pending deletion.
type Pending struct {
	Resource *Resource
	// Configuration is the configuration of the resource's provider.
	Configuration lumigl.Value
	// Held is set if the deletion waits for pending resources of other modules, which refer to the resource. A cleanup
	// follows the deletion of the last one.
	Held bool
}

// NewVersion returns a version with the given resources, which must be in dependency order. It panics if two of them
// have the same URN.
func NewVersion(id VersionID, resources []*Resource) *Version {
	v := &Version{VersionID: id, resources: resources, byURN: make(map[urn.URN]*Resource, len(resources))}
	for _, r := range resources {
		v.byURN[r.URN] = r
	}
	if len(v.byURN) != len(resources) {
		panic("graph: two resources of one version have the same URN")
	}
	return v
}

// Resource returns the resource with the given URN, or nil.
func (v *Version) Resource(u urn.URN) *Resource { return v.byURN[u] }

// Resources returns the resources of the version in dependency order.
func (v *Version) Resources() iter.Seq[*Resource] { return slices.Values(v.resources) }

// Len returns the number of resources, including those omitted from an outline.
func (v *Version) Len() int { return len(v.resources) + v.omitted }

// Holds reports whether the version contains r itself, not just a resource with its URN.
func (v *Version) Holds(r *Resource) bool { return v.byURN[r.URN] == r }

// Provided returns the provided value with the given name, or nil.
func (v *Version) Provided(name string) *Provided {
	i, found := slices.BinarySearchFunc(v.Provides, name, func(p Provided, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		return nil
	}
	return &v.Provides[i]
}

// Outputs returns the values provided to other modules, without the saved model.
func (v *Version) Outputs() []Provided {
	return slices.DeleteFunc(slices.Clone(v.Provides), func(p Provided) bool { return p.Name == ModelName })
}

// Modules returns the names of all modules with versions or pending deletions, sorted.
func (g *Graph) Modules() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(g.versions)), maps.Keys(g.pending))
	slices.Sort(all)
	return slices.Compact(all)
}

// Newest returns the newest version of a module, or nil if there is none.
func (g *Graph) Newest(module string) *Version { return g.Version(g.newest[module]) }

// Version returns the version with the given ID, or nil if it does not exist.
func (g *Graph) Version(id VersionID) *Version {
	for _, v := range g.versions[id.Module] {
		if v.Deployment == id.Deployment {
			return v
		}
	}
	return nil
}

// Versions returns the versions of a module, oldest first.
func (g *Graph) Versions(module string) []*Version { return g.versions[module] }

// Pending returns a module's resources pending deletion.
func (g *Graph) Pending(module string) []Pending { return g.pending[module] }

// Resolve returns a resolver for references in the values of a version with the given uses. It resolves references to
// properties of resources and to provided values of other modules. The function resource returns the resource of a
// vertex, or nil if it does not exist yet.
func (g *Graph) Resolve(uses []Edge, resource func(*lumigl.Vertex) *Resource) expr.Resolve {
	return func(vertex *lumigl.Vertex, property string) (value lumigl.Value, known bool) {
		if r := resource(vertex); r != nil {
			return r.Output(property)
		}
		if e := edgeOf(uses, vertex, property); e != nil {
			if p := g.Version(e.To).Provided(e.Name); p != nil {
				return p.Result, p.Result.Exists() && expr.IsKnown(p.Result)
			}
		}
		return lumigl.Value{}, false
	}
}

// edgeOf returns the edge for a reference to a provided value, or nil.
func edgeOf(uses []Edge, vertex *lumigl.Vertex, property string) *Edge {
	if name, isProvided := strings.CutPrefix(property, "provides."); isProvided {
		for i, e := range uses {
			if e.Name == name && e.Module == packageOf(vertex.URN()) {
				return &uses[i]
			}
		}
	}
	return nil
}

// Kept returns the versions of a module reachable from the root, newest first.
func (g *Graph) Kept(module string) []*Version {
	reached := g.reached()
	var kept []*Version
	for _, v := range slices.Backward(g.versions[module]) {
		if reached[v.VersionID] {
			kept = append(kept, v)
		}
	}
	return kept
}

// reached returns the versions reachable from the root.
func (g *Graph) reached() map[VersionID]bool {
	reached := map[VersionID]bool{}
	left := slices.Collect(maps.Values(g.newest))
	for len(left) > 0 {
		id := left[len(left)-1]
		left = left[:len(left)-1]
		if reached[id] {
			continue
		}
		reached[id] = true
		if v := g.Version(id); v != nil {
			for _, e := range v.Uses {
				left = append(left, e.To)
			}
		}
	}
	return reached
}
