// Package tokens implements type tokens: the names of resource types across packages and languages.
//
// A token has the form "package:module:Type", such as "aws:ec2:SecurityGroup" or "corp/net:index:Firewall". The module may
// include a file, as in "aws:ec2/securityGroup:SecurityGroup". Two tokens refer to the same type only if they are equal.
package tokens

import (
	"fmt"
	"strings"
	"unicode"
)

// Type is the token of a resource type. Values returned by [Parse] and [Format] are valid.
type Type string

// Parse returns s as a token, or a *[SyntaxError] if it is invalid.
func Parse(s string) (Type, error) {
	if err := refuse(s, typeProblem(s)); err != nil {
		return "", err
	}
	return Type(s), nil
}

// Format returns the token with the given parts, or a *[SyntaxError] if one of them is invalid.
func Format(pkg, module, name string) (Type, error) { return Parse(pkg + ":" + module + ":" + name) }

// Package returns the part before the first colon, such as "aws".
func (t Type) Package() string { return t.part(0) }

// Module returns the part between the colons: the module's path, which may include a file. The module at the root of a
// package is "index".
func (t Type) Module() string { return t.part(1) }

// Name returns the part after the last colon, such as "SecurityGroup".
func (t Type) Name() string { return t.part(2) }

func (t Type) part(i int) string {
	parts, ok := split(string(t))
	if !ok {
		return ""
	}
	return parts[i]
}

// split splits a token at its colons and reports whether it has three parts.
func split(s string) (parts [3]string, ok bool) {
	var rest string
	parts[0], rest, _ = strings.Cut(s, ":")
	parts[1], parts[2], ok = strings.Cut(rest, ":")
	return parts, ok && !strings.Contains(parts[2], ":")
}

// CheckPackage returns a *[SyntaxError] unless s is a valid package name: words joined by "/", each of which starts with a
// letter and consists of lowercase letters, digits, "-", and "_".
func CheckPackage(s string) error { return refuse(s, packageProblem(s)) }

// CheckModule returns a *[SyntaxError] unless s is a valid module in a token.
func CheckModule(s string) error { return refuse(s, moduleProblem(s)) }

// refuse returns a *[SyntaxError], or nil if problem is empty.
func refuse(s, problem string) error {
	if problem == "" {
		return nil
	}
	return &SyntaxError{Token: s, Problem: problem}
}

// SyntaxError reports an invalid token, package, or module.
type SyntaxError struct {
	// Token is the invalid string.
	Token string
	// Problem describes the mistake.
	Problem string
}

// Error returns the quoted token and the problem.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%q: %s", e.Token, e.Problem) }

func typeProblem(s string) string {
	parts, ok := split(s)
	if !ok {
		return "a type token must have three parts, package:module:Type"
	}
	if problem := packageProblem(parts[0]); problem != "" {
		return problem
	}
	if problem := moduleProblem(parts[1]); problem != "" {
		return problem
	}
	if !isIdentifier(parts[2]) {
		return "the type name is not an identifier"
	}
	return ""
}

func packageProblem(s string) string {
	for word := range strings.SplitSeq(s, "/") {
		if word == "" || word[0] < 'a' || word[0] > 'z' {
			return "a package name must be words that start with a lowercase letter, joined by /"
		}
		if strings.ContainsFunc(word, notInPackage) {
			return "a package name may contain only lowercase letters, digits, -, _ and /"
		}
	}
	return ""
}

func notInPackage(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

func moduleProblem(s string) string {
	for word := range strings.SplitSeq(s, "/") {
		if word == "" || word == "." || word == ".." {
			return "a module must be folder names joined by /"
		}
		if strings.ContainsFunc(word, notInModule) {
			return "a module must not contain colons, spaces or control characters"
		}
	}
	return ""
}

func notInModule(r rune) bool {
	if '!' <= r && r <= '~' { // fast path, since URNs are parsed often
		return r == ':' || r == '\\'
	}
	return r == ' ' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
}

// isIdentifier reports whether s is an identifier. It avoids linking package go/token into every provider.
func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
