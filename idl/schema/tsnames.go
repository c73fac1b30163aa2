package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The model defines the names in generated TypeScript, as it does for Go. Internal names of generated files contain a
// dollar sign, which IDL names cannot.

// TSArgsName returns the name of the interface for a resource's arguments.
func TSArgsName(r *Resource) string { return r.Name + "Args" }

// TSConfigure is the name of the function that configures a package's provider.
const TSConfigure = "configure"

// TSNames returns every name that the generated file declares for d, starting with its own. The file exports all of
// them, and so does the folder's barrel if d is exported.
func TSNames(d Decl) []string {
	name := d.Head().Name
	switch d := d.(type) {
	case *Resource:
		return []string{name, TSArgsName(d)}
	case *Config:
		return []string{name, TSConfigure}
	}
	return []string{name}
}

// TSModuleName returns the name under which the parent folder's barrel exports a folder. It replaces characters that
// are invalid in identifiers by underscores, and adds a leading underscore to names that are invalid in exports.
func TSModuleName(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, folder)
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsDigit(first) || notTSModules[name] {
		return "_" + name
	}
	return name
}

// notTSModules lists names that cannot follow "export * as". Most are reserved only in strict mode; "default" would
// make the folder the default export. Other reserved words are allowed there.
var notTSModules = map[string]bool{
	"await": true, "default": true, "implements": true, "interface": true, "let": true, "package": true,
	"private": true, "protected": true, "public": true, "static": true, "yield": true,
}
