package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// Version is the version of the JSON format used by [Write] and [Read]. It increases when a member is removed or
// changes its meaning, but not when one is added. Other readers should therefore ignore unknown members.
const Version = 1

// These types add members to the JSON tags of the model. See [Write] for the format.
type (
	packageJSON struct {
		Version int `json:"version"`
		foreignJSON
		Packages []foreignJSON `json:"packages,omitempty"`
	}
	foreignJSON struct {
		Package
		Modules []moduleJSON `json:"modules"`
	}
	moduleJSON struct {
		Module
		Files []fileJSON `json:"files"`
	}
	fileJSON struct {
		File
		// Decls contains encoded [Decl] values. Their types depend on their kinds.
		Decls []jsontext.Value `json:"decls"`
	}
	typeJSON struct {
		Kind string `json:"kind"`
		// Elem is set for lists and maps; Key is set for maps.
		Key  *typeJSON `json:"key,omitempty"`
		Elem *typeJSON `json:"elem,omitempty"`
		// Module and Name are set for references. Module is a pointer to distinguish the root's empty path from an
		// absent one.
		Module *string `json:"module,omitempty"`
		Name   string  `json:"name,omitempty"`
		// Package and Token are set for references to resources of other packages.
		Package string `json:"package,omitempty"`
		Token   string `json:"token,omitempty"`
	}
)

// constants maps each type of a [Const] to its zero value.
var constants = map[string]any{"bool": false, "string": "", "int64": int64(0), "uint64": uint64(0), "float64": 0.0}

// Write writes the model as indented JSON, in the order of the model. The output is deterministic. Write returns the
// error of w, or an error if a constant has an unsupported type (see [Const]).
//
// The JSON mirrors the model. Members that are false, empty, or unknown are omitted, except names, paths, and kinds.
//
//	package:   {"version": 1, "name": "aws", "npm": "@acme/aws", "modules": [module…], "packages": [other…]}
//	other:     {"name": "acme/net", "npm": "@acme/net", "versions": "^1.2.3", "modules": [module…]}
//	module:    {"path": "ec2", "goName": "ec2", "files": [file…]}
//	file:      {"name": "vpc.go", "doc": "…", "decls": [declaration…]}
//
// A declaration has a kind, and members that depend on it:
//
//	           {"kind": "resource", "name", "doc", "pos", "token", "was", "named", "nameScope",
//	            "properties": [property…], "rules": [rule…]}
//	           {"kind": "struct",   "name", "doc", "pos", "properties": [property…], "rules": [rule…]}
//	           {"kind": "config",   "name", "doc", "pos", "properties": [property…], "rules": [rule…]}
//	           {"kind": "union",    "name", "doc", "pos", "variants": [property…]}
//	           {"kind": "function", "name", "doc", "pos", "token", "properties": [property…], "rules": [rule…]}
//	           {"kind": "enum",     "name", "doc", "pos", "members": [{"name", "value", "doc", "deprecated", "pos"}…]}
//	           {"kind": "alias",    "name", "doc", "pos", "target": type, "constraints"}
//	           {"kind": "const",    "name", "doc", "pos", "type": "bool|string|int64|uint64|float64", "value": …}
//
//	property:  {"field", "name", "type": type, "pointer", "optional", "out", "fixed", "computed", "in", "replaces",
//	            "secret", "constraints", "default", "conflictsWith", "requiredWith", "exactlyOneOf", "was", "deprecated",
//	            "doc", "pos"}
//
// Declarations of all kinds may have "deprecated", which names the replacement.
//
// A type also has a kind:
//
//	{"kind": "bool"}, and so on for each [Primitive]
//	{"kind": "list", "elem": type}
//	{"kind": "map", "key": type, "elem": type}
//	{"kind": "ref", "module": "ec2", "name": "VPC"}
//	{"kind": "ref", "package": "acme/net", "token": "acme/net:core:VPC"}, which is in "packages"
func Write(w io.Writer, p *Package) error {
	form, err := formOf(p)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(form)
}

// In compact JSON, these match only outside strings, since a quote within a string follows a backslash.
var (
	positions = regexp.MustCompile(`,"pos":\{"line":\d+,"column":\d+\}`)
	elements  = regexp.MustCompile(`([[,])(\{"\w)`)
)

// Compact returns the model in the format of [Write] as compact JSON without positions. Each module, file, declaration,
// property, and other object in a list starts a line.
func Compact(p *Package) ([]byte, error) {
	form, err := formOf(p)
	if err != nil {
		return nil, err
	}
	data, err := marshal(form)
	return elements.ReplaceAll(positions.ReplaceAll(data, nil), []byte("$1\n$2")), err
}

// formOf returns the JSON form of a package.
func formOf(p *Package) (form packageJSON, err error) {
	form.Version = Version
	for _, other := range p.Packages {
		foreign, err := modulesOf(other)
		if err != nil {
			return form, err
		}
		form.Packages = append(form.Packages, foreign)
	}
	form.foreignJSON, err = modulesOf(p)
	return form, err
}

// modulesOf returns the JSON form of a package without the others that it refers to.
func modulesOf(p *Package) (foreignJSON, error) {
	form := foreignJSON{Package: *p, Modules: []moduleJSON{}}
	for _, m := range p.Modules {
		module := moduleJSON{Module: *m, Files: []fileJSON{}}
		for _, f := range m.Files {
			file := fileJSON{File: *f, Decls: []jsontext.Value{}}
			for _, d := range f.Decls {
				if c, ok := d.(*Const); ok && constants[c.Type] == nil {
					return form, fmt.Errorf("schema: %s: %s: a constant cannot be a %s", f.Path(), c.Name, c.Type)
				}
				raw, err := marshal(d)
				if err != nil {
					return form, fmt.Errorf("schema: %s: %s: %w", f.Path(), d.Head().Name, err)
				}
				file.Decls = append(file.Decls, jsontext.Value(raw))
			}
			module.Files = append(module.Files, file)
		}
		form.Modules = append(form.Modules, module)
	}
	return form, nil
}

// marshal is json.Marshal without HTML escaping.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// typeForm returns the JSON form of a type, or nil if t is nil.
func typeForm(t Type) *typeJSON {
	switch t := t.(type) {
	case Primitive:
		return &typeJSON{Kind: string(t)}
	case *List:
		return &typeJSON{Kind: "list", Elem: typeForm(t.Elem)}
	case *Map:
		return &typeJSON{Kind: "map", Key: typeForm(t.Key), Elem: typeForm(t.Elem)}
	case *Ref:
		h := t.Decl.Head()
		if r, ok := t.Decl.(*Resource); ok && h.Foreign() != nil {
			return &typeJSON{Kind: "ref", Package: h.Foreign().Name, Token: r.Token}
		}
		return &typeJSON{Kind: "ref", Module: &h.File.Module.Path, Name: h.Name}
	}
	return nil
}

// MarshalJSON implements [json.Marshaler] in the format of [Write].
func (t Primitive) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }

// MarshalJSON implements [json.Marshaler] in the format of [Write].
func (t *List) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }

// MarshalJSON implements [json.Marshaler] in the format of [Write].
func (t *Map) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }

// MarshalJSON implements [json.Marshaler] in the format of [Write].
func (t *Ref) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }
