// Package display prints graphs and snapshots as a tree, a table, lines, or JSON, and single vertices with all fields.
package display

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
)

// Viewer prints a document in the selected view.
type Viewer struct {
	Con    *console.Console
	Doc    *document.File
	Index  *query.Index
	View   string
	Invert bool
	Top    bool // whether to print only the top-level fields
	Depth  int
	Older  []Older // older module versions that are still in use
}

// Show prints the vertices selected by keys with all fields. Without keys, it prints all vertices in the selected view.
func (v *Viewer) Show(keys []string) error {
	if v.Top {
		return v.showFields()
	}
	if s := v.snapshot(); s != nil {
		v.Older = OlderVersions(s)
	}
	var chosen []*lumigl.Vertex
	for _, key := range keys {
		found, err := v.Find(key)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Doc.Name, err)
		}
		for _, one := range found {
			if !slices.Contains(chosen, one) {
				chosen = append(chosen, one)
			}
		}
	}
	if v.Con.JSON {
		if len(keys) == 0 {
			chosen = v.all()
		}
		return v.JSON(chosen)
	}
	for i, one := range chosen {
		if i > 0 {
			v.Con.Printf("\n")
		}
		v.details(one)
	}
	if len(keys) > 0 {
		return nil
	}
	view := v.View
	if view == "auto" {
		view = "plain"
		if v.Con.Out.Terminal {
			view = "tree"
		}
	}
	switch view {
	case "tree":
		v.header()
		v.tree()
		for _, o := range v.Older {
			for one := range o.Vertices() {
				v.line(v.entry(one) + " " + v.Con.Out.Paint(term.Dim, "("+o.String()+")"))
			}
		}
		v.pending()
	case "table":
		v.header()
		v.Table(v.all())
		v.pending()
	default:
		v.plain()
	}
	return nil
}

func (v *Viewer) snapshot() *lumigl.Snapshot {
	s, _ := v.Doc.Document.(*lumigl.Snapshot)
	return s
}

// Name returns the display name of a vertex.
func (v *Viewer) Name(one *lumigl.Vertex) string {
	if v.snapshot() == nil {
		return one.Key()
	}
	return one.URN().Name()
}

// label returns the name of a vertex with its type, which distinguishes it from other vertices with that name.
func (v *Viewer) label(one *lumigl.Vertex) string {
	if v.snapshot() == nil {
		return term.Visible(one.Key())
	}
	return term.Visible(one.URN().Name()) + " " + v.Con.Out.Paint(term.Dim, "("+term.Visible(string(one.URN().Type()))+")")
}

// line prints a line, clipped to the width of the terminal. The text must be safe to print; it may contain color
// sequences.
func (v *Viewer) line(text string) { v.Con.Line(text) }

// plain prints one tab-separated line per vertex, as input for other programs.
func (v *Viewer) plain() {
	for _, one := range v.all() {
		line := term.Visible(one.Key())
		if v.snapshot() != nil {
			line += "\t" + term.Visible(string(one.Type)) + "\t" + term.Visible(one.ID)
		}
		if o := v.OlderOf(one); o != nil {
			line += "\t" + o.String()
		}
		v.Con.Printf("%s\n", line)
	}
}

func (v *Viewer) header() {
	text := term.Visible(v.Doc.Name) + ": " + Summary(v.Doc.Document)
	if s := v.snapshot(); s != nil {
		if s.Package != "" {
			text += ", of " + term.Visible(s.Package)
		}
		if s.Lineage != "" || s.Serial > 0 {
			text += fmt.Sprintf(", serial %d", s.Serial)
		}
		if s.Lineage != "" {
			text += " of " + term.Visible(s.Lineage)
		}
	}
	v.line(v.Con.Out.Paint(term.Bold, text))
	v.otherFields()
}

// pending prints the unfinished work of deployments.
func (v *Viewer) pending() {
	s := v.snapshot()
	if s == nil {
		return
	}
	entry := func(what string, r *lumigl.Vertex) {
		text := v.Con.Out.Paint(term.BoldCyan, "pending "+what) + " " + v.label(r)
		if r.ID != "" {
			text += " " + v.Con.Out.Paint(term.Dim, term.Visible(r.ID))
		}
		v.line(text)
	}
	for _, r := range s.Pending.Deletes {
		entry("deletion", r)
	}
	for _, o := range s.Pending.Operations {
		entry(string(o.Kind), o.Resource)
	}
}

// all returns the vertices of the document, followed by the vertices of older versions.
func (v *Viewer) all() []*lumigl.Vertex {
	all := slices.Collect(v.Doc.Base().Vertices())
	for _, o := range v.Older {
		all = slices.AppendSeq(all, o.Vertices())
	}
	return all
}

// Find returns the vertex selected by key, followed by the vertices with the same URN in older versions.
func (v *Viewer) Find(key string) (all []*lumigl.Vertex, err error) {
	found, err := v.Index.Find(key)
	var several *query.FindError
	switch {
	case err == nil:
		all, key = append(all, found), found.Key()
	case errors.As(err, &several) && len(several.Candidates) > 0:
		return nil, err
	}
	for _, o := range v.Older {
		if one, err := query.New(o.Base()).Find(key); err == nil {
			all = append(all, one)
		}
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}

// OlderOf returns the older version that contains a vertex, or nil if the vertex is in the document itself.
func (v *Viewer) OlderOf(one *lumigl.Vertex) *Older {
	for i := range v.Older {
		if v.Older[i].Vertex(one.Key()) == one {
			return &v.Older[i]
		}
	}
	return nil
}

// Summary summarizes a document by its numbers of vertices and references.
func Summary(doc lumigl.Document) string {
	noun := "vertex"
	s, _ := doc.(*lumigl.Snapshot)
	if s != nil {
		noun = "resource"
	}
	references := 0
	for v := range doc.Base().Vertices() {
		for range v.References() {
			references++
		}
	}
	text := console.Count(doc.Base().Len(), noun) + ", " + console.Count(references, "reference")
	if s != nil {
		if n := len(s.Pending.Deletes) + len(s.Pending.Operations); n > 0 {
			text += ", " + console.Count(n, "pending entry")
		}
	}
	return text
}
