package convert

import (
	"slices"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// openTofu reads version 4 of the OpenTofu and Terraform state format, which all releases since 2019 use.
type openTofu struct {
	*assembly
	// tokens caches type tokens by provider, module, and type.
	tokens map[[3]string]madeToken
	// blocks maps configuration addresses, such as module.a.aws_vpc.b, to resource blocks.
	blocks map[string]*block
	// byID maps ids to instances. The value is nil if several instances have the same id.
	byID map[string]*draft
}

// block is a resource block of the configuration, with all its instances.
type block struct {
	place
	// instances lists the live instances.
	instances []*draft
	// on is the last instance found to depend on the block. said is the last instance with references that cover this
	// dependency.
	on, said *draft
}

// block returns the block with the given configuration address. It creates the block if necessary.
func (o *openTofu) block(address string) *block {
	b := o.blocks[address]
	if b == nil {
		b = &block{}
		o.blocks[address] = b
	}
	return b
}

type madeToken struct {
	token   tokens.Type
	changed bool
}

// token returns the token of a type, using the cache.
func (o *openTofu) token(provider, module, kind string) madeToken {
	key := [3]string{provider, module, kind}
	made, ok := o.tokens[key]
	if !ok {
		made.token, made.changed = tofuToken(providerType(provider, kind), module, kind)
		o.tokens[key] = made
	}
	return made
}

// entry holds the data shared by the instances of a resource in the state.
type entry struct {
	*block
	module, kind string
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
	o.blocks, o.tokens = map[string]*block{}, map[[3]string]madeToken{}
	for _, s := range top.key("resources").elements() {
		if s.is(lumigl.Object) {
			o.resource(s)
		}
	}
	return o.build(o.fill, o.connect)
}

// readable returns an error if top is not a version 4 state. The error explains how to get one.
func (o *openTofu) readable(top *source) error {
	if top.value.Kind() != lumigl.Object {
		return refuse("expected an object, got %s", top.value.Kind())
	}
	if top.key("encrypted_data").exists() {
		return refuse("the state is encrypted; run 'tofu state pull' in its configuration directory to decrypt it")
	}
	version := top.key("version")
	switch n, ok := version.value.Int(); {
	case top.key("format_version").exists():
		return refuse("this is the output of 'tofu show -json', not a state; use 'tofu state pull'")
	case top.key("backend").exists() && !top.key("resources").exists():
		return refuse("this is a backend configuration, not a state; run 'tofu state pull' in the configuration directory " +
			"to get the state from the backend")
	case !version.exists():
		return refuse(`missing "version"`)
	case !ok:
		return refuse("invalid state version %s; expected 4", shown(version.value))
	case 1 <= n && n <= 3:
		return refuse("unsupported state version %d, from before 2019; run 'tofu state pull' in the "+
			"configuration directory to upgrade it to version 4", n)
	case n != 4:
		return refuse("unsupported state version %s; only version 4 is supported", shown(version.value))
	}
	return nil
}

// outputs keeps the outputs of the root module.
func (o *openTofu) outputs(s *source) {
	var kept bag
	for name, output := range s.members() {
		if !output.is(lumigl.Object) {
			continue
		}
		var one bag
		value, sensitive := output.key("value"), output.key("sensitive")
		mistaken(value)
		v, typ := value.take(), output.key("type").take()
		// Any other value is assumed to mean true.
		if sensitive.flag() || sensitive.exists() && sensitive.value.Kind() != lumigl.Bool {
			one.set("sensitive", lumigl.BoolOf(true))
			v = secret(v)
			if typ.Exists() { // the type contains the keys of objects in the value
				typ = secret(typ)
			}
		}
		one.set("value", v)
		one.set("type", typ)
		one.keep(output, "deprecated")
		kept.set(name, one.object())
	}
	o.kept.set("outputs", kept.object())
}

// resource declares the instances of a resource.
func (o *openTofu) resource(s *source) {
	mode, module, kind, name := s.key("mode").text(), s.key("module").text(), s.key("type").text(), s.key("name").text()
	provider := s.key("provider").text()
	if kind == "" || name == "" {
		s.lose(ShapeLoss, `dropped: a resource needs "mode", "type" and "name"`)
		return
	}
	address := kind + "." + name
	tokenModule := "index"
	switch mode {
	case "managed", "":
	case "data":
		address, tokenModule = "data."+address, "data"
		s.note(UnmanagedLoss, "kept as a resource, although it is a data source; a deployment would manage it")
	default:
		s.lose(ShapeLoss, `dropped: the mode must be "managed" or "data"`)
		return
	}
	if module != "" {
		address = module + "." + address
	}
	each := s.key("each").text()
	s.calls(address)
	common := &entry{block: o.block(withoutKeys(address)), module: module, kind: kind}
	some, renamed := false, false
	for _, instance := range s.key("instances").elements() {
		if !instance.is(lumigl.Object) {
			continue
		}
		d := &draft{said: instance, named: instance, place: &common.place, entry: common}
		d.extensions.list = make([]lumigl.Member, 0, 4) // the usual number
		from := provider
		if own := instance.key("provider").text(); own != "" {
			from = own
		}
		t := o.token(from, tokenModule, kind)
		if t.changed && !renamed {
			renamed = true
			s.key("type").note(TypeLoss, "converted to %q: it is not a valid type token", t.token)
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
		d.parts = urn.Parts{Environment: "default", Package: o.snapshot.Package, Module: "index", Type: t.token, Name: full}
		o.declare(d)
		some = true
	}
	if !some {
		s.lose(EmptyLoss, "dropped: the resource has no instances")
	}
}

// textOr returns a string, or the absent value if s is empty.
func textOr(s string) lumigl.Value {
	if s == "" {
		return lumigl.Value{}
	}
	return lumigl.TextOf(s)
}

// instanceKey returns the bracketed key of an instance, such as [0] or ["eu"], or "" if it has none.
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
		key.lose(ShapeLoss, "dropped: the key of an instance must be a number or a string")
	}
	return ""
}

