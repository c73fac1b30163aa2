package gostubs

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/idl/schema"
)

// inRawString escapes the characters of JSON that a raw string in Go cannot contain. JSON has both only in strings.
var inRawString = strings.NewReplacer("`", `\u0060`, "\ufeff", `\ufeff`)

// schemaFile returns the Go package that contains the schema. Only adapters import it, so other providers do not link it.
func schemaFile(pkg *schema.Package, digests schema.Digests) gen.File {
	const name = schema.GoSchema
	file := gen.File{Path: path.Join(name, name+".go"), Render: func() ([]byte, error) {
		data, err := schema.Compact(pkg)
		return fmt.Appendf(nil, `%s

// Package %s contains the schema of package %s for adapters to other engines.
package %[2]s

// JSON is the schema in the format of cidlc --out-schema, without positions.
const JSON = `+"`%[4]s`\n", gen.Header(gen.Slashes, "**/*.go"), name, pkg.Name, inRawString.Replace(string(data))), err
	}}
	if digests != nil {
		h := sha256.New()
		fmt.Fprintf(h, "%q", []string{pkg.Name, pkg.NPM, pkg.Versions})
		for _, m := range pkg.Modules {
			fmt.Fprintf(h, "%q", []string{m.Path, m.GoName})
			for _, f := range m.Files {
				fmt.Fprintf(h, "%x", digests[f])
			}
		}
		file.Input = [sha256.Size]byte(h.Sum(nil))
	}
	return file
}
