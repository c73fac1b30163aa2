package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// shortest is the minimum length of ids to search for in properties. Shorter ids, such as "default" and small numbers,
// often occur by coincidence.
const shortest = 8

// dependencies lists the keys of dependency lists. The second was used by the first releases with version 4; its
// addresses are relative to the module.
var dependencies = [...]string{"dependencies", "depends_on"}

// meant returns the configuration address of a dependency, given as text in the list with the given key.
func (e *entry) meant(list, text string) string {
	if list == "depends_on" && e.module != "" {
		text = e.module + "." + text
	}
	return withoutKeys(text)
}

// withoutKeys removes instance keys from an address: module.net["eu"].aws_subnet.this[0] becomes
// module.net.aws_subnet.this.
func withoutKeys(address string) string {
	if !strings.Contains(address, "[") {
		return address
	}
	var b strings.Builder
	for {
		before, key, found := strings.Cut(address, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if text, err := strconv.QuotedPrefix(key); err == nil {
			key = key[len(text):]
		}
		_, address, _ = strings.Cut(key, "]")
	}
}

// connect replaces ids of other resources with references and adds the dependencies that no reference covers.
func (o *openTofu) connect() {
	o.byID = make(map[string]*draft, len(o.drafts))
	for _, d := range o.drafts {
		if d.state != live {
			continue
		}
		d.entry.instances = append(d.entry.instances, d)
		if _, twice := o.byID[d.ID]; twice {
			o.byID[d.ID] = nil
			continue
		}
		o.byID[d.ID] = d
	}
	for _, d := range o.drafts {
		for _, key := range dependencies {
			for _, v := range d.said.key(key).value.Elements() {
				text, _ := v.Text()
				if b := o.block(d.entry.meant(key, text)); b.on != d {
					b.on = d
					d.dependsOn = append(d.dependsOn, b)
					d.place.before = append(d.place.before, &b.place)
				}
			}
		}
	}
	o.rank()
	for _, d := range o.drafts {
		o.linkAll(d)
		for _, key := range dependencies {
			o.rest(d, key)
		}
	}
}

// linkAll replaces values in a resource's properties with references to its dependencies. Dependency lists are
// transitive, so a dependency that is reachable through a reference is covered by it.
func (o *openTofu) linkAll(d *draft) {
	if len(d.dependsOn) == 0 {
		return
	}
	for _, b := range d.dependsOn {
		b.on = d
	}
	var targets []*draft
	find := func(text string) (*draft, string) {
		if len(text) < shortest {
			return nil, ""
		}
		to := o.byID[text]
		if to == nil || to.entry.on != d || !d.may(to) {
			return nil, ""
		}
		to.entry.said = d
		if len(targets) < mostSearched && !slices.Contains(targets, to) {
			targets = append(targets, to)
			for _, b := range to.dependsOn {
				b.said = d
			}
		}
		return to, ""
	}
	for i := range d.properties {
		o.link(d, &d.properties[i].Value, find)
	}
}

// rest adds the dependencies that no reference covers to the options. Dependencies on missing blocks, on blocks with
// very many instances, and on cycles stay in the extensions.
func (o *openTofu) rest(d *draft, key string) {
	var left []lumigl.Value
	var names []string
	list := d.said.key(key)
	for _, s := range list.elements() {
		text := s.text()
		if text == "" {
			continue
		}
		b := o.block(d.entry.meant(key, text))
		switch {
		case b.said == d:
		case b.depends(d):
			b.said = d
			for _, to := range b.instances {
				d.after = append(d.after, lumigl.ReferenceTo(to.Vertex))
			}
		default:
			left = append(left, lumigl.TextOf(text))
			names = append(names, text)
		}
	}
	if len(left) == 0 {
		return
	}
	const few = 3
	shown := strings.Join(names[:min(few, len(names))], ", ")
	if len(names) > few {
		shown += ", …"
	}
	list.note(DependencyLoss, "kept in the extensions, where it has no effect: "+
		"the dependencies (%s) are not in the state, have too many instances, or would create a cycle", shown)
	d.extensions.set(key, lumigl.ListOf(left...))
}

// depends reports whether d can depend on all instances of the block without creating a cycle or exceeding mostSearched
// dependencies.
func (b *block) depends(d *draft) bool {
	cannot := func(to *draft) bool { return to == d || !d.may(to) }
	return 0 < len(b.instances) && len(d.after)+len(b.instances) <= mostSearched && !slices.ContainsFunc(b.instances, cannot)
}
