// Package adopt writes programs for existing resources. [Read] reads the resources in the same way as the option "import",
// and [Write] writes the program that imports them. Nothing is changed or stored:
//
//	resources, err := adopt.Read(ctx, adopt.Request{Resources: resources, Provider: provider, …})
//	program := adopt.Write(resources, specifier) // program.Text is TypeScript
//
// The program sets only what it must: no outputs, and no values that Check fills in or that the provider chooses itself.
package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Resource is an existing resource.
type Resource struct {
	Type tokens.Type
	// Name is the resource's name in the program. [Read] sets it to the resource's real name, if it has one, or to "" if
	// the provider names resources of the type.
	Name string
	ID   string
	// Source is the position of the resource in a file, such as "prod.json:12:5", or "".
	Source string
	// Refers maps properties to the resources that they refer to according to another tool. Their names may differ from
	// the provider's in case, underscores, and a suffix "id".
	Refers map[string]*Resource
	// IsLookUp is set if the resource is not imported, but only looked up, since another one refers to it.
	IsLookUp bool
	// LeftOut lists the properties that the program need not set. Read sets it.
	LeftOut []string

	description *lumi.Description
	// vertex is the resource in the program. Values that the user must add to the program are unknown.
	vertex *lumigl.Vertex
	// read holds what the provider returned.
	read, outputs lumigl.Value
}

// Request is the input of [Read].
type Request struct {
	// Environment and Module are the environment and the module of the program.
	Environment, Module string
	Resources           []*Resource
	Provider            plan.Provider
	// Describe returns the description of a type. Read collects errors that are a *[plan.Error].
	Describe func(context.Context, tokens.Type) (*lumi.Description, error)
	// Progress is called for each resource that was read. It must be safe for concurrent use.
	Progress func()

	byURN    map[urn.URN]*Resource
	byVertex map[*lumigl.Vertex]*Resource
	byID     map[string][]*Resource
}

const (
	// parallelism is the maximum number of resources to read at once.
	parallelism = 16
	// shortestID is the length of the shortest text that counts as the id of another resource. Words can be ids, too.
	shortestID   = 8
	nameProperty = "name"
)

// Read reads resources and returns them in an order in which each follows those that it refers to, including those to look
// up. It returns a *[plan.Error] that lists the resources that cannot be imported.
func Read(ctx context.Context, r Request) ([]*Resource, error) {
	known, wrong := map[tokens.Type]*lumi.Description{}, &plan.Error{}
	for _, one := range r.Resources {
		if _, isKnown := known[one.Type]; !isKnown {
			d, err := r.Describe(ctx, one.Type)
			if e, ok := errors.AsType[*plan.Error](err); ok {
				wrong.Faults = append(wrong.Faults, e.Faults...)
			} else if err != nil {
				return nil, err
			}
			known[one.Type] = d
		}
		one.description = known[one.Type]
	}
	if len(wrong.Faults) > 0 {
		return nil, wrong
	}
	r.byURN, r.byVertex, r.byID = map[urn.URN]*Resource{}, map[*lumigl.Vertex]*Resource{}, map[string][]*Resource{}
	numbers := map[tokens.Type]int{}
	err := r.each(ctx, parallelism, r.get)
	if err == nil {
		err = r.each(ctx, 1, func(_ context.Context, one *Resource) error {
			numbers[one.Type]++
			return r.identify(one, numbers[one.Type])
		})
	}
	if err != nil {
		return nil, err
	}
	var vertices []*lumigl.Vertex
	for _, one := range r.Resources {
		r.link(ctx, one)
		vertices = append(vertices, one.vertex)
	}
	if err := r.each(ctx, parallelism, r.reduce); err != nil {
		return nil, err
	}
	var all []*Resource
	for _, v := range withDependencies(vertices...) {
		all = append(all, r.byVertex[v])
	}
	return all, nil
}

