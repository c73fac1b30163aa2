package typescript

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/idl/schema"
)

// described returns documentation followed by a deprecation tag, if deprecated is not empty.
func described(doc, deprecated string) string { return withDeprecation(untagged(doc), deprecated) }

func withDeprecation(doc, deprecated string) string {
	if deprecated == "" {
		return doc
	}
	return strings.TrimSpace(doc + "\n\n@deprecated " + untagged(deprecated))
}

// untagged escapes JSDoc tags in documentation from the IDL. "@internal" is written as an HTML entity because, with
// --stripInternal, TypeScript recognizes it anywhere in a comment, even after a backslash.
func untagged(text string) string {
	if !strings.Contains(text, "@") { // the common case
		return text
	}
	return tag.ReplaceAllString(strings.ReplaceAll(text, "@internal", "&#64;internal"), `$1\@`)
}

// tag matches the start of a JSDoc tag, which may also be in the middle of a line or in braces.
var tag = regexp.MustCompile(`(^|[\s{])@`)

// describedProperty returns the documentation of a property, including its default and deprecation.
func describedProperty(p *schema.Property) string {
	doc := untagged(schema.PropertyDoc(p))
	if p.Default != nil && !p.Secret {
		doc += "\n\n@default " + untagged(literal(p.Default))
	}
	return strings.TrimSpace(withDeprecation(doc, p.Deprecated))
}

// literal formats a boolean, number, or string as a TypeScript literal.
func literal(value any) string {
	switch value := value.(type) {
	case string:
		return quote(value)
	case []any:
		var list []string
		for _, element := range value {
			list = append(list, literal(element))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	text, _ := json.Marshal(value) // numbers in the model are finite
	return string(text)
}

// annotate writes the parts of a property's shape other than its type and flags.
func (f *file) annotate(p *schema.Property, relations []schema.Relation) {
	for _, r := range relations {
		if r.Properties[0] != p {
			continue
		}
		f.needs(constrainedGeneration)
		var names []string
		for _, other := range r.Properties[1:] {
			names = append(names, other.Name)
		}
		f.put(", lumi.", r.Rule, "(", quoteAll(names), ")")
	}
	if len(p.Was) > 0 {
		f.needs(constrainedGeneration)
		f.put(", lumi.was(", quoteAll(p.Was), ")")
	}
	if p.Default != nil {
		f.needs(constrainedGeneration)
		f.put(", { default: ", literal(p.Default), " }")
	}
	if p.Deprecated != "" && !p.Out {
		f.needs(constrainedGeneration)
		f.put(", lumi.deprecated(", quote(p.Deprecated), ")")
	}
}

// quoteAll returns a comma-separated list of string literals.
func quoteAll(list []string) string {
	var literals []string
	for _, s := range list {
		literals = append(literals, quote(s))
	}
	return strings.Join(literals, ", ")
}

// renamed writes the call that declares the former tokens of a resource, if it has any.
func (f *file) renamed(r *schema.Resource) {
	if len(r.Was) > 0 {
		f.needs(constrainedGeneration)
		f.put("\nlumi.formerly(", shapeName(&r.Header), ", ", quoteAll(r.Was), ");\n")
	}
}

// deprecated writes the call that makes the runtime warn about uses of table, if is is set. Text is a TypeScript
// expression.
func (f *file) deprecated(table, text string, is bool) {
	if is {
		f.usesLumi, f.loadsLumi = true, true
		f.needs(constrainedGeneration)
		f.put("\nlumi.deprecate(", table, ", ", text, ");\n")
	}
}

// deprecatedValues writes the call that makes the runtime warn about deprecated values of an enum, if there are any.
func (f *file) deprecatedValues(e *schema.Enum) {
	var entries []string
	for _, m := range e.Members {
		if text := e.ValueDeprecated(m); text != "" {
			entries = append(entries, indent+"["+quote(m.Value)+"]: "+quote(text)+",\n")
		}
	}
	f.deprecated(e.Name, "{\n"+strings.Join(entries, "")+"}", len(entries) > 0)
}
