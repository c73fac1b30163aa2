package diff

import (
	"encoding/json"
	"io"
	"regexp"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// This file is for those that show one resource in a frame of their own, such as a step of a plan.

// index is an index in a path, such as that in "rules[2].port".
var index = regexp.MustCompile(`\[[0-9]+\]`)

// CompareResource compares a resource before and after. Paths in replaces are those of properties that require a
// replacement, as providers return them; indices in them do not count. The content of secrets in others, which are not
// compared, is not written either.
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

// WriteText writes what differs in a resource that [CompareResource] returned, without a title: each line at least
// depth levels to the right.
func (r *Resource) WriteText(w io.Writer, depth int, o TextOptions) error {
	p := newPrinter(w, o)
	p.prefix, p.hidden = programOf(r.Key), r.contents()
	p.changedResource(r, depth)
	return p.out.Flush()
}

// JSON returns the list of what differs in a resource that [CompareResource] returned. Tag marks references.
func (r *Resource) JSON(tag string) json.RawMessage {
	f := flattener{encoder: &encoder{tag: tag, hidden: r.contents()}, changes: []changeJSON{}}
	f.flatten(r.Changes, "", "")
	text, err := term.JSON(f.changes)
	if err != nil {
		panic(err) // An encoder writes JSON.
	}
	return text
}
