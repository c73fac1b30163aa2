// Package tokens holds type tokens: the names by which resource types are known across packages and languages.
//
// A token is "package:module:Type", such as "aws:ec2:SecurityGroup" or "corp/net:index:Firewall". Some writers put the
// file into the module as well ("aws:ec2/securityGroup:SecurityGroup"). Both forms have one grammar, and two tokens
// name one type only if they are equal: nothing here translates between the forms.
package tokens

import (
	"fmt"
	"strings"
	"unicode"
)

// Type is the token of a resource type. A value that did not come from [Parse] or from generated code may be anything.
type Type string

// Parse checks that s is a token and returns it. The error, a *[SyntaxError], says what is wrong.
func Parse(s string) (Type, error) {
	if err := refuse(s, typeProblem(s)); err != nil {
		return "", err
	}
	return Type(s), nil
}

// Format makes a token of its parts. It returns a *[SyntaxError] if they do not make one.
func Format(pkg, module, name string) (Type, error) { return Parse(pkg + ":" + module + ":" + name) }

// Package is the part before the first colon, such as "aws".
func (t Type) Package() string { return t.part(0) }

// Module is the part between the colons: the module's path, "index" at the root of the package, in the longer form
// with the file behind it.
func (t Type) Module() string { return t.part(1) }

// Name is the type's own name, the part after the last colon.
func (t Type) Name() string { return t.part(2) }

func (t Type) part(i int) string {
	parts, ok := split(string(t))
	if !ok {
		return ""
	}
	return parts[i]
}

// split takes a token apart and reports whether it has as many parts as it should.
func split(s string) (parts [3]string, ok bool) {
	var rest string
	parts[0], rest, _ = strings.Cut(s, ":")
	parts[1], parts[2], ok = strings.Cut(rest, ":")
	return parts, ok && !strings.Contains(parts[2], ":")
}

// CheckPackage returns nil if s is the name of a package: words of lower-case letters, digits, "-" and "_" that start
// with a letter, joined by "/". Otherwise it returns a *[SyntaxError].
func CheckPackage(s string) error { return refuse(s, packageProblem(s)) }

// CheckModule returns nil if s is a module's path as it stands in tokens, and otherwise a *[SyntaxError].
func CheckModule(s string) error { return refuse(s, moduleProblem(s)) }

// refuse returns a *[SyntaxError] unless problem is empty.
func refuse(s, problem string) error {
	if problem == "" {
		return nil
	}
	return &SyntaxError{Token: s, Problem: problem}
}

// SyntaxError says why a string is not the token, package or module that it should be.
type SyntaxError struct {
	// Token is the string as it was found.
	Token string
	// Problem is what is wrong with it.
	Problem string
}

// Error returns the string and the problem.
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
	if '!' <= r && r <= '~' { // since URNs are taken apart all the time
		return r == ':' || r == '\\'
	}
	return r == ' ' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
}

// isIdentifier is go/token.IsIdentifier without its package, which every provider would link.
func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
