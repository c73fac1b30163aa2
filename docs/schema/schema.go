// Package schema contains JSON Schemas of files, for programs that describe the same values elsewhere.
package schema

import _ "embed"

// Tasks is the JSON Schema of files with tasks.
//
//go:embed tasks.schema.json
var Tasks []byte