func (o *openTofu) fill(d *draft) {
	s := d.said
	attributes := s.key("attributes")
	if flat := s.key("attributes_flat"); flat.nonzero() && !attributes.exists() {
		flat.note(FlatLoss, "kept in flat form: lists and maps are spread over many keys, and all values are strings; "+
			"'tofu apply -refresh-only' restores their structure")
		attributes = flat
	} else {
		flat.takeIfZero()
	}
	mistaken(attributes)
	hidden := o.sensitive(s.key("sensitive_attributes"), attributes)
	hidden.copied(d.entry.kind, attributes.value)
	hidden.guess(attributes, d.entry.kind)
	if !attributes.is(lumigl.Object) {
		attributes = &s.book.none
	}
	all := attributes.take() // Attributes are arbitrary, so there are no unknown keys.
	d.properties = slices.Grow(d.properties, all.Len())
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
		d.properties = append(d.properties, lumigl.Member{Key: name, Value: v})
	}
	d.extensions.keep(s, "schema_version", "identity", "identity_schema_version")
	if private := s.key("private"); private.exists() {
		d.extensions.set("private", secret(private.take())) // Only the provider knows the content.
	}
	d.extensions.keep(s, "status", "create_before_destroy") // Lumi creates every replacement first.
	if status := s.key("status"); status.nonzero() && d.state == live {
		status.note(InertLoss, "kept in the extensions, where it has no effect: the taint no longer causes a replacement")
	}
	if s.key("skip_destroy").flag() {
		d.Options = d.Options.With("retainOnDelete", lumigl.BoolOf(true))
	}
}

// takeIfZero accounts for the value if it carries no information.
func (s *source) takeIfZero() {
	if !s.nonzero() {
		s.take()
	}
}
