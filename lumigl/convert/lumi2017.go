package convert

import (
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// lumi2017 reads the environment files that Lumi wrote in 2017: a snapshot, by itself or within what was noted about the
// environment.
type lumi2017 struct {
	*assembly
	tag string
}

func (l *lumi2017) read(top *source) error {
	record := top
	for _, key := range []string{"checkpoint", "latest"} {
		if s := record.key(key); s.value.Kind() == lumigl.Object {
			record = s
		}
	}
	resources := record.key("resources")
	if vertices := record.key("vertices"); vertices.exists() {
		if resources.exists() {
			return refuse(`there are both "resources" and "vertices"; which of them is the snapshot?`)
		}
		resources = vertices
	}
	if resources.value.Kind() != lumigl.Object {
		return refuse(`there is no object "resources" or "vertices" with the resources by their URNs`)
	}
	environment := l.header(top, record)
	for key, s := range resources.members() {
		if !s.is(lumigl.Object) {
			continue
		}
		d, err := l.draft(key, s, environment)
		if err != nil {
			return err
		}
		l.declare(d)
	}
	return l.build(l.fill, l.connect)
}

// header reads what stands beside the resources. It returns the name of the environment, if there is one.
func (l *lumi2017) header(top, record *source) string {
	name := ""
	for _, key := range []string{"environment", "env"} {
		if s := top.key(key); s.exists() && name == "" {
			name = s.text()
			l.kept.set("environment", lumigl.TextOf(name))
		}
	}
	l.kept.keep(top, "config")
	l.tag = lumigl.DefaultTag
	for _, key := range []string{"reftag", "ref"} {
		if tag := record.key(key).text(); tag != "" {
			l.tag = tag
		}
	}
	l.kept.keep(record, "time", "config")
	s := l.snapshot
	s.Package = record.key("package").text()
	if l.options.Package != "" {
		s.Package = l.options.Package
	}
	if args := record.key("args"); args.is(lumigl.Object) {
		s.Args = args.take()
	}
	s.Lineage = record.key("lineage").text()
	if serial := record.key("serial"); serial.is(lumigl.Number) {
		s.Serial = whole(serial)
	}
	l.peers(top, record)
	return name
}

// peers keeps what else stands beside the resources, which may be anything.
func (l *lumi2017) peers(top, record *source) {
	for key, s := range record.members() {
		switch key {
		case "checkpoint", "latest", "environment", "env", "config", "reftag", "ref", "time", "package", "args", "lineage",
			"serial", "resources", "vertices", "pending", string(Lumi2017):
			continue
		}
		if record == top {
			l.snapshot.Fields = append(l.snapshot.Fields, lumigl.Member{Key: key, Value: s.take()})
		} else {
			l.kept.set(key, s.take())
		}
	}
}

// draft reads what a resource is. Its URN stands before it; if that is not one, as much as can be is made of it, but for
// its type.
func (l *lumi2017) draft(key string, s *source, environment string) (*draft, error) {
	d := &draft{key: key, said: s, named: s}
	parts, err := urn.URN(key).Parts()
	said := s.key("type")
	t := said.text()
	if err != nil {
		if t == "" {
			return nil, refuse(`%q has no "type", and its key is no URN, which would say it; every resource of 2017 has a type, `+
				"so this is no environment file", key)
		}
		parts = urn.Parts{
			Environment: environmentName(environment), Module: "index", Name: key,
			Package: packageName(strings.TrimSuffix(l.snapshot.Package, "#*"), "main"),
		}
		if i := strings.LastIndex(key, "::"); i >= 0 && i+2 < len(key) {
			parts.Name = key[i+2:]
		}
		s.note(NameLoss, "the key is no URN, so that one is made of the environment, the package, the type and %q",
			resourceName(parts.Name))
	}
	if t == "" {
		t = string(parts.Type)
	}
	made, changed := token(t)
	switch {
	case changed:
		s.note(TypeLoss, "the type is %q: %q is no type token", made, t)
	case parts.Type != "" && parts.Type != made:
		said.note(TypeLoss, "the URN says %q, and now what stands here too", parts.Type)
	}
	if changed {
		d.extensions.set("type", lumigl.TextOf(t))
	}
	parts.Type = made
	parts.Environment = l.environment(parts.Environment, s)
	parts.Package = l.packageOf(parts.Package, s)
	d.parts, d.qualified = parts, parts.Name
	return d, nil
}

// fill reads a resource's id and properties.
func (l *lumi2017) fill(d *draft) {
	d.ID = d.said.key("id").text()
	slots := map[string]slot{}
	// What was computed counts more than what was given, and that more than what stood in for it.
	for _, key := range []string{"defaults", "inputs", "properties", "outputs"} {
		for name, s := range d.said.key(key).members() {
			d.put(s, name, l.value(s, d), key, slots)
		}
	}
	d.keepGiven()
	if own := d.said.key("extensions"); own.is(lumigl.Object) {
		d.Extensions = own.take()
	}
}

// value reads a value with its references.
func (l *lumi2017) value(s *source, d *draft) lumigl.Value {
	if !has(s.value, func(v lumigl.Value) bool { return v.Get(l.tag).Exists() }) {
		return s.take()
	}
	return s.walk(func(s *source) (lumigl.Value, bool) {
		if s.value.Get(l.tag).Kind() != lumigl.Text {
			return lumigl.Value{}, false
		}
		return l.reference(s, d), true
	})
}

func (l *lumi2017) reference(s *source, d *draft) lumigl.Value {
	tag := s.key(l.tag)
	key := tag.text()
	name := s.key("property").text()
	to := l.find(key, d)
	if to == nil {
		tag.note(DanglingLoss, "%s: no resource has it", keptAs(name))
		return lumigl.TextOf(key)
	}
	l.references = append(l.references, explicit{d, to, tag, name})
	return lumigl.PropertyOf(to.Vertex, name)
}

// connect sees to it that nothing goes in circles, and makes references of the URNs in strings where that may be.
func (l *lumi2017) connect() {
	l.placeReferences()
	for _, d := range l.drafts {
		for _, p := range d.properties {
			has(p.Value, func(v lumigl.Value) bool {
				if to := l.resourceOf(v); to != nil && !l.options.KeepValues {
					d.place.before = append(d.place.before, to.place)
				}
				return false
			})
		}
	}
	l.rank()
	l.cut()
	for _, d := range l.drafts {
		for i := range d.properties {
			l.link(d, &d.properties[i].Value, func(text string) (*draft, string) { return l.resourceOf(lumigl.TextOf(text)), "" })
		}
	}
}

// resourceOf is the resource whose URN a string is.
func (l *lumi2017) resourceOf(v lumigl.Value) *draft {
	text, ok := v.Text()
	if !ok || !strings.HasPrefix(text, "urn:") {
		return nil
	}
	return l.live[text]
}
