package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// addressProperty is the metadata key of a resource's address.
const addressProperty = "tofuAddress"

// typeOf returns the OpenTofu type for a resource type: the type configured in opentofu.yaml, or else a type derived by
// convention, such as random_pet for random:index:Pet and aws_s3_bucket for aws:s3:Bucket. It returns an error if the
// derived type is invalid.
func (s *settings) typeOf(t tokens.Type) (string, error) {
	if set, ok := s.Types[string(t)]; ok {
		return set, nil
	}
	words := t.Package()
	if t.Module() != "index" {
		words += "/" + t.Module()
	}
	parts := strings.FieldsFunc(words+"/"+t.Name(), func(r rune) bool { return r == '/' || r == '-' })
	for i, part := range parts {
		parts[i] = snake(part)
	}
	name := strings.Join(parts, "_")
	if name != identifier(name) {
		return "", fmt.Errorf("cannot derive an OpenTofu type from %s: add it to %s, as types: {%q: TYPE}", t, settingsFile, t)
	}
	return name, nil
}

// snake converts a name such as dbSubnetID to snake case, as in db_subnet_id.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// camel converts a name such as db_subnet_id to camel case, as in dbSubnetId. It keeps underscores before digits, which
// snake could not restore.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts[1:] {
		if part != "" && unicode.IsLower(rune(part[0])) {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		} else {
			parts[i+1] = "_" + part
		}
	}
	return strings.Join(parts, "")
}

// identifier replaces characters that are invalid in OpenTofu identifiers with underscores.
func identifier(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if name == "" || !unicode.IsLetter(rune(name[0])) && name[0] != '_' {
		return "_" + name
	}
	return name
}

// addresses returns the addresses of the old and the new resources, by key. A resource keeps the address in its metadata. A
// new version inherits the address of the old one, so that OpenTofu updates the resource in place, unless the old one is
// kept as well.
func (s *settings) addresses(c *provisioner.Change) (old, new map[string]string, err error) {
	old, err = s.assign(c.Old, recordedName)
	if err != nil {
		return nil, nil, err
	}
	names, left := map[string]string{}, map[urn.URN]string{}
	for _, r := range c.Old {
		_, name, _ := strings.Cut(old[r.Key], ".")
		names[r.Key] = name
		if !slices.ContainsFunc(c.New, func(n *provisioner.Resource) bool { return n.Key == r.Key }) {
			left[r.URN] = name
		}
	}
	new, err = s.assign(c.New, func(r *provisioner.Resource) string { return names[r.Key] }, recordedName,
		func(r *provisioner.Resource) string { return left[r.URN] })
	return old, new, err
}

// assign returns an address for each resource, by key. The name is the result of the first function in known that does not
// return "", or else is derived from the URN. If addresses collide, names from earlier functions take precedence, and the
// version number is appended to the other names.
func (s *settings) assign(all []*provisioner.Resource, known ...func(*provisioner.Resource) string) (map[string]string, error) {
	known = append(known, func(r *provisioner.Resource) string { return identifier(r.URN.Name()) })
	addresses, taken := map[string]string{}, map[string]bool{}
	for _, name := range known {
		for _, r := range byKey(all) {
			t, err := s.typeOf(r.Type)
			if err != nil {
				return nil, err
			}
			address := t + "." + name(r)
			if addresses[r.Key] != "" || name(r) == "" {
				continue
			}
			for taken[address] {
				address += "_" + r.Key[strings.LastIndexByte(r.Key, ':')+1:]
			}
			addresses[r.Key], taken[address] = address, true
		}
	}
	return addresses, nil
}

// recordedName returns the name in the address in a resource's metadata, or "" if there is none.
func recordedName(r *provisioner.Resource) string {
	address, _ := r.Metadata[addressProperty].(string)
	return address[strings.IndexByte(address, '.')+1:]
}

// byKey returns the resources sorted by key.
func byKey(resources []*provisioner.Resource) []*provisioner.Resource {
	return slices.SortedFunc(slices.Values(resources), func(a, b *provisioner.Resource) int { return strings.Compare(a.Key, b.Key) })
}
