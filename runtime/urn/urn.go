// Package urn holds the names of resources.
//
// A URN is "urn:lumi:environment::package:module::type::name", such as
// "urn:lumi:prod::my/cluster:index::aws:ec2:VPC::cloud-vpc": the environment that the resource stands in, the package
// and module whose program made it, its type's token, and its own name. It identifies the resource for as long as it
// lives, also before a provider has given it an id.
package urn

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// URN is the name of one resource. The empty URN names none. A value that did not come from [Parse] or [Format] may be
// anything.
type URN string

const (
	prefix    = "urn:lumi:"
	separator = "::"
)

// Parts are the parts of a URN.
type Parts struct {
	// Environment is what the resource was deployed to, such as "prod".
	Environment string
	// Package is the package whose program made the resource, such as "my/cluster".
	Package string
	// Module is the program's module, "index" for the main one.
	Module string
	// Type is the token of the resource's type.
	Type tokens.Type
	// Name is the resource's name when it was first planned.
	Name string
}

// Parse checks that s is a URN and returns it. The error, a *[SyntaxError], says what is wrong.
func Parse(s string) (URN, error) {
	if _, err := split(s); err != nil {
		return "", err
	}
	return URN(s), nil
}

// Format makes a URN of its parts. It returns a *[SyntaxError] if they do not make one.
func Format(p Parts) (URN, error) {
	s := prefix + p.Environment + separator + p.Package + ":" + p.Module + separator + string(p.Type) + separator + p.Name
	parsed, err := split(s)
	if err != nil {
		return "", err
	}
	if parsed != p {
		return "", &SyntaxError{URN: s, Problem: "a part contains a separator"}
	}
	return URN(s), nil
}

// Parts takes the URN apart. It returns a *[SyntaxError] if u is not a URN.
func (u URN) Parts() (Parts, error) { return split(string(u)) }

// Type is the token of the resource's type, and empty if u is not a URN.
func (u URN) Type() tokens.Type {
	p, _ := u.Parts() // They are zero if u is not a URN.
	return p.Type
}

// Name is the resource's name, and empty if u is not a URN.
func (u URN) Name() string {
	p, _ := u.Parts() // They are zero if u is not a URN.
	return p.Name
}

// SyntaxError says why a string is not the URN, or the name in one, that it should be.
type SyntaxError struct {
	// URN is the string as it was found.
	URN string
	// Problem is what is wrong with it.
	Problem string
}

// Error returns the string and the problem.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%q: %s", e.URN, e.Problem) }

// split is where the grammar is. The name comes last so that it may hold separators.
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
		return "the environment must be a word without colons and spaces"
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

// CheckName returns nil if s can be the last part of a URN: text that is not empty and has no control characters.
// Otherwise it returns a *[SyntaxError].
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
	if '!' <= r && r <= '~' { // since URNs are taken apart all the time
		return r == ':'
	}
	return r == ' ' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
}
