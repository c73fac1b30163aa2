package corpus

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// folder is a folder of a corpus, which forms a module of the IDL.
type folder struct {
	name string
	// resources lists the names of the folder's resources.
	resources []string
	// earlier lists the numbers of the folders that this one may import. They are lower than its own number, which
	// prevents import cycles.
	earlier []int
	rand    *rand.Rand
}

func newFolder(number, size int, r *rand.Rand) *folder {
	f := &folder{name: folderName(number), resources: resourceNames(number, size), rand: r}
	for range min(number, 3) {
		if other := r.IntN(number); !slices.Contains(f.earlier, other) {
			f.earlier = append(f.earlier, other)
		}
	}
	return f
}

func folderName(number int) string { return fmt.Sprintf("m%03d", number) }

// resourceNames returns the names of a folder's resources. They are not random, so that other folders can compute them.
func resourceNames(number, size int) []string {
	names := make([]string, size)
	for i := range names {
		// 24 adjectives and 24 nouns make 576 names. 11 is coprime to 576, so the names in a folder are distinct.
		n := (number*7 + i*11) % (len(adjectives) * len(things))
		names[i] = adjectives[n%len(adjectives)] + things[n/len(adjectives)]
	}
	return names
}

// files returns an iterator over the names and contents of the folder's files.
func (f *folder) files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !yield("common.go", []byte(strings.ReplaceAll(commonSource, "PACKAGE", f.name))) {
			return
		}
		for _, name := range f.resources {
			if !yield(fileName(name), f.resource(name)) {
				return
			}
		}
	}
}

// commonSource is the code shared by a folder's resources: two structs for embedding, the first with a marker, an alias,
// a recursive struct, and a constant.
const commonSource = `// Package PACKAGE is made up.
package PACKAGE

import "` + Lumi + `/idl"

// owned is embedded by some resources.
type owned struct {
	idl.NamedResource
	// The contact for problems with the resource.
	Contact *string ` + "`lumi:\"optional\"`" + `
	// The revision, incremented by the service.
	Revision float64 ` + "`lumi:\"out\"`" + `
}

// Labeled is embedded by resources with labels.
type Labeled struct {
	// The labels.
	Labels *Labels ` + "`lumi:\"optional\"`" + `
}

// Labels are strings by name.
type Labels map[string]string

// A Rule is a condition, or a conjunction of conditions.
type Rule struct {
	// The name of the property.
	Subject string
	// The required value.
	Value any ` + "`lumi:\"optional\"`" + `
	// Additional conditions.
	And *[]Rule ` + "`lumi:\"optional\"`" + `
}

// MaxRules is the maximum number of rules in a list.
const MaxRules = 8 * 16
`

// fileName returns the name of a resource's file, in snake case.
func fileName(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			out.WriteByte('_')
		}
		out.WriteRune(r)
	}
	return strings.ToLower(out.String()) + ".go"
}

// resource returns the source of a file that declares a resource, its two structs, and its enum.
func (f *folder) resource(name string) []byte {
	w := &resourceWriter{folder: f, name: name, imports: map[string]bool{}}
	w.resource()
	w.structs()
	w.enum()

	var file bytes.Buffer
	fmt.Fprintf(&file, "package %s\n", f.name)
	if len(w.imports) > 0 {
		file.WriteString("\nimport (\n")
		for _, path := range slices.Sorted(maps.Keys(w.imports)) {
			fmt.Fprintf(&file, "\t%q\n", path)
		}
		file.WriteString(")\n")
	}
	file.Write(w.body.Bytes())
	return file.Bytes()
}
