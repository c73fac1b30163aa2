package convert

import (
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// openTofu reads the state of OpenTofu and Terraform in version 4, which all of their versions have written since 2019.
type openTofu struct {
	*assembly
	kept bag
	// places are those of resources, with all of their instances, by their addresses.
	places map[string]*place
	// address is that of each instance's resource.
	address map[*draft]string
	// byID are the instances with an id that no other has. The others are nil.
	byID     map[string]*draft
	byVertex map[*lumigl.Vertex]*draft
}

func (o *openTofu) read(top *source) error {
	if err := o.readable(top); err != nil {
		return err
	}
	top.key("version").take()
	o.kept.keep(top, "terraform_version", "check_results")
	o.snapshot.Lineage = top.key("lineage").text()
	if serial := top.key("serial"); serial.is(lumigl.Number) {
		o.snapshot.Serial = whole(serial)
	}
	o.outputs(top.key("outputs"))
	o.snapshot.Package = o.options.Package
	if o.snapshot.Package == "" {
		o.snapshot.Package = "main"
	}
	o.places, o.address = map[string]*place{}, map[*draft]string{}
	for _, s := range top.key("resources").elements() {
		if s.is(lumigl.Object) {
			o.resource(s)
		}
	}
	if err := o.name(); err != nil {
		return err
	}
	for _, d := range o.drafts {
		o.fill(d)
	}
	o.connect()
	o.finish()
	o.keepField(OpenTofu, o.kept)
	return nil
}

// readable refuses what is no state of version 4, and says how to get one.
func (o *openTofu) readable(top *source) error {
	if top.value.Kind() != lumigl.Object {
		return refuse("the state is %s; it has to be an object", top.value.Kind())
	}
	if top.key("encrypted_data").exists() {
		return refuse("the state is encrypted; 'tofu state pull' in the folder of its configuration prints it decrypted")
	}
	version := top.key("version")
	switch n, ok := version.value.Int(); {
	case !ok:
		return refuse(`the state has no "version"`)
	case 1 <= n && n <= 3:
		return refuse("the state has version %d, which was written before 2019; 'tofu state pull' in the folder of its "+
			"configuration prints it in version 4", n)
	case n != 4:
		return refuse("the state has version %s; version 4 is understood", shown(version.value))
	}
	return nil
}

// outputs keeps the values of the root module.
func (o *openTofu) outputs(s *source) {
	var kept bag
	for name, output := range s.members() {
		if !output.is(lumigl.Object) {
			continue
		}
		var one bag
		value := output.key("value")
		mistaken(value)
		v := value.take()
		if output.key("sensitive").flag() {
			one.set("sensitive", lumigl.BoolOf(true))
			v = secret(v)
		}
		one.set("value", v)
		one.keep(output, "type", "deprecated")
		kept.set(name, one.object())
	}
	o.kept.set("outputs", kept.object())
}

// resource declares the instances of a resource.
func (o *openTofu) resource(s *source) {
	mode, module, kind, name := s.key("mode").text(), s.key("module").text(), s.key("type").text(), s.key("name").text()
	provider := s.key("provider").text()
	if kind == "" || name == "" {
		s.lose(ShapeLoss, `left out: a resource has "mode", "type" and "name"`)
		return
	}
	address := kind + "." + name
	tokenModule := "index"
	switch mode {
	case "managed", "":
	case "data":
		address, tokenModule = "data."+address, "data"
		s.note(UnmanagedLoss, "kept as a resource, but it was only read; a deployment would manage it")
	default:
		s.lose(ShapeLoss, `left out: the mode is "managed" or "data", and this is another`)
		return
	}
	if module != "" {
		address = module + "." + address
	}
	each := s.key("each").text()
	at := o.places[address]
	if at == nil {
		at = &place{}
		o.places[address] = at
	}
	some, renamed := false, false
	for _, instance := range s.key("instances").elements() {
		if !instance.is(lumigl.Object) {
			continue
		}
		d := &draft{said: instance, named: instance, place: at}
		from := provider
		if own := instance.key("provider").text(); own != "" {
			from = own
		}
		t, changed := tofuToken(providerType(from, kind), tokenModule, kind)
		if changed && !renamed {
			renamed = true
			s.key("type").note(TypeLoss, "the type is %q: as it is, it is no type token", t)
		}
		d.extensions.set("provider", textOr(from))
		d.extensions.set("type", textOr(kind))
		d.extensions.set("each", textOr(each))
		full := address + o.instanceKey(instance)
		if deposed := instance.key("deposed").text(); deposed != "" {
			d.state = deleted
			d.extensions.set("deposed", lumigl.TextOf(deposed))
		}
		d.key, d.qualified = full, full
		d.parts = urn.Parts{Environment: "default", Package: o.snapshot.Package, Module: "index", Type: t, Name: full}
		o.address[d] = address
		o.declare(d)
		some = true
	}
	if !some {
		s.lose(EmptyLoss, "left out: the resource has no instances")
	}
}

// textOr is a text, or nothing if it is empty.
func textOr(s string) lumigl.Value {
	if s == "" {
		return lumigl.Value{}
	}
	return lumigl.TextOf(s)
}

// instanceKey is what stands in brackets behind the name of a resource with many instances.
func (o *openTofu) instanceKey(s *source) string {
	key := s.key("index_key")
	switch key.value.Kind() {
	case lumigl.Number:
		key.take()
		literal, _ := key.value.Literal()
		return "[" + literal + "]"
	case lumigl.Text:
		return "[" + quoted(key.text()) + "]"
	}
	if key.exists() {
		key.lose(ShapeLoss, "left out: the key of an instance is a number or a string")
	}
	return ""
}

// fill reads an instance.
func (o *openTofu) fill(d *draft) {
	s := d.said
	attributes := s.key("attributes")
	if flat := s.key("attributes_flat"); flat.says() && !attributes.exists() {
		flat.note(FlatLoss, "kept as it is: lists and maps are spread over many keys, and all values are strings; "+
			"'tofu apply -refresh-only' writes them as they should be")
		attributes = flat
	} else {
		flat.takeIfSilent()
	}
	mistaken(attributes)
	hidden := o.sensitive(s.key("sensitive_attributes"), attributes)
	if !attributes.is(lumigl.Object) {
		attributes = &source{}
	}
	all := attributes.take() // Anything may be in there, so that there is nothing to keep account of.
	for name, v := range all.Members() {
		if own := hidden.parts[name]; hidden.all {
			v = secret(v)
		} else if own != nil {
			v = own.hide(v)
		}
		if text, ok := v.Text(); ok && name == "id" && text != "" {
			d.ID = text
			continue
		}
		d.properties = append(d.properties, property{name: name, value: v})
	}
	d.extensions.keep(s, "schema_version", "identity", "identity_schema_version")
	if private := s.key("private"); private.exists() {
		d.extensions.set("private", secret(private.take())) // Nobody but the provider knows what is in there.
	}
	for _, i := range tofuInert {
		part := s.key(i.key)
		if v := part.take(); part.says() {
			d.extensions.set(i.key, v)
			part.note(InertLoss, "kept in the extensions, where nothing acts on it: %s", i.why)
		}
	}
}

// takeIfSilent accounts for a value that says nothing.
func (s *source) takeIfSilent() {
	if !s.says() {
		s.take()
	}
}

// tofuInert are the keys of an instance that tell OpenTofu to do something, and nobody else.
var tofuInert = []struct{ key, why string }{
	{"status", "nothing replaces the resource any more because it is tainted"},
	{"create_before_destroy", "in which order a resource is replaced is for the provider to say"},
	{"skip_destroy", "a deletion would delete the resource now"},
}

// shortest is the length of the shortest id that is looked for in the properties of others. Words like "default" and
// small numbers are ids too, and stand in many places.
const shortest = 8

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
		for _, v := range d.said.key("dependencies").value.Elements() {
			address, _ := v.Text()
			if at := o.places[address]; at != nil && !on[d][address] {
				d.place.before = append(d.place.before, at)
			}
			on[d][address] = true
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
	var left []lumigl.Value
	list := d.said.key("dependencies")
	for _, s := range list.elements() {
		if address := s.text(); address != "" && !said[address] {
			left = append(left, lumigl.TextOf(address))
		}
	}
	if len(left) == 0 {
		return
	}
	var names []string
	for _, v := range left {
		text, _ := v.Text()
		names = append(names, text)
	}
	const few = 3
	shown := strings.Join(names[:min(few, len(names))], ", ")
	if len(names) > few {
		shown += ", …"
	}
	list.note(DependencyLoss, "kept in the extensions, where nothing acts on it: no property refers to %s", shown)
	d.extensions.set("dependencies", lumigl.ListOf(left...))
}
