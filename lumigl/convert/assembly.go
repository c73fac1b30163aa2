package convert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// assembly builds a snapshot from a source. All resources are declared first, so that they can refer to each other;
// then they are named, filled, and linked.
type assembly struct {
	options  Options
	book     *book
	snapshot *lumigl.Snapshot
	drafts   []*draft
	live     map[string]*draft
	deleted  map[string]*draft
	linked   int
	// tool is the source's format. kept holds top-level data specific to that tool.
	tool Format
	kept bag
	// references lists the source's explicit references.
	references []explicit
	// renamed contains the package and environment names whose change has been reported.
	renamed map[string]bool
}

// state is the part of the snapshot that a resource belongs to.
type state uint8

const (
	live    state = iota
	deleted       // pending deletion
	begun         // with a pending operation
)

// draft is a resource under construction.
type draft struct {
	*lumigl.Vertex
	state state
	// key is the resource's identifier in the source.
	key string
	// parts are the components of the URN.
	parts urn.Parts
	// qualified is a longer name, used if several resources have the same parts.
	qualified string
	// said is the resource in the source. named is the value that its name was derived from.
	said, named *source
	// mistyped is set if the type in the source is not a valid type token.
	mistyped   bool
	properties []lumigl.Member
	extensions bag
	// after lists dependencies that no property refers to.
	after []lumigl.Value
	// given holds values overridden by others in the properties, by their part of the source, such as "inputs".
	given map[string]bag
	// place is the position in dependency order.
	place *place
	// OpenTofu only: the instance's entry, and the blocks it depends on.
	entry     *entry
	dependsOn []*block
	// Pulumi only: an index of the properties, and the number of the last dependency list that contained the resource.
	index *index
	list  int
}

// slot is a property's index and its part of the source, such as "inputs".
type slot struct {
	place int
	from  string
}

// put sets a property from a part of the source and overrides values from other parts. Anything secret in either value
// is secret in the result.
func (d *draft) put(s *source, name string, v lumigl.Value, from string, slots map[string]slot) {
	at, ok := slots[name]
	if ok {
		p := &d.properties[at.place].Value
		given := *p
		if *p = hiddenAs(v, given); !open(given).Equal(open(v)) {
			d.differs(at.from, name, hiddenAs(given, v))
			how := ""
			if has(given, func(v lumigl.Value) bool { _, property, _ := v.Target(); return property != "" }) {
				how = ", with references to properties as resource URNs"
			}
			s.note(InputLoss, "the output is used; the input differs and is kept in the extensions%s", how)
		}
	} else {
		at.place = len(d.properties)
		d.properties = append(d.properties, lumigl.Member{Key: name, Value: v})
	}
	slots[name] = slot{at.place, from}
}

// differs records an overridden value of a property, which comes from the given part of the source.
func (d *draft) differs(from, name string, v lumigl.Value) {
	if d.given == nil {
		d.given = map[string]bag{}
	}
	given := d.given[from]
	given.set(name, plain(v))
	d.given[from] = given
}

// keepGiven stores the overridden values in the extensions.
func (d *draft) keepGiven() {
	for _, from := range slices.Sorted(maps.Keys(d.given)) {
		given := d.given[from]
		d.extensions.set(from, given.object())
	}
}

// place is a node in the dependency order. Several resources may share a place.
type place struct {
	before []*place
	rank   int
}

func (a *assembly) declare(d *draft) {
	if d.place == nil {
		d.place = &place{}
	}
	a.drafts = append(a.drafts, d)
	d.said.calls(d.key)
	if a.options.Environment != "" {
		d.parts.Environment = a.options.Environment
	}
	if a.options.Package != "" {
		d.parts.Package = a.options.Package
	}
	if a.options.ShortTypes {
		d.parts.Type = shortType(d.parts.Type)
	}
	known := a.live
	if d.state == deleted {
		known = a.deleted
	}
	if _, ok := known[d.key]; !ok && d.state != begun {
		known[d.key] = d
	}
}

