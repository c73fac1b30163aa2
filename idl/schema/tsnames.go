package schema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names used in generated TypeScript are part of the model for the same reason as Go names. Internal names in
// generated files contain a dollar sign, which is invalid in IDL names.

// TSPackageName returns the name of a package's npm package. By default, it has at most two parts: "corp/aws" becomes
// "@corp/aws", and "corp/aws/ec2" becomes "@corp/aws-ec2".
func TSPackageName(p *Package) string {
	scope, rest, scoped := strings.Cut(p.Name, "/")
	switch {
	case p.NPM != "":
		return p.NPM
	case scoped:
		return "@" + scope + "/" + strings.ReplaceAll(rest, "/", "-")
	}
	return p.Name
}

// TSArgsName returns the name of the interface for the arguments of a resource.
func TSArgsName(r *Resource) string { return r.Name + "Args" }

// TSConfigure is the name of the function that configures a package's provider.
const TSConfigure = "configure"

// TSFunctionName returns the name of the function that calls f.
func TSFunctionName(f *Function) string { return PropertyName(f.Name) }

// TSNames returns all names declared for d in its generated file, starting with its own name if the file
// declares it. The file exports all of them. So does the folder's barrel if d is exported.
func TSNames(d Decl) []string {
	name := d.Head().Name
	switch d := d.(type) {
	case *Resource:
		return []string{name, TSArgsName(d)}
	case *Config:
		return []string{name, TSConfigure}
	case *Function:
		return []string{TSFunctionName(d), name + "Args", name + "Result"}
	}
	return []string{name}
}

// TSModuleName returns the name under which the parent folder's barrel exports a folder. It replaces characters that
// are invalid in identifiers with underscores, and prepends an underscore to names that are invalid in exports.
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

// notTSModules is the set of names that cannot follow "export * as". Most are reserved only in strict mode; "default"
// would make the folder the default export. Other reserved words are allowed.
var notTSModules = map[string]bool{
	"await": true, "default": true, "implements": true, "interface": true, "let": true, "package": true,
	"private": true, "protected": true, "public": true, "static": true, "yield": true,
}

// TSQuote returns s as a TypeScript string literal.
func TSQuote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case invisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// invisible reports whether r would end the line or be invisible in a literal: control characters, line and paragraph
// separators, direction marks, and the byte order mark. All of these fit in 16 bits.
func invisible(r rune) bool {
	return r < ' ' || 0x7f <= r && r <= 0x9f || 0x200b <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2066 <= r && r <= 0x2069 || r == 0xfeff
}
