package convert

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// pulumi reads the output of all versions of 'pulumi stack export' and Pulumi's own stack files. Stack files have
// "checkpoint" in place of "deployment"; files from 2017 have no version and consist of the later "checkpoint".
type pulumi struct {
	*assembly
	// lists counts the dependency lists processed so far.
	lists int
	// operations maps drafts to their pending operations.
	operations map[*draft]lumigl.OperationKind
}

// newest is the newest supported version of the export format.
const newest = 4

func (p *pulumi) read(top *source) error {
	version := top.key("version")
	if version.exists() && version.value.Kind() != lumigl.Number {
		return refuse("invalid version %s; expected a number from 1 to %d", shown(version.value), newest)
	}
	if n, _ := version.value.Int(); version.exists() && (n < 1 || n > newest) {
		return refuse("unsupported version %s of Pulumi's export format; versions 1 to %d are supported", shown(version.value), newest)
	}
	deployment := top.key("deployment")
	stack := top.key("checkpoint")
	if !stack.exists() && top.key("latest").exists() {
		stack = top
	}
	if stack.exists() {
		deployment = stack.key("latest")
		p.kept.keep(stack, "stack", "target")
		p.config(stack.key("config"))
	}
	switch {
	case deployment.value.Kind() == lumigl.Object:
		version.settle()
		p.kept.keep(top, "version", "features")
	case top.key("manifest").exists() && top.key("resources").exists():
		deployment = top
	default:
		return refuse(`missing object "deployment"; has the stack ever been deployed?`)
	}
	p.kept.keep(deployment, "manifest", "time", "info", "metadata", "snippets", "extensions")
	p.providers(deployment.key("secrets_providers"))
	p.operations = map[*draft]lumigl.OperationKind{}
	for _, s := range deployment.key("resources").elements() {
		if d := p.draft(s); d != nil {
			d.state = live
			if s.key("delete").flag() {
				d.state = deleted
			}
			p.declare(d)
		}
	}
	for _, s := range deployment.key("pending_operations").elements() {
		p.operation(s)
	}
	p.aliases()
	if err := p.build(p.fill, p.connect); err != nil {
		return err
	}
	for _, d := range p.drafts {
		if kind, ok := p.operations[d]; ok {
			p.snapshot.Pending.Operations = append(p.snapshot.Pending.Operations, lumigl.Operation{Kind: kind, Resource: d.Vertex})
		}
	}
	return nil
}

// providers keeps the type of the secrets provider and reports its state, which is only used for decryption.
func (p *pulumi) providers(s *source) {
	if !s.is(lumigl.Object) {
		return
	}
	var kept bag
	kept.keep(s, "type")
	p.kept.set("secrets_providers", kept.object())
	if state := s.key("state"); state.exists() {
		state.lose(EncryptionLoss, "dropped: secrets are not encrypted in a snapshot")
	}
}

// config keeps the stack configuration, in which secrets are encrypted.
func (p *pulumi) config(s *source) {
	if !s.exists() {
		s.take()
		return
	}
	p.kept.set("config", s.walk(func(s *source) (lumigl.Value, bool) {
		if s.value.Len() != 1 || s.value.Get("secure").Kind() != lumigl.Text {
			return lumigl.Value{}, false
		}
		s.key("secure").lose(CiphertextLoss,
			"replaced with a secret without a value, because it is encrypted; 'pulumi config --show-secrets' decrypts it")
		return secret(lumigl.NullValue()), true
	}))
}

// aliases registers resources under their former URNs, which other resources may still depend on.
func (p *pulumi) aliases() {
	for _, d := range p.drafts {
		for _, v := range d.said.key("aliases").value.Elements() {
			if text, ok := v.Text(); ok && d.state == live && p.live[text] == nil {
				p.live[text] = d
			}
		}
	}
}

func (p *pulumi) operation(s *source) {
	if !s.is(lumigl.Object) {
		return
	}
	kinds := map[string]lumigl.OperationKind{
		"creating": lumigl.CreateOperation, "updating": lumigl.UpdateOperation, "deleting": lumigl.DeleteOperation,
	}
	kind := s.key("type")
	ours := kinds[kind.text()]
	if ours == "" {
		s.lose(OperationLoss, "dropped: only create, update and delete operations are supported; this one has changed nothing yet")
		return
	}
	if d := p.draft(s.key("resource")); d != nil {
		d.state = begun
		p.operations[d] = ours
		p.declare(d)
	}
}

