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

// assembly makes a snapshot of what a source has. First all resources are declared, so that they can refer to each
// other, then named, then filled, and then linked.
type assembly struct {
	options  Options
	book     *book
	snapshot *lumigl.Snapshot
	drafts   []*draft
	live     map[string]*draft
	deleted  map[string]*draft
	linked   int
	// tool is what the source is from, and kept what only that understands of the whole.
	tool Format
	kept bag
	// references are those that the source itself says.
	references []explicit
	// renamed says of which names of packages and environments it has been said that they are others.
	renamed map[string]bool
}

// state says where a resource is going.
type state uint8

const (
	live    state = iota
	deleted       // pending to be
	begun         // an operation on it
)

// draft is a resource that is being made.
type draft struct {
	*lumigl.Vertex
	state state
	// key is what the source calls it.
	key string
	// parts are those of its URN.
	parts urn.Parts
	// qualified is its name if another resource has the same parts.
	qualified string
	// said is where it stands in the source, and named what its name was made of.
	said, named *source
	// mistyped says that its type is no type token in the source.
	mistyped   bool
	properties []lumigl.Member
	extensions bag
	// after are the resources that it depends on although no property refers to them.
	after []lumigl.Value
	// given are values that differ from those of the properties, by the part of the source that they stand in.
	given map[string]bag
	// place is where it is in the order of dependencies.
	place *place
	// An instance of OpenTofu belongs to an entry, and depends on blocks.
	entry     *entry
	dependsOn []*block
	// index is of the properties of a resource of Pulumi, and list the last list of dependencies that it was found in.
	index *index
	list  int
}

// slot is where a property of a resource is, and the part of the source that it is from, such as "inputs".
type slot struct {
	place int
	from  string
}

// put gives a resource a property from a part of the source. It counts more than what slots have from other parts. What
// is a secret in either of them is one in what comes of it.
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

// differs keeps the value of a property that got another.
func (d *draft) differs(from, name string, v lumigl.Value) {
	if d.given == nil {
		d.given = map[string]bag{}
	}
	given := d.given[from]
	given.set(name, plain(v))
	d.given[from] = given
}

// keepGiven keeps what differs in the extensions.
func (d *draft) keepGiven() {
	for _, from := range slices.Sorted(maps.Keys(d.given)) {
		given := d.given[from]
		d.extensions.set(from, given.object())
	}
}

// place is where one or more resources are in the order of dependencies.
type place struct {
	before []*place
	rank   int
}

// declare notes that there is a resource.
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

// name gives all resources their URNs. Where several would have the same, all of them get their qualified names, so that
// none depends on the order.
func (a *assembly) name() error {
	first, shared := make(map[urn.Parts]*draft, len(a.drafts)), map[urn.Parts]bool{}
	for _, d := range a.drafts {
		if other, ok := first[d.parts]; !ok {
			first[d.parts] = d
		} else if other.key != d.key {
			shared[d.parts] = true
		}
	}
	// What is not alive has the URN of what is, if that is the same in the source.
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

// free finds a URN that nothing has yet. It returns the name in it, too.
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
		taken[base]++ // What was tried before needs no trying again.
		parts.Name = fmt.Sprintf("%s (%d)", name, taken[base])
	}
}

// find is the resource that the source calls by a key, seen from another.
func (a *assembly) find(key string, from *draft) *draft {
	if d, ok := a.live[key]; ok {
		return d
	}
	if from.state != live {
		return a.deleted[key]
	}
	return nil
}

// environment and packageOf make names for URNs, and say once if they are others than those of the source.
func (a *assembly) environment(name string, s *source) string {
	return a.rename(EnvironmentLoss, "environment", name, environmentName(name), a.options.Environment, s)
}

func (a *assembly) packageOf(name string, s *source) string {
	return a.rename(PackageLoss, "package", name, packageName(name, "main"), a.options.Package, s)
}

func (a *assembly) rename(code Code, what, name, made, wanted string, s *source) string {
	if wanted != "" {
		return wanted // Who asks for a name need not be told.
	}
	if key := what + " " + name; made != name && !a.renamed[key] {
		a.renamed[key] = true
		s.note(code, "the %s %q is called %q: the name as it is cannot stand in a URN", what, name, made)
	}
	return made
}

// build makes the snapshot, once all resources are declared: fill reads a resource, and connect makes references.
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

// secret wraps a value as a secret, unless it is one.
func secret(v lumigl.Value) lumigl.Value {
	if v.IsSecret() {
		return v
	}
	return signed(wire.Secret, lumigl.Member{Key: "value", Value: v})
}

// signed makes a special value.
func signed(signature string, members ...lumigl.Member) lumigl.Value {
	own := lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(signature)}
	return lumigl.ObjectOf(append([]lumigl.Member{own}, members...)...)
}

// has reports whether a value, or one in it, is what is looked for.
func has(v lumigl.Value, is func(lumigl.Value) bool) (found bool) {
	v.Replace(func(part lumigl.Value) (lumigl.Value, bool) {
		found = found || is(part)
		return part, false
	})
	return found
}

func isSpecial(v lumigl.Value) bool { return v.Get(wire.Signature).Kind() == lumigl.Text }

// plain is a value whose references are the URNs that they lead to, as they are outside of properties.
func plain(v lumigl.Value) lumigl.Value {
	return v.Replace(func(v lumigl.Value) (lumigl.Value, bool) {
		to, _, ok := v.Target()
		if !ok {
			return v, false
		}
		return lumigl.TextOf(to.Key()), true
	})
}

// whole is what a number says that is whole and not negative. Of any other, it is said that it is left out.
func whole(s *source) uint64 {
	literal, _ := s.take().Literal()
	n, err := strconv.ParseUint(literal, 10, 64)
	if err != nil {
		s.lose(ShapeLoss, "left out: this has to be a whole number from 0 to 18446744073709551615")
		return 0
	}
	return n
}

// open is a value in which no secret is wrapped.
func open(v lumigl.Value) lumigl.Value {
	return v.Replace(func(v lumigl.Value) (lumigl.Value, bool) {
		if inside, ok := v.Secret(); ok {
			return open(inside), true
		}
		return v, false
	})
}

// mistaken reports plain data that LumiGL takes for something else.
func mistaken(s *source) {
	if has(s.value, func(v lumigl.Value) bool { return v.IsUnknown() || isSpecial(v) }) {
		s.note(MistakenLoss, "kept unchanged, but LumiGL reads part of it as a special value: a signature or "+
			"the placeholder of an unknown value")
	}
}
