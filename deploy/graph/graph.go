// Package graph is the resource graph of an environment: the versions of its modules, the resources that they hold, and
// what they provide to each other.
//
// A module is deployed as a whole, and each deployment makes a version of it. The root leads to the newest version of
// each module; a version leads to the resources it holds and to the versions of other modules that it uses. A resource
// that a deployment does not touch is shared by the versions before and after it.
//
//	root ──▶ a::3 ─────────▶ a:aws:rds:Database::foodb:1
//	root ──▶ b::2 ──foo────▶ a::3
//
// An edge between modules has a [Constraint]: the name of a value that must be provided, its type, and perhaps a
// predicate. While the newest version of a module does not fulfill what another module needs of it, the older version that
// does is kept, and both exist side by side. What no module needs any more is removed by a cleanup.
//
// [Graph.Deploy], [Graph.Cleanup] and [Graph.Destroy] are the only ways in which edges move and versions go. They serve
// the planner, with resources as they are expected to be, and the executor, with resources as they turned out to be. A
// [Transition] has the graph afterward, and what the way there means:
//
//	m, err := graph.ModuleOf(desired, g.Environment)      // what a program describes
//	v := m.Version(2, resources)                          // with its resources in the environment
//	t, err := g.Deploy(graph.Update{Version: v, Became: changed})
//	for _, c := range t.Conflicts { … }                   // what other modules do not allow
//	for _, r := range t.Deleted { … }                     // what is left to delete
//	for _, module := range t.Cleanups { … }               // modules with versions that nothing needs any more
//
// [Graph.Overlay] records what a deployment did that failed. [Graph.Check] is the invariant that holds before and after
// each of these. [Graph.LumiGL] and [FromLumiGL] are the graph as a file, and [Graph.Snapshot] is what users see of it.
//
// The package is pure. It follows docs/engine.md, and the design note on infrastructure provisioning.
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
)

// Deployment is the number of a deployment. In each environment they count from 1.
type Deployment int64

// Graph is the resource graph of an environment. It does not change: each operation returns another graph, which shares
// what stays as it is. The zero Graph is that of an environment without modules.
type Graph struct {
	// Environment is the first part of the URNs of all resources. Lineage tells apart environments of one name.
	Environment, Lineage string

	// newest has the edges of the root: a version for each module, except those that are destroyed.
	newest map[string]VersionID
	// versions has those of each module, oldest first.
	versions map[string][]*Version
	// pending has the resources of each module that are to be deleted, and that no version holds.
	pending map[string][]Pending
}

// VersionID identifies a version of a module by the deployment that made it.
type VersionID struct {
	Module     string
	Deployment Deployment
}

// String returns the vertex's key, such as "a::3".
func (id VersionID) String() string { return fmt.Sprintf("%s::%d", id.Module, id.Deployment) }

// Version is a version of a module. It must not be changed once it is in a graph.
type Version struct {
	VersionID
	// Partial marks what a failed deployment made. It leads to resources, and nothing leads to it.
	Partial bool
	// Provides has what the module provides to others, sorted by name, and its saved model.
	Provides []Provided
	// Uses has the edges to versions of other modules, sorted by module and name.
	Uses []Edge
	// Configuration has the configuration of providers, by package: an object, or absent.
	Configuration lumigl.Value

	resources []*Resource
	byURN     map[urn.URN]*Resource
	omitted   int // resources that an outline leaves out
}

// Provided is a value that a module provides.
type Provided struct {
	Name string
	Type Type
	// Value is the value as the program has it. References in it lead to resources of the version, by their URNs.
	Value lumigl.Value
	// Result is Value with all outputs filled in, as far as they are known.
	Result lumigl.Value
}

// Edge leads from a version to one of another module.
type Edge struct {
	To VersionID
	Constraint
	// Broken is why To does not fulfill the constraint, or empty if it does. Only what records reality breaks an edge:
	// an interruption, an abort or a refresh.
	Broken string
}

