package tfserve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// idName is the attribute of every resource that holds its id. With typeName, it is also an attribute of references to resources
// of several types. hashName is the attribute for the hash of an asset or archive, which the provider computes.
const (
	idName   = "id"
	typeName = "type"
	hashName = "hash"
)

// The names that OpenTofu and Terraform reserve at the top of a resource or provider block. OpenTofu reserves "locals" for blocks
// only, so an attribute may have that name.
var (
	resourceNames = []string{"connection", "count", "depends_on", "for_each", idName, "lifecycle", "provider", "provisioner"}
	providerNames = []string{"alias", "count", "depends_on", "for_each", "lifecycle", "source", "version"}
)

// snake converts a Go name to snake case. A run of capitals is a word, except for the last one before a lower-case letter: VPCID
// becomes vpcid, and IPProtocol becomes ip_protocol. The s of a plural and the v of a version belong to the run: VPCIDs becomes
// vpcids, and IPv6CIDR becomes ipv6_cidr.
func snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && runes[i-1] != '_' && (!unicode.IsUpper(runes[i-1]) || startsWord(runes[i+1:])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// startsWord reports whether a capital after another one starts a word, given what follows it.
func startsWord(rest []rune) bool {
	if len(rest) == 0 || !unicode.IsLower(rest[0]) {
		return false
	}
	plural := rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1]))
	version := rest[0] == 'v' && len(rest) > 1 && unicode.IsDigit(rest[1])
	return !plural && !version
}

// names are the names of resource types in OpenTofu.
type names struct {
	tokens map[string]tokens.Type
	of     map[tokens.Type]string
}

// typeNames returns the names of resource types, or an error that lists all collisions. They start with local, the provider's local
// name.
func typeNames(local string, all []string) (*names, error) {
	n := &names{make(map[string]tokens.Type, len(all)), make(map[tokens.Type]string, len(all))}
	var problems []error
	for _, token := range all {
		t := tokens.Type(token)
		name := local + "_"
		if t.Module() != "index" {
			name += strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(strings.ToLower(t.Module())) + "_"
		}
		name += snake(t.Name())
		if other, taken := n.tokens[name]; taken {
			problems = append(problems, fmt.Errorf("%s and %s would both be %s in OpenTofu", other, token, name))
			continue
		}
		n.tokens[name], n.of[t] = t, name
	}
	return n, errors.Join(problems...)
}

// attributeNames returns the names in OpenTofu of a declaration's properties, or an error that lists all collisions. Reserved
// names get the suffix "_".
func attributeNames(d schema.Decl, reserved []string) ([]string, error) {
	properties := schema.Properties(d)
	names := make([]string, len(properties))
	fields := map[string]string{}
	var problems []error
	for i, p := range properties {
		names[i] = snake(p.Field)
		if slices.Contains(reserved, names[i]) {
			names[i] += "_"
		}
		if other, taken := fields[names[i]]; taken {
			problems = append(problems, fmt.Errorf("%s: %s and %s would both be %s in OpenTofu", d.Head().Name, other, p.Field, names[i]))
		}
		fields[names[i]] = p.Field
	}
	return names, errors.Join(problems...)
}

// list returns the sorted names.
func (n *names) list() []string { return slices.Sorted(maps.Keys(n.tokens)) }

// name returns the name of the type with a token. For a type of another package, it is the token.
func (n *names) name(token string) string { return cmp.Or(n.of[tokens.Type(token)], token) }
