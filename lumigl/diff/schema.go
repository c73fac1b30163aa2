package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lumi-idl/lumi/runtime/tokens"
)

// schemaVersion is the version of the compiler's schemas that is read.
const schemaVersion = 1

// schemaJSON is what of a schema says which properties replace, and which providers set.
type schemaJSON struct {
	Version *int `json:"version"`
	Modules []struct {
		Files []struct {
			Decls []struct {
				Kind       string      `json:"kind"`
				Token      tokens.Type `json:"token"`
				Properties []struct {
					Name     string `json:"name"`
					Replaces bool   `json:"replaces"`
					Out      bool   `json:"out"`
				} `json:"properties"`
			} `json:"decls"`
		} `json:"files"`
	} `json:"modules"`
}

// AddSchema adds the properties that replace by a schema, as 'cidlc --out-schema' writes it.
func (r Replaces) AddSchema(schema io.Reader) error {
	return readSchema(schema, func(token tokens.Type, name string, replaces, _ bool) {
		if replaces && !slices.Contains(r[token], name) {
			r[token] = append(r[token], name)
		}
	})
}

// AddSchema adds the properties that providers set by a schema, as 'cidlc --out-schema' writes it.
func (o Outputs) AddSchema(schema io.Reader) error {
	return readSchema(schema, func(token tokens.Type, name string, _, out bool) {
		if out && !slices.Contains(o[token], name) {
			o[token] = append(o[token], name)
		}
	})
}

// readSchema tells of all properties of resources in a schema.
func readSchema(schema io.Reader, tell func(token tokens.Type, name string, replaces, out bool)) error {
	var s schemaJSON
	d := json.NewDecoder(schema)
	if err := d.Decode(&s); err != nil {
		return fmt.Errorf("this is no schema of cidlc: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("this is no schema of cidlc: there is more behind it")
	}
	switch {
	case s.Version == nil || s.Modules == nil:
		return errors.New(`this is no schema of cidlc: it has no "version" or no "modules"`)
	case *s.Version != schemaVersion:
		return fmt.Errorf("the schema has version %d, and only %d is known", *s.Version, schemaVersion)
	}
	for _, module := range s.Modules {
		for _, file := range module.Files {
			for _, decl := range file.Decls {
				for _, p := range decl.Properties {
					if decl.Kind == "resource" {
						tell(decl.Token, p.Name, p.Replaces, p.Out)
					}
				}
			}
		}
	}
	return nil
}
