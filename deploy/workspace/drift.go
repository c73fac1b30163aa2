package workspace

import (
	"regexp"

	"go.yaml.in/yaml/v4"
)

// driftForm is the form of a type followed by a path. The names of types contain no dots.
var driftForm = form{
	pattern: regexp.MustCompile(`^` + packageWords + `:[^:/\\\s\p{Z}\p{C}]+(?:/[^:/\\\s\p{Z}\p{C}]+)*:[\p{L}_][\p{L}\p{Nd}_]*\.[^.\[\p{C}]\P{C}*$`),
	help:    "must be a type and the path of a property, such as aws:ec2:Instance.tags.scanner",
}

// drift returns the ignored properties.
func (r *reader) drift(p property) (ignored []string) {
	if !r.is(p, "an object", exampleOf(p.name)) {
		return nil
	}
	r.entries(p.path, p.value, func(name string, key, value *yaml.Node) {
		if name == "ignore" {
			ignored = r.list(property{join(p.path, name), name, key, value}, "[TYPE.PATH]", "property", driftForm)
		} else {
			r.add(key, "unknown key %s; the only valid key is ignore", quote(name))
		}
	})
	return ignored
}
