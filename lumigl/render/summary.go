package render

import "github.com/lumi-idl/lumi/lumigl"

// Summary describes a drawing in machine-readable form.
type Summary struct {
	Vertices []SummaryVertex `json:"vertices"`
	Arrows   []SummaryArrow  `json:"arrows"`
}

// SummaryVertex describes a vertex of a [Summary].
type SummaryVertex struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// SummaryArrow points from the key of a vertex to the key of a dependency.
type SummaryArrow struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Paths locate the first references, and More counts the others.
	Paths []string `json:"paths"`
	More  int      `json:"more,omitempty"`
}

// Summarize returns a summary of what would be drawn.
func Summarize(doc lumigl.Document, o Options) *Summary {
	d := draw(doc, o)
	s := &Summary{Vertices: make([]SummaryVertex, len(d.vertices)), Arrows: make([]SummaryArrow, len(d.arrows))}
	for i, v := range d.vertices {
		s.Vertices[i] = SummaryVertex{Key: v.Key(), Name: d.label(v), Type: string(v.Type)}
	}
	for i, a := range d.arrows {
		s.Arrows[i] = SummaryArrow{From: d.vertices[a.from].Key(), To: d.vertices[a.to].Key(), Paths: a.paths, More: a.more}
	}
	return s
}