// each calls f for all resources, up to limit at once, and returns the errors as a *[plan.Error].
func (r *Request) each(ctx context.Context, limit int, f func(context.Context, *Resource) error) error {
	errs := make([]error, len(r.Resources))
	var group errgroup.Group
	group.SetLimit(limit)
	for i, one := range r.Resources {
		group.Go(func() error {
			if ctx.Err() == nil {
				errs[i] = f(ctx, one)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	all := &plan.Error{}
	for i, one := range r.Resources {
		if errs[i] != nil {
			u, _ := r.urn(one.Type, cmp.Or(one.Name, one.ID)) // a message without a URN contains the id
			all.Faults = append(all.Faults, plan.Fault{URN: u, Source: one.Source, Message: errs[i].Error()})
		}
	}
	if err := context.Cause(ctx); err != nil || len(all.Faults) == 0 {
		return err
	}
	return all
}

func (r *Request) urn(t tokens.Type, name string) (urn.URN, error) {
	return urn.Format(urn.Parts{Environment: r.Environment, Package: r.Module, Module: "index", Type: t, Name: name})
}

// get reads a resource. The real name takes precedence over the given one, since an import compares the two.
func (r *Request) get(ctx context.Context, one *Resource) error {
	u, err := r.urn(one.Type, cmp.Or(one.Name, "#1"))
	if err != nil {
		return err
	}
	one.read, one.outputs, err = r.Provider.Get(ctx, plan.Existing{URN: u, ID: one.ID})
	if errors.Is(err, lumi.ErrNotFound) {
		return fmt.Errorf("%q does not exist", one.ID)
	} else if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	r.Progress()
	for _, p := range one.description.Properties {
		if p.Flags&lumi.Secret != 0 {
			one.read, _ = plan.WrapSecrets(one.read, []string{p.Name})
			one.outputs, _ = plan.WrapSecrets(one.outputs, []string{p.Name})
		}
	}
	switch name, isRead := one.read.Get(nameProperty).Text(); {
	case !one.description.Named:
		one.Name = ""
	case !isRead:
		one.read = one.read.With(nameProperty, lumigl.TextOf(one.Name))
	case name == "":
		return fmt.Errorf("%q has no name, and differs from every program that names it: give it a name first", one.ID)
	default:
		one.Name = name
	}
	return nil
}

// identify sets the vertex of a resource, the n-th of its type.
func (r *Request) identify(one *Resource, n int) error {
	if slices.ContainsFunc(r.byID[one.ID], func(other *Resource) bool { return other.Type == one.Type }) {
		return fmt.Errorf("%q occurs more than once: import it only once", one.ID)
	}
	name := one.Name
	if !one.description.Named {
		name = fmt.Sprint("#", n)
	}
	u, err := r.urn(one.Type, name)
	if err != nil {
		return err
	}
	if other := r.byURN[u]; other != nil {
		return fmt.Errorf("%q and %q have the same name, but names must be unique: import only one of them", other.ID, one.ID)
	}
	if one.vertex, err = lumigl.NewResource(u); err == nil {
		r.byURN[u], r.byVertex[one.vertex], r.byID[one.ID] = one, one, append(r.byID[one.ID], one)
	}
	return err
}

// link sets the properties of a vertex. URNs and ids of resources in the request become references, unless these would form
// a cycle. References by id to other resources become look-ups. Assets, URNs of other resources, and required properties
// that the provider cannot read become unknown.
func (r *Request) link(ctx context.Context, one *Resource) {
	canRefer := func(to *Resource) bool { return to != nil && !slices.Contains(withDependencies(to.vertex), one.vertex) }
	for _, p := range one.description.Properties {
		if p.Flags&lumi.Out != 0 {
			continue
		}
		isOpen := false // whether it contains an asset or refers to a resource that is not imported
		v := one.read.Get(p.Name).Replace(func(part lumigl.Value) (lumigl.Value, bool) {
			text, _ := part.Text()
			isOpen = isOpen || part.IsFile()
			if parts, err := urn.URN(text).Parts(); err == nil && p.Kind != lumi.KindString {
				u, _ := r.urn(parts.Type, parts.Name)
				to := r.byURN[u]
				if id, isByID := urn.URN(text).ID(); isByID {
					to = r.withID(ctx, parts.Type, id)
				}
				if canRefer(to) {
					return lumigl.ReferenceTo(to.vertex), true
				}
				isOpen = true
			}
			if to := r.byID[text]; len(to) == 1 && canRefer(to[0]) && utf8.RuneCountInString(text) >= shortestID && p.Name != nameProperty {
				return lumigl.PropertyOf(to[0].vertex, "id"), true
			}
			return part, part.IsSecret() || part.IsFile()
		})
		if isOpen || !v.Exists() {
			if to := one.refersTo(p); canRefer(to) {
				v = lumigl.ReferenceTo(to.vertex)
			} else if isOpen || p.Required {
				v = lumigl.TextOf(wire.Unknown)
			}
		}
		if p.Flags&lumi.Secret != 0 && v.IsUnknown() && p.Kind == lumi.KindString {
			v = lumigl.SecretOf(v)
		}
		one.vertex.Properties = one.vertex.Properties.With(p.Name, v)
	}
}

// withID returns the resource with a type and an id, or else its look-up. It returns nil if the name of the look-up is taken
// or the type is unknown.
func (r *Request) withID(ctx context.Context, t tokens.Type, id string) *Resource {
	for _, one := range r.byID[id] {
		if one.Type == t {
			return one
		}
	}
	u, err := r.urn(t, id)
	if one := r.byURN[u]; one != nil && one.IsLookUp {
		return one
	} else if err != nil || one != nil {
		return nil
	}
	one := &Resource{Type: t, ID: id, Name: id, IsLookUp: true}
	one.vertex, _ = lumigl.NewResource(u) // u is valid
	if one.description, err = r.Describe(ctx, t); err != nil {
		return nil
	}
	r.byURN[u], r.byVertex[one.vertex] = one, one
	return one
}

// refersTo returns the resource that another tool's property of the same name refers to, or nil.
func (one *Resource) refersTo(p lumi.Property) *Resource {
	plain := func(name string) string {
		return strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(name), "_", ""), "id")
	}
	for _, name := range slices.Sorted(maps.Keys(one.Refers)) {
		if plain(name) == plain(p.Name) && p.Kind == lumi.KindCapability {
			return one.Refers[name]
		}
	}
	return nil
}

// withDependencies returns vertices, and those that they refer to, each after its own references.
func withDependencies(first ...*lumigl.Vertex) (all []*lumigl.Vertex) {
	seen := map[*lumigl.Vertex]bool{}
	var visit func(*lumigl.Vertex)
	visit = func(v *lumigl.Vertex) {
		if seen[v] {
			return
		}
		seen[v] = true
		for target := range v.References() {
			visit(target)
		}
		all = append(all, v)
	}
	for _, v := range first {
		visit(v)
	}
	return all
}

// reduce drops the properties that Check fills in, and those that the provider chooses if they are missing.
func (r *Request) reduce(ctx context.Context, one *Resource) error {
	full, err := r.check(ctx, one, one.vertex.Properties)
	if err != nil {
		return fmt.Errorf("%q cannot be imported, since the provider rejects what it reads: %w", one.ID, err)
	}
	for _, p := range one.description.Properties {
		if v := one.vertex.Properties.Get(p.Name); !v.Exists() || v.IsUnknown() || p.Required {
			continue
		}
		rest, expected := one.vertex.Properties.With(p.Name, lumigl.Value{}), full
		if p.Flags&lumi.Computed != 0 {
			expected = full.With(p.Name, lumigl.Value{})
		}
		if checked, err := r.check(ctx, one, rest); err == nil && (checked.Equal(full) || checked.Equal(expected)) {
			one.vertex.Properties, full = rest, checked
			one.LeftOut = append(one.LeftOut, p.Name)
		}
	}
	return nil
}

// check calls Check with properties of a program, in which the ids of other resources are known.
func (r *Request) check(ctx context.Context, one *Resource, properties lumigl.Value) (lumigl.Value, error) {
	d := plan.Desired{URN: one.vertex.URN(), References: map[urn.URN]plan.Reference{}}
	d.Properties = properties.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		target, property, isReference := part.Target()
		if isReference && property != "" {
			return lumigl.TextOf(r.byVertex[target].ID), true
		}
		if isReference {
			to := r.byVertex[target]
			d.References[target.URN()] = plan.Reference{ID: to.ID, Properties: lumigl.Merged(to.read, to.outputs)}
		}
		content, _ := part.Secret()
		return content, content.IsUnknown()
	})
	return r.Provider.Check(ctx, plan.CheckRequest{Desired: d})
}
