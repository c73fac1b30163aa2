package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Version is the version of the JSON form that [Write] writes and [Read] reads. It grows when the meaning of a member
// changes, or one goes away. Members may be added within a version, so other readers should skip what they do not know.
const Version = 1

// packageJSON is the JSON form, which the documentation of [Write] describes from top to bottom.
type packageJSON struct {
	Version int          `json:"version"`
	Name    string       `json:"name"`
	Modules []moduleJSON `json:"modules"`
}

type moduleJSON struct {
	Path   string     `json:"path"`
	GoName string     `json:"goName"`
	Files  []fileJSON `json:"files"`
}

type fileJSON struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Decls hold one of the structs below each. Which one is known only when the kind has been read.
	Decls []json.RawMessage `json:"decls"`
}

// headJSON is what declarations of every kind have.
type headJSON struct {
	Kind string  `json:"kind"`
	Name string  `json:"name"`
	Doc  string  `json:"doc,omitempty"`
	Pos  posJSON `json:"pos,omitzero"`
}

type resourceJSON struct {
	headJSON
	Token      string         `json:"token"`
	Named      bool           `json:"named,omitempty"`
	Properties []propertyJSON `json:"properties,omitempty"`
}

// structJSON is a struct or a configuration.
type structJSON struct {
	headJSON
	Properties []propertyJSON `json:"properties,omitempty"`
}

type enumJSON struct {
	headJSON
	Members []memberJSON `json:"members,omitempty"`
}

type aliasJSON struct {
	headJSON
	Target *typeJSON `json:"target"`
}

type constJSON struct {
	headJSON
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type memberJSON struct {
	Name  string  `json:"name"`
	Value string  `json:"value"`
	Doc   string  `json:"doc,omitempty"`
	Pos   posJSON `json:"pos,omitzero"`
}

type propertyJSON struct {
	Field    string    `json:"field"`
	Name     string    `json:"name"`
	Type     *typeJSON `json:"type"`
	Pointer  bool      `json:"pointer,omitempty"`
	Optional bool      `json:"optional,omitempty"`
	Out      bool      `json:"out,omitempty"`
	In       bool      `json:"in,omitempty"`
	Replaces bool      `json:"replaces,omitempty"`
	Secret   bool      `json:"secret,omitempty"`
	Doc      string    `json:"doc,omitempty"`
	Pos      posJSON   `json:"pos,omitzero"`
}

type posJSON struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

type typeJSON struct {
	Kind string `json:"kind"`
	// Key and Elem belong to lists and maps.
	Key  *typeJSON `json:"key,omitempty"`
	Elem *typeJSON `json:"elem,omitempty"`
	// Module and Name belong to references. The root's path is empty, hence the pointer.
	Module *string `json:"module,omitempty"`
	Name   string  `json:"name,omitempty"`
}

// Write writes the model as indented JSON, in the order of the model. The same model always gives the same bytes. The
// error returned is the writer's, or says that a constant's value is of a type that [Const] does not list.
//
// The JSON form mirrors the model. In all of it, members that are false, empty or unknown are left out, but for those
// that identify something (names, paths, kinds).
//
//	package:   {"version": 1, "name": "aws", "modules": [module…]}
//	module:    {"path": "ec2", "goName": "ec2", "files": [file…]}
//	file:      {"name": "vpc.go", "doc": "…", "decls": [declaration…]}
//
// A declaration has a kind, and what the kind asks for:
//
//	           {"kind": "resource", "name", "doc", "pos", "token", "named", "properties": [property…]}
//	           {"kind": "struct",   "name", "doc", "pos", "properties": [property…]}
//	           {"kind": "config",   "name", "doc", "pos", "properties": [property…]}
//	           {"kind": "enum",     "name", "doc", "pos", "members": [{"name", "value", "doc", "pos"}…]}
//	           {"kind": "alias",    "name", "doc", "pos", "target": type}
//	           {"kind": "const",    "name", "doc", "pos", "type": "bool|string|int64|uint64|float64", "value": …}
//
//	property:  {"field", "name", "type": type, "pointer", "optional", "out", "in", "replaces", "secret", "doc", "pos"}
//	position:  {"line": 3, "column": 6}
//
// A type has a kind, too:
//
//	{"kind": "bool"}, and so on for each [Primitive]
//	{"kind": "list", "elem": type}
//	{"kind": "map", "key": type, "elem": type}
//	{"kind": "ref", "module": "ec2", "name": "VPC"}
func Write(w io.Writer, p *Package) error {
	out := packageJSON{Version: Version, Name: p.Name, Modules: []moduleJSON{}}
	for _, m := range p.Modules {
		module := moduleJSON{Path: m.Path, GoName: m.GoName, Files: []fileJSON{}}
		for _, f := range m.Files {
			file := fileJSON{Name: f.Name, Doc: f.Doc, Decls: []json.RawMessage{}}
			for _, d := range f.Decls {
				form, err := declForm(d)
				if err != nil {
					return fmt.Errorf("schema: %s: %s: %w", f.Path(), d.Head().Name, err)
				}
				raw, err := marshal(form)
				if err != nil {
					return fmt.Errorf("schema: %s: %s: %w", f.Path(), d.Head().Name, err)
				}
				file.Decls = append(file.Decls, raw)
			}
			module.Files = append(module.Files, file)
		}
		out.Modules = append(out.Modules, module)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// declForm returns the struct that d is written as.
func declForm(d Decl) (any, error) {
	h := d.Head()
	head := headJSON{Name: h.Name, Doc: h.Doc, Pos: posJSON(h.Pos)}
	switch d := d.(type) {
	case *Resource:
		head.Kind = "resource"
		return resourceJSON{head, d.Token, d.Named, propertyForms(d.Properties)}, nil
	case *Struct:
		head.Kind = "struct"
		return structJSON{head, propertyForms(d.Properties)}, nil
	case *Config:
		head.Kind = "config"
		return structJSON{head, propertyForms(d.Properties)}, nil
	case *Enum:
		head.Kind = "enum"
		form := enumJSON{headJSON: head}
		for _, m := range d.Members {
			form.Members = append(form.Members, memberJSON{m.Name, m.Value, m.Doc, posJSON(m.Pos)})
		}
		return form, nil
	case *Alias:
		head.Kind = "alias"
		return aliasJSON{head, typeForm(d.Target)}, nil
	case *Const:
		head.Kind = "const"
		switch d.Value.(type) {
		case bool, string, int64, uint64, float64:
		default:
			return nil, fmt.Errorf("a constant cannot be a %T", d.Value)
		}
		value, err := marshal(d.Value)
		return constJSON{head, fmt.Sprintf("%T", d.Value), value}, err
	}
	return nil, fmt.Errorf("no declaration is a %T", d)
}

func propertyForms(list []*Property) []propertyJSON {
	var forms []propertyJSON
	for _, p := range list {
		forms = append(forms, propertyJSON{
			Field: p.Field, Name: p.Name, Type: typeForm(p.Type),
			Pointer: p.Pointer, Optional: p.Optional, Out: p.Out, In: p.In, Replaces: p.Replaces, Secret: p.Secret,
			Doc: p.Doc, Pos: posJSON(p.Pos),
		})
	}
	return forms
}

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