// draft reads the identity of a resource. It returns nil if the resource is malformed.
func (p *pulumi) draft(s *source) *draft {
	if !s.is(lumigl.Object) {
		return nil
	}
	named := s.key("urn")
	key := named.text()
	stack, project, chain, name, ok := splitPulumi(key)
	if !ok {
		s.lose(ShapeLoss, "dropped: the resource has no URN of the form urn:pulumi:stack::project::type::name")
		return nil
	}
	qualifiedType := chain
	parents := ""
	if i := strings.LastIndexByte(chain, '$'); i >= 0 {
		parents, qualifiedType = chain[:i], chain[i+1:]
	}
	d := &draft{key: key, said: s, named: named, qualified: name}
	d.extensions.list = make([]lumigl.Member, 0, 8) // most have more than four
	if parents != "" {
		d.qualified = parents + "$" + name
	}
	said := s.key("type")
	t := said.text()
	if t == "" {
		t = qualifiedType
	}
	made, changed := token(t)
	if changed {
		d.mistyped = true
		d.extensions.set("type", lumigl.TextOf(t))
	}
	d.parts = urn.Parts{
		Environment: p.environment(stack, named), Package: p.packageOf(project, named), Module: "index", Type: made, Name: name,
	}
	if p.snapshot.Package == "" {
		p.snapshot.Package = d.parts.Package
	}
	d.extensions.set("urn", lumigl.TextOf(key))
	return d
}

// splitPulumi splits a Pulumi URN. ok is false if s is not a Pulumi URN.
func splitPulumi(s string) (stack, project, chain, name string, ok bool) {
	rest, ok := strings.CutPrefix(s, "urn:pulumi:")
	parts := strings.SplitN(rest, "::", 4)
	if !ok || len(parts) < 4 {
		return "", "", "", "", false
	}
	return parts[0], parts[1], parts[2], parts[3], true
}

// inert lists resource keys that affect only Pulumi, with the effect of losing them.
var inert = []struct{ key, why string }{
	{"external", "the resource was only read; Lumi would manage it"},
	{"taint", "the taint no longer causes a replacement"},
	{"pendingReplacement", "the pending replacement is forgotten"},
	{"deletedWith", "the resource would be deleted on its own"},
	{"replaceWith", "the resource is no longer replaced together with others"},
	{"replacementTrigger", "a change of this value no longer causes a replacement"},
	{"initErrors", "the failed initialization is forgotten"},
	{"refreshBeforeUpdate", "the resource is not refreshed before updates"},
	{"viewOf", "the resource is a view of another; Lumi would manage it"},
	{"resourceHooks", "hooks are no longer called"},
}

// quiet lists resource keys that only record where a resource comes from.
var quiet = []string{
	"parent", "children", "provider", "aliases", "created", "modified", "sourcePosition", "stackTrace", "importID", "hideDiff",
	"additionalSecretOutputs", "extensionRef", "snippetID",
}

// fill reads the rest of a resource except its dependencies.
func (p *pulumi) fill(d *draft) {
	s := d.said
	d.ID = s.key("id").text()
	custom := s.key("custom")
	if managed := custom.flag(); !managed || strings.HasPrefix(string(d.Type), "pulumi:") {
		d.extensions.set("custom", lumigl.BoolOf(managed))
		s.note(UnmanagedLoss, "kept as a resource without a provider: it is a component, or internal to Pulumi")
	}
	if s.key("delete").flag() && d.state == begun {
		d.extensions.set("delete", lumigl.BoolOf(true))
	}
	p.optionsOf(d)
	for _, i := range inert {
		part := s.key(i.key)
		if !part.exists() {
			part.take()
			continue
		}
		d.extensions.set(i.key, plain(p.value(part, d)))
		if part.nonzero() {
			part.note(InertLoss, "kept in the extensions, where it has no effect: %s", i.why)
		}
	}
	d.extensions.keep(s, quiet...)
	d.typed()
	p.merge(d)
}

// optionsOf converts resource settings to options. Malformed settings stay in the extensions.
func (p *pulumi) optionsOf(d *draft) {
	for _, o := range []struct {
		key, option string
		read        func(lumigl.Value) (lumigl.Value, bool)
	}{
		{"protect", "protect", flag}, {"retainOnDelete", "retainOnDelete", flag},
		{"ignoreChanges", "ignoreChanges", paths}, {"replaceOnChanges", "replaceOnChanges", paths},
		{"customTimeouts", "timeouts", timeouts},
	} {
		part := d.said.key(o.key)
		option, ok := o.read(part.value)
		switch {
		case !part.nonzero():
			part.take()
		case ok:
			part.take()
			d.Options = d.Options.With(o.option, option)
		default:
			d.extensions.set(o.key, plain(p.value(part, d)))
			part.note(InertLoss, "kept in the extensions, where it has no effect: invalid value for option %q", o.option)
		}
	}
}

