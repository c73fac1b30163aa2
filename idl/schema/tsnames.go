package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names that generated TypeScript declares are part of the model for the same reason as those of generated Go.
// Names that the generator makes up for use inside of one file contain a dollar sign, as no name of the IDL can.

// TSArgsName is the name of the interface of a resource's arguments.
func TSArgsName(r *Resource) string { return r.Name + "Args" }

// TSConfigure is the name of the function that sets the configuration of a package's provider.
const TSConfigure = "configure"

// TSNames returns every name that the generated file of d declares for it, the declaration's own among them. All of
// them are exported from the file. The folder's barrel exports them too if d is exported.
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

// TSModuleName is the name under which the barrel of the folder above exports a folder, given the folder's own name
// without its path: that name, with an underscore for whatever cannot stand in an identifier, and one before what
// cannot be the name of such an export.
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

// notTSModules cannot follow "export * as". Most are reserved in strict code only, and "default" would make the folder
// the default export. Other reserved words are allowed there.
var notTSModules = map[string]bool{
	"await": true, "default": true, "implements": true, "interface": true, "let": true, "package": true,
	"private": true, "protected": true, "public": true, "static": true, "yield": true,
}
