package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Version is the version of the JSON format of [Write] and [Read]. It increases if a member changes its meaning or is
// removed, but not if one is added, so other readers should ignore unknown members.
const Version = 1

// These types add to the JSON tags of the model. The documentation of [Write] describes the format.
type (
	packageJSON struct {
		Version int `json:"version"`
		Package
		Modules []moduleJSON `json:"modules"`
	}
	moduleJSON struct {
		Module
		Files []fileJSON `json:"files"`
	}
	fileJSON struct {
		File
		// Decls contains encoded [Decl] values, whose types depend on their kinds.
		Decls []json.RawMessage `json:"decls"`
	}
	typeJSON struct {
		Kind string `json:"kind"`
		// Elem is set for lists and maps, Key for maps.
		Key  *typeJSON `json:"key,omitempty"`
		Elem *typeJSON `json:"elem,omitempty"`
		// Module and Name are set for references. Module is a pointer to distinguish the root's empty path from none.
		Module *string `json:"module,omitempty"`
		Name   string  `json:"name,omitempty"`
	}
)

// constants maps the types of a [Const] to zero values.
var constants = map[string]any{"bool": false, "string": "", "int64": int64(0), "uint64": uint64(0), "float64": 0.0}

// Write writes the model as indented JSON in model order. Output is deterministic. The error is the writer's, or
// reports a constant of an unsupported type (see [Const]).
//
// The JSON mirrors the model. False, empty, and unknown members are omitted, except for identifying ones (names, paths,
// and kinds).
//
//	package:   {"version": 1, "name": "aws", "modules": [module…]}
//	module:    {"path": "ec2", "goName": "ec2", "files": [file…]}
//	file:      {"name": "vpc.go", "doc": "…", "decls": [declaration…]}
//
// A declaration has a kind, and members that depend on it:
//
//	           {"kind": "resource", "name", "doc", "pos", "token", "was", "named", "properties": [property…]}
//	           {"kind": "struct",   "name", "doc", "pos", "properties": [property…]}
//	           {"kind": "config",   "name", "doc", "pos", "properties": [property…]}
//	           {"kind": "union",    "name", "doc", "pos", "variants": [property…]}
//	           {"kind": "enum",     "name", "doc", "pos", "members": [{"name", "value", "doc", "deprecated", "pos"}…]}
//	           {"kind": "alias",    "name", "doc", "pos", "target": type, "constraints"}
//	           {"kind": "const",    "name", "doc", "pos", "type": "bool|string|int64|uint64|float64", "value": …}
//
//	property:  {"field", "name", "type": type, "pointer", "optional", "out", "in", "replaces", "secret", "constraints",
//	            "default", "conflictsWith", "requiredWith", "exactlyOneOf", "was", "deprecated",
//	            "doc", "pos"}
//
// Declarations of all kinds may have "deprecated", which names the replacement.
//
//	constraints: {"min": 1, "max": 65535} and so on, as [Constraints] has them
//	position:  {"line": 3, "column": 6}
//
// A type has a kind as well:
//
//	{"kind": "bool"}, and so on for each [Primitive]
//	{"kind": "list", "elem": type}
//	{"kind": "map", "key": type, "elem": type}
//	{"kind": "ref", "module": "ec2", "name": "VPC"}
func Write(w io.Writer, p *Package) error {
	form := packageJSON{Version: Version, Package: *p, Modules: []moduleJSON{}}
	for _, m := range p.Modules {
		module := moduleJSON{Module: *m, Files: []fileJSON{}}
		for _, f := range m.Files {
			file := fileJSON{File: *f, Decls: []json.RawMessage{}}
			for _, d := range f.Decls {
				if c, ok := d.(*Const); ok && constants[c.Type] == nil {
					return fmt.Errorf("schema: %s: %s: a constant cannot be a %s", f.Path(), c.Name, c.Type)
				}
				raw, err := marshal(d)
				if err != nil {
					return fmt.Errorf("schema: %s: %s: %w", f.Path(), d.Head().Name, err)
				}
				file.Decls = append(file.Decls, raw)
			}
			module.Files = append(module.Files, file)
		}
		form.Modules = append(form.Modules, module)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(form)
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// typeForm returns the JSON form of a type, or nil for none.
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
		return &typeJSON{Kind: "ref", Module: &h.File.Module.Path, Name: h.Name}
	}
	return nil
}

// MarshalJSON is part of [Write].
func (t Primitive) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }

// MarshalJSON is part of [Write].
func (t *List) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }

// MarshalJSON is part of [Write].
func (t *Map) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }

// MarshalJSON is part of [Write].
func (t *Ref) MarshalJSON() ([]byte, error) { return marshal(typeForm(t)) }