func flag(v lumigl.Value) (lumigl.Value, bool) { return v, v.Kind() == lumigl.Bool }

func paths(v lumigl.Value) (lumigl.Value, bool) {
	for _, e := range v.Elements() {
		if path, _ := e.Text(); lumigl.CheckPath(path) != nil {
			return v, false
		}
	}
	return v, v.Kind() == lumigl.List
}

// timeouts converts timeouts in seconds to durations, rounding up. It returns false if a timeout is invalid.
func timeouts(v lumigl.Value) (lumigl.Value, bool) {
	var all bag
	for key, e := range v.Members() {
		seconds, ok := e.Float()
		if !ok || seconds < 0 || seconds > maxTimeout || key != "create" && key != "update" && key != "delete" {
			return v, false
		}
		if seconds > 0 {
			text := (time.Duration(math.Ceil(seconds)) * time.Second).String()
			for _, zero := range []string{"m0s", "h0m"} {
				if strings.HasSuffix(text, zero) {
					text = text[:len(text)-2]
				}
			}
			all.set(key, lumigl.TextOf(text))
		}
	}
	return all.object(), v.Kind() == lumigl.Object
}

// maxTimeout is the longest convertible timeout, in seconds: one year.
const maxTimeout = 365 * 24 * 60 * 60

// typed reports a changed type. A pending resource takes its URN and therefore its type from the live resource.
func (d *draft) typed() {
	said := d.said.key("type")
	switch {
	case d.Type != d.parts.Type && said.text() != "":
		said.note(TypeLoss, "using type %q of another resource with this URN; this type is kept in the extensions", d.Type)
		if !d.mistyped {
			d.extensions.set("type", said.take())
		}
	case d.mistyped:
		said.or(d.named).note(TypeLoss, "converted to %q: it is not a valid type token", d.Type)
	}
}

// merge combines inputs and outputs into properties. Outputs take precedence over inputs, and inputs over placeholders.
func (p *pulumi) merge(d *draft) {
	hidden := map[string]bool{}
	for _, v := range d.said.key("additionalSecretOutputs").value.Elements() {
		name, _ := v.Text()
		hidden[name] = true
	}
	var notes bag
	slots := map[string]slot{}
	d.properties = make([]lumigl.Member, 0, max(d.said.key("inputs").value.Len(), d.said.key("outputs").value.Len()))
	for _, part := range []string{"defaults", "inputs", "outputs"} {
		for name, s := range d.said.key(part).members() {
			v := p.value(s, d)
			if hidden[name] {
				v = secret(v)
			}
			if strings.HasPrefix(name, "__") {
				notes.set(part+"."+name, plain(v)) // Pulumi's own annotations
			} else {
				d.put(s, name, v, part, slots)
			}
		}
	}
	d.properties = slices.DeleteFunc(d.properties, func(p lumigl.Member) bool {
		text, _ := p.Value.Text()
		return p.Key == "id" && text != "" && text == d.ID // redundant
	})
	d.keepGiven()
	d.extensions.set("notes", notes.object())
}

// hiddenAs returns v with all parts that are secret in other marked as secrets. Where the shapes differ, the whole part
// is marked if its counterpart contains a secret.
func hiddenAs(v, other lumigl.Value) lumigl.Value {
	inObjects := v.Kind() == lumigl.Object && other.Kind() == lumigl.Object && !isSpecial(v) && !isSpecial(other)
	inLists := v.Kind() == lumigl.List && other.Kind() == lumigl.List && v.Len() == other.Len()
	switch {
	case v.IsSecret() || !has(other, lumigl.Value.IsSecret):
		return v
	case !inObjects && !inLists:
		return secret(open(v))
	}
	members := maps.Collect(other.Members())
	return v.Map(func(i int, key string, part lumigl.Value) (lumigl.Value, bool) {
		if inObjects {
			return hiddenAs(part, members[key]), true
		}
		return hiddenAs(part, other.At(i)), true
	})
}

// shown formats a value for messages: the literal of a number, or else the name of its kind.
func shown(v lumigl.Value) string {
	if literal, ok := v.Literal(); ok {
		return literal
	}
	return v.Kind().String()
}
