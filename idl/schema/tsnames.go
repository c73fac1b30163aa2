package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The model defines the names in generated TypeScript, as for Go. Internal names of generated files contain a dollar
// sign, which is invalid in IDL names.

// TSArgsName returns the name of the interface for a resource's arguments.
func TSArgsName(r *Resource) string { return r.Name + "Args" }

// TSConfigure is the name of the function that configures a package's provider.
const TSConfigure = "configure"

// TSNames returns all names declared for d in the generated file, starting with its own. The file exports all of them,
// and so does the folder's barrel if d is exported.
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

// TSModuleName returns the export name of a folder in the parent folder's barrel. It replaces characters invalid in
// identifiers with underscores, and prepends an underscore to names invalid in exports.
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