// name assigns URNs to all resources. If several resources would have the same URN, all of them get their qualified
// names, so the result does not depend on their order.
func (a *assembly) name() error {
	first, shared := make(map[urn.Parts]*draft, len(a.drafts)), map[urn.Parts]bool{}
	for _, d := range a.drafts {
		if other, ok := first[d.parts]; !ok {
			first[d.parts] = d
		} else if other.key != d.key {
			shared[d.parts] = true
		}
	}
	// Pending resources that have the same URN as a live resource in the source keep sharing its URN.
	urns := make(map[string]urn.URN, len(a.drafts))
	taken := make(map[urn.URN]int, len(a.drafts))
	slices.SortStableFunc(a.drafts, func(x, y *draft) int { return cmp.Compare(x.state, y.state) })
	for _, d := range a.drafts {
		var err error
		if u, ok := urns[d.key]; ok && d.state != live {
			if d.Vertex, err = lumigl.NewResource(u); err != nil {
				return err
			}
			continue
		}
		name := d.parts.Name
		if shared[d.parts] {
			name = d.qualified
		}
		u, got, err := free(d.parts, resourceName(name), taken)
		if err != nil {
			return err
		}
		if _, ok := urns[d.key]; !ok {
			urns[d.key] = u
		}
		if got != d.parts.Name {
			why := "the name is empty or contains control characters"
			if resourceName(d.parts.Name) == d.parts.Name {
				why = "another resource has the same type and name"
			}
			d.named.note(NameLoss, "renamed to %q: %s", got, why)
		}
		if d.state == live {
			d.Vertex, err = a.snapshot.Add(u)
		} else {
			d.Vertex, err = lumigl.NewResource(u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// free returns an unused URN and its name: the given name, or else the name with a number appended, such as "a (2)".
func free(parts urn.Parts, name string, taken map[urn.URN]int) (u urn.URN, free string, err error) {
	parts.Name = name
	for base := urn.URN(""); ; {
		if u, err = urn.Format(parts); err != nil {
			return "", "", err
		}
		if taken[u] == 0 {
			taken[u] = 1
			return u, parts.Name, nil
		}
		base = cmp.Or(base, u)
		taken[base]++ // skip numbers already tried
		parts.Name = fmt.Sprintf("%s (%d)", name, taken[base])
	}
}

// find returns the resource with the given key, or nil. Only pending resources can refer to resources pending deletion.
func (a *assembly) find(key string, from *draft) *draft {
	if d, ok := a.live[key]; ok {
		return d
	}
	if from.state != live {
		return a.deleted[key]
	}
	return nil
}

// environment and packageOf convert names for use in URNs. Each change is reported once.
func (a *assembly) environment(name string, s *source) string {
	return a.rename(EnvironmentLoss, "environment", name, environmentName(name), a.options.Environment, s)
}

func (a *assembly) packageOf(name string, s *source) string {
	return a.rename(PackageLoss, "package", name, packageName(name, "main"), a.options.Package, s)
}

func (a *assembly) rename(code Code, what, name, made, wanted string, s *source) string {
	if wanted != "" {
		return wanted // chosen by the caller
	}
	if key := what + " " + name; made != name && !a.renamed[key] {
		a.renamed[key] = true
		s.note(code, "%s %q renamed to %q: the name is not valid in a URN", what, name, made)
	}
	return made
}

// build completes the snapshot after all resources have been declared. fill reads a resource, and connect adds
// references.
func (a *assembly) build(fill func(*draft), connect func()) error {
	if err := a.name(); err != nil {
		return err
	}
	for _, d := range a.drafts {
		fill(d)
	}
	connect()
	for _, d := range a.drafts {
		d.Properties = lumigl.ObjectOf(d.properties...)
		if len(d.after) > 0 {
			d.Options = d.Options.With("dependsOn", lumigl.ListOf(d.after...))
		}
		if own := d.extensions.object(); own.Exists() {
			d.Extensions = d.Extensions.With(string(a.tool), own)
		}
		if d.state == deleted {
			a.snapshot.Pending.Deletes = append(a.snapshot.Pending.Deletes, d.Vertex)
		}
	}
	if own := a.kept.object(); own.Exists() {
		a.snapshot.Fields = append(a.snapshot.Fields, lumigl.Member{Key: string(a.tool), Value: own})
	}
	return nil
}

// secret returns v as a secret. If v is a secret already, it returns v.
func secret(v lumigl.Value) lumigl.Value {
	if v.IsSecret() {
		return v
	}
	return signed(wire.Secret, lumigl.Member{Key: "value", Value: v})
}

// signed returns a special value with the given signature.
func signed(signature string, members ...lumigl.Member) lumigl.Value {
	own := lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(signature)}
	return lumigl.ObjectOf(append([]lumigl.Member{own}, members...)...)
}

// has reports whether is returns true for v or any part of it.
func has(v lumigl.Value, is func(lumigl.Value) bool) (found bool) {
	v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		found = found || is(part)
		return part, false
	})
	return found
}

func isSpecial(v lumigl.Value) bool { return v.Get(wire.Signature).Kind() == lumigl.Text }

// plain replaces references with URNs, for values outside properties.
func plain(v lumigl.Value) lumigl.Value {
	return v.Replace(func(v lumigl.Value) (lumigl.Value, bool) {
		to, _, ok := v.Target()
		if !ok {
			return v, false
		}
		return lumigl.TextOf(to.Key()), true
	})
}

// whole returns the value of s as a nonnegative integer. For other values, it reports a loss and returns 0.
func whole(s *source) uint64 {
	literal, _ := s.take().Literal()
	n, err := strconv.ParseUint(literal, 10, 64)
	if err != nil {
		s.lose(ShapeLoss, "dropped: expected a whole number from 0 to 18446744073709551615")
		return 0
	}
	return n
}

// open returns v with the secrets in it replaced by their contents.
func open(v lumigl.Value) lumigl.Value {
	return v.Replace(func(v lumigl.Value) (lumigl.Value, bool) {
		if inside, ok := v.Secret(); ok {
			return open(inside), true
		}
		return v, false
	})
}

// mistaken reports plain data that LumiGL would read as a special value.
func mistaken(s *source) {
	if has(s.value, func(v lumigl.Value) bool { return v.IsUnknown() || isSpecial(v) }) {
		s.note(MistakenLoss, "kept unchanged, but LumiGL reads part of it as a special value: a signature or "+
			"the placeholder of an unknown value")
	}
}
