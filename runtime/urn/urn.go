// Package urn implements URNs, the names of resources.
//
// A URN is "urn:lumi:environment::package:module::type::name", such as
// "urn:lumi:prod::my/cluster:index::aws:ec2:VPC::cloud-vpc": the resource's environment, the package and module of its
// program, the token of its type, and its own name. It identifies the resource for its whole life, even before a
// provider has given it an id.
//
// A provider that knows only the id of a resource refers to it by a URN from [ByID].
package urn

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// URN is the name of a resource, or empty for no resource. Values returned by [Parse] and [Format] are valid.
type URN string

const (
	prefix    = "urn:lumi:"
	separator = "::"
	// byID is the start of the URNs returned by [ByID], which no resource has.
	byID = prefix + "#id::lumi:index" + separator
)

// Parts are the parts of a URN.
type Parts struct {
	// Environment is the environment that the resource belongs to, such as "prod".
	Environment string
	// Package is the package of the program that created the resource, such as "my/cluster".
	Package string
	// Module is the program's module. The main module is "index".
	Module string
	// Type is the token of the resource's type.
	Type tokens.Type
	// Name is the resource's name when it was first planned.
	Name string
}

// Parse returns s as a URN, or a *[SyntaxError] if it is invalid.
func Parse(s string) (URN, error) {
	if _, err := split(s); err != nil {
		return "", err
	}
	return URN(s), nil
}

// Format returns the URN with the given parts, or a *[SyntaxError] if one of them is invalid.
func Format(p Parts) (URN, error) {
	s := prefix + p.Environment + separator + p.Package + ":" + p.Module + separator + string(p.Type) + separator + p.Name
	parsed, err := split(s)
	if err != nil {
		return "", err
	}
	if parsed != p {
		return "", &SyntaxError{URN: s, Problem: "a part contains a separator"}
	}
	if strings.HasPrefix(s, byID) {
		return "", &SyntaxError{URN: s, Problem: "it is reserved for references by id"}
	}
	return URN(s), nil
}

// ByID returns a reference to the resource with the given type and id, such as
// "urn:lumi:#id::lumi:index::aws:ec2:VPC::vpc-0abc", or "" if id is empty. Get may return it for a property that refers to a
// resource. The engine changes it to the resource's URN, or keeps it if it does not manage the resource.
func ByID(t tokens.Type, id string) URN {
	if id == "" {
		return ""
	}
	return URN(byID + string(t) + separator + id)
}

// ID returns the id in a URN returned by [ByID], and false for all other URNs.
func (u URN) ID() (id string, ok bool) {
	if !strings.HasPrefix(string(u), byID) {
		return "", false
	}
	id = u.Name()
	return id, id != ""
}

// Parts returns the parts of u, or a *[SyntaxError] if u is invalid.
func (u URN) Parts() (Parts, error) { return split(string(u)) }

// Type returns the token of the resource's type, or "" if u is invalid.
func (u URN) Type() tokens.Type {
	p, _ := u.Parts() // zero if u is not a valid URN
	return p.Type
}

// Name returns the resource's name, or "" if u is invalid.
func (u URN) Name() string {
	p, _ := u.Parts() // zero if u is not a valid URN
	return p.Name
}

// SyntaxError reports an invalid URN or name.
type SyntaxError struct {
	// URN is the invalid string.
	URN string
	// Problem describes the mistake.
	Problem string
}

// Error returns the quoted URN and the problem.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%q: %s", e.URN, e.Problem) }

// split parses a URN. The name may contain separators, since it is the last part.
func split(s string) (Parts, error) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return Parts{}, &SyntaxError{URN: s, Problem: "a URN must start with " + prefix}
	}
	var p Parts
	p.Environment, rest, _ = strings.Cut(rest, separator)
	origin, rest, _ := strings.Cut(rest, separator)
	token, name, ok := strings.Cut(rest, separator)
	if !ok {
		return Parts{}, &SyntaxError{
			URN: s, Problem: "a URN must have four parts after " + prefix + ", environment::package:module::type::name",
		}
	}
	p.Package, p.Module, _ = strings.Cut(origin, ":")
	p.Type, p.Name = tokens.Type(token), name
	if problem := p.problem(); problem != "" {
		return Parts{}, &SyntaxError{URN: s, Problem: problem}
	}
	return p, nil
}

func (p Parts) problem() string {
	if p.Environment == "" || strings.ContainsFunc(p.Environment, notInEnvironment) {
		return "the environment must be a word without colons or spaces"
	}
	if err := tokens.CheckPackage(p.Package); err != nil {
		return "package " + err.Error()
	}
	if err := tokens.CheckModule(p.Module); err != nil {
		return "module " + err.Error()
	}
	if _, err := tokens.Parse(string(p.Type)); err != nil {
		return "type " + err.Error()
	}
	return nameProblem(p.Name)
}

// CheckName returns a *[SyntaxError] if s is not a valid name in a URN because it is empty or contains control characters.
func CheckName(s string) error {
	if problem := nameProblem(s); problem != "" {
		return &SyntaxError{URN: s, Problem: problem}
	}
	return nil
}

func nameProblem(s string) string {
	if s == "" || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "the name is empty or contains control characters"
	}
	return ""
}

func notInEnvironment(r rune) bool {
	if '!' <= r && r <= '~' { // fast path, since URNs are parsed often
		return r == ':'
	}
	return r == ' ' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
}
