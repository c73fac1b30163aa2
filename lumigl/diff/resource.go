package diff

import (
	"encoding/json"
	"io"
	"regexp"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// The functions in this file are for callers that show a single resource, such as a step of a plan.

// index matches a list index in a path, such as "[2]" in "rules[2].port".
var index = regexp.MustCompile(`\[[0-9]+\]`)

// CompareResource compares two versions of a resource. replaces lists the paths of properties that require replacement,
// as returned by providers; indices in them are ignored. others are values that are not compared but whose secrets are
// masked too.
func CompareResource(old, new *lumigl.Vertex, replaces []string, others ...lumigl.Value) *Resource {
	c := newComparer(true, match.Work(1))
	r := &Resource{Kind: Updated, Key: new.Key(), Old: old, New: new, Changes: c.bodies(old, new), others: others}
	paths := make([]string, len(replaces))
	for i, path := range replaces {
		paths[i] = index.ReplaceAllString(path, "")
	}
	Replaces{new.Type: paths}.mark(r)
	return r
}

// WriteText writes the changes of a resource returned by [CompareResource], without a title and indented by at least
// depth levels.
func (r *Resource) WriteText(w io.Writer, depth int, o TextOptions) error {
	p := newPrinter(w, o)
	p.prefix, p.hidden = programOf(r.Key), r.contents()
	p.changedResource(r, depth)
	return p.out.Flush()
}

// JSON returns the changes of a resource returned by [CompareResource] as a JSON list. tag is the key that marks
// references.
func (r *Resource) JSON(tag string) json.RawMessage {
	f := flattener{encoder: &encoder{tag: tag, hidden: r.contents()}, changes: []changeJSON{}}
	f.flatten(r.Changes, "", "")
	text, err := term.JSON(f.changes)
	if err != nil {
		panic(err) // an encoder always writes valid JSON
	}
	return text
}
