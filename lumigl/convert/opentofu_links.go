package convert

import (
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
)

// shortest is the length of the shortest id that is looked for in the properties of others. Words like "default" and
// small numbers are ids too, and stand in many places.
const shortest = 8

// dependencies are the lists of what an instance depends on. The second is of the first state in version 4, where it has
// addresses as they are seen from within the module.
var dependencies = [...]string{"dependencies", "depends_on"}

// meant is the address, in the configuration, of a dependency in one of the lists.
func (o *openTofu) meant(d *draft, list, text string) string {
	if module := o.module[d]; list == "depends_on" && module != "" {
		text = module + "." + text
	}
	return withoutKeys(text)
}

// withoutKeys is an address as it is in the configuration, where there are no instances: module.net["eu"].aws_subnet.this[0]
// becomes module.net.aws_subnet.this.
func withoutKeys(address string) string {
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

// connect makes references of the ids of other resources, and keeps what no reference says.
func (o *openTofu) connect() {
	o.byID, o.byVertex = map[string]*draft{}, map[*lumigl.Vertex]*draft{}
	for _, d := range o.drafts {
		o.byVertex[d.Vertex] = d
		if d.state != live {
			continue
		}
		if _, twice := o.byID[d.ID]; twice {
			o.byID[d.ID] = nil
			continue
		}
		o.byID[d.ID] = d
	}
	on := map[*draft]map[string]bool{}
	for _, d := range o.drafts {
		on[d] = map[string]bool{}
		for _, key := range dependencies {
			for _, v := range d.said.key(key).value.Elements() {
				text, _ := v.Text()
				address := o.meant(d, key, text)
				if at := o.places[address]; at != nil && !on[d][address] {
					d.place.before = append(d.place.before, at)
				}
				on[d][address] = true
			}
		}
	}
	o.rank()
	for _, d := range o.drafts {
		for i := range d.properties {
			o.link(d, &d.properties[i], func(text string) (*draft, string) {
				to := o.byID[text]
				if to == nil || len(text) < shortest || !on[d][o.address[to]] {
					return nil, ""
				}
				return to, ""
			})
		}
	}
	for _, d := range o.drafts {
		o.rest(d, on)
		d.extend(OpenTofu)
	}
}

// rest keeps the dependencies that no reference says, neither the resource's nor one of those that it refers to: lists
// of dependencies have all that is needed, also at second hand.
func (o *openTofu) rest(d *draft, on map[*draft]map[string]bool) {
	said := map[string]bool{}
	for i, to := range d.targets() {
		direct := o.byVertex[to]
		said[o.address[direct]] = true
		if i >= mostSearched {
			continue
		}
		for address := range on[direct] {
			said[address] = true
		}
	}
	for _, key := range dependencies {
		o.restOf(d, key, said)
	}
}

// restOf keeps those of one list that nothing says.
func (o *openTofu) restOf(d *draft, key string, said map[string]bool) {
	var left []lumigl.Value
	var names []string
	list := d.said.key(key)
	for _, s := range list.elements() {
		if text := s.text(); text != "" && !said[o.meant(d, key, text)] {
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
	list.note(DependencyLoss, "kept in the extensions, where nothing acts on it: no property refers to %s", shown)
	d.extensions.set(key, lumigl.ListOf(left...))
}