// Constraint is what a module needs of another one.
type Constraint struct {
	// Module is the name of the other module, and Name that of the value that it must provide.
	Module, Name string
	// Type is what the type of the value must be assignable to.
	Type Type
	// Where is a predicate in CEL over the variable value, or empty.
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

// Resource is a resource as a deployment left it. It must not be changed once it is in a graph. References in its values
// lead to resources of the version that holds it, by their URNs: the vertices that they lead to only carry these.
type Resource struct {
	URN urn.URN
	// Deployment is the deployment that last changed the resource.
	Deployment Deployment
	// ID is what the provider calls the resource. It is empty in the graph of a plan while it does not exist.
	ID string
	// Inputs are the properties in the program, with all outputs filled in. A planner compares them first.
	Inputs lumigl.Value
	// Checked are the properties as Check returned them, which were sent to the provider.
	Checked lumigl.Value
	// Unread has the properties in Checked that the resource may have or not: a call was lost that would have set or removed
	// them, and the provider cannot read them.
	Unread []string
	// Outputs are the properties that the provider computed.
	Outputs lumigl.Value
	// Referents has the resources that Checked referred to when it was sent, by their IDs: a reference does not tell a
	// resource from its replacement.
	Referents lumigl.Value
	// Options are those of LumiGL. References in them lead to resources by their URNs too.
	Options lumigl.Value
	// Dependencies has the resources of the module that the program's properties and options refer to, sorted.
	Dependencies []urn.URN
	// Label is the last part of the URN in the program: a number such as "#1" where the provider chose the name.
	Label string
	// Computed is the name that the provider last computed for the resource if programs do not name it: that in the URN, unless
	// another resource had it. It is empty if it is not known.
	Computed string
	// Incarnation counts the replacements of the resource, and Seed is what its generated values derive from.
	Incarnation int
	Seed        []byte
	// Replaced is the ID of the resource that it was created in place of, if that had another URN. That is left if the
	// deployment failed, or if another module needs it.
	Replaced string
	// Plugin is the version of the plugin that the resource was deployed with.
	Plugin string
	// Provisioner is the name of the provisioner that made the resource, "" if its provider did. Metadata is what the
	// provisioner noted about it, absent if that is not known.
	Provisioner string
	Metadata    lumigl.Value
	// Source is where the program makes the resource.
	Source string
}

// Type returns the token of the resource's type.
func (r *Resource) Type() tokens.Type { return r.URN.Type() }

// Key returns the key of the resource's vertex: module, type, name and deployment, such as
// "a:aws:rds:Database::foodb:1". A URN whose program is not called index has that after the module.
func (r *Resource) Key() string { return fmt.Sprintf("%s:%d", ShortName(r.URN), r.Deployment) }

// ShortName returns a URN without its environment, such as "a:aws:rds:Database::foodb".
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

// InProgram returns the URN that the resource has in the program, where a number is in place of a name that the provider
// chose.
func (r *Resource) InProgram() urn.URN {
	if r.Label == "" {
		return r.URN
	}
	return urn.URN(strings.TrimSuffix(string(r.URN), r.URN.Name()) + r.Label)
}

// Properties returns all stored properties: those that were sent to the provider and those that it computed.
func (r *Resource) Properties() lumigl.Value {
	var all lumigl.ObjectBuilder
	all.SetAll(r.Checked)
	all.SetAll(r.Outputs)
	return all.Object()
}

// Before returns the stored properties that desired ones are compared with. A property that was not read differs from any.
func (r *Resource) Before(desired lumigl.Value) lumigl.Value {
	all := r.Properties()
	for _, name := range r.Unread {
		if desired.Get(name).Exists() {
			all = all.With(name, lumigl.Value{})
		}
	}
	return all
}

// Output returns the value that references to a property of the resource have, and whether it is known. It is absent if
// the resource has no such property.
func (r *Resource) Output(property string) (value lumigl.Value, known bool) {
	switch property {
	case "urn":
		return lumigl.TextOf(string(r.URN)), true
	case "id":
		if r.Provisioner == "" || r.Metadata.Exists() && !r.Outputs.Get("id").Exists() {
			return lumigl.TextOf(r.ID), r.ID != ""
		} // A provisioner that notes an id may change it with the resource.
	}
	if value = r.Outputs.Get(property); !value.Exists() {
		value = r.Checked.Get(property)
	}
	isNoted := value.Exists() || r.Provisioner == "" || r.Metadata.Exists()
	return value, r.ID != "" && isNoted && expr.IsKnown(value)
}

// Retarget returns the resource with references in its values that lead where to says.
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

// Pending is a resource that is still to be deleted.
type Pending struct {
	Resource *Resource
	// Configuration is that of the resource's provider.
	Configuration lumigl.Value
}

// NewVersion returns a version that holds resources, each after those that it depends on. It panics if two have one URN.
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

// Resource returns the resource with a URN, or nil.
func (v *Version) Resource(u urn.URN) *Resource { return v.byURN[u] }

// Resources returns the resources of the version, each after those that it depends on.
func (v *Version) Resources() iter.Seq[*Resource] { return slices.Values(v.resources) }

// Len returns the number of resources.
func (v *Version) Len() int { return len(v.resources) + v.omitted }

// Holds reports whether the version holds this very vertex.
func (v *Version) Holds(r *Resource) bool { return v.byURN[r.URN] == r }

// Provided returns what the version provides under a name, or nil.
func (v *Version) Provided(name string) *Provided {
	i, found := slices.BinarySearchFunc(v.Provides, name, func(p Provided, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		return nil
	}
	return &v.Provides[i]
}

// Outputs returns what the version provides to other modules.
func (v *Version) Outputs() []Provided {
	return slices.DeleteFunc(slices.Clone(v.Provides), func(p Provided) bool { return p.Name == ModelName })
}

// Modules returns the names of all modules that have versions or pending deletes, sorted.
func (g *Graph) Modules() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(g.versions)), maps.Keys(g.pending))
	slices.Sort(all)
	return slices.Compact(all)
}

// Newest returns the version of a module that the root leads to, or nil.
func (g *Graph) Newest(module string) *Version { return g.Version(g.newest[module]) }

// Version returns a version, or nil.
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

// Pending returns the resources of a module that are still to be deleted.
func (g *Graph) Pending(module string) []Pending { return g.pending[module] }

// Resolve returns the function that evaluates the values of a version: references to properties of its resources, and to
// what other modules provide, in the versions that its uses lead to. Resource returns the resource that a vertex in these
// values is, or nil while it does not exist.
func (g *Graph) Resolve(uses []Edge, resource func(*lumigl.Vertex) *Resource) expr.Resolve {
	return func(vertex *lumigl.Vertex, property string) (value lumigl.Value, known bool) {
		if r := resource(vertex); r != nil {
			return r.Output(property)
		}
		name, isProvided := strings.CutPrefix(property, "provides.")
		for _, e := range uses {
			if !isProvided || e.Name != name || e.Module != packageOf(vertex.URN()) {
				continue
			}
			if p := g.Version(e.To).Provided(name); p != nil {
				return p.Result, p.Result.Exists() && expr.IsKnown(p.Result)
			}
		}
		return lumigl.Value{}, false
	}
}

// Kept returns the versions of a module that the root reaches, newest first.
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

// reached returns the versions that the root leads to, over any number of edges.
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
