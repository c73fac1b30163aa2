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

// schemaJSON is what of a schema says which properties replace.
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
				} `json:"properties"`
			} `json:"decls"`
		} `json:"files"`
	} `json:"modules"`
}

// AddSchema adds the properties that replace by a schema, as 'cidlc --out-schema' writes it.
func (r Replaces) AddSchema(schema io.Reader) error {
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
					if decl.Kind == "resource" && p.Replaces && !slices.Contains(r[decl.Token], p.Name) {
						r[decl.Token] = append(r[decl.Token], p.Name)
					}
				}
			}
		}
	}
	return nil
}
