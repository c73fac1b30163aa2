package schema

import (
	"strings"
	"unicode"
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
// without its path: that name, with an underscore for whatever cannot stand in an identifier.
func TSModuleName(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, folder)
	if name == "default" || unicode.IsDigit([]rune(name)[0]) {
		// "export * as default" would make the folder the default export.
		return "_" + name
	}
	return name
}
