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

// addressProperty is the name in metadata of a resource's address.
const addressProperty = "tofuAddress"

// typeOf returns the type that tofu has for a type: that of opentofu.yaml, or one by convention, such as random_pet for
// random:index:Pet and aws_s3_bucket for aws:s3:Bucket.
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
		return "", fmt.Errorf("type %s has no counterpart in OpenTofu by its name: write it into %s, as types: {%q: TYPE}", t, settingsFile, t)
	}
	return name, nil
}

// snake returns a name such as dbSubnetID as tofu writes it, db_subnet_id.
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

// camel returns a name such as db_subnet_id as programs write it, dbSubnetId. An underscore before a digit stays, since snake
// would not find it again.
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

// identifier returns a name with an underscore for each character that an identifier in tofu cannot have.
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

// addresses returns the addresses of the resources in a change, by their keys: old ones, and new ones. A resource keeps the
// address that its metadata has. Its successor takes it over, so that tofu changes it in place, unless both are there.
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

// assign gives each resource the name that the first of some functions knows for it, or one after its URN. Of several that
// would have the same address, the one that an earlier function knows has it, and others the number of their version as well.
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

// recordedName returns the name in the address that a resource's metadata has, or "".
func recordedName(r *provisioner.Resource) string {
	address, _ := r.Metadata[addressProperty].(string)
	return address[strings.IndexByte(address, '.')+1:]
}

// byKey returns resources in an order that does not depend on what they refer to.
func byKey(resources []*provisioner.Resource) []*provisioner.Resource {
	return slices.SortedFunc(slices.Values(resources), func(a, b *provisioner.Resource) int { return strings.Compare(a.Key, b.Key) })
}
