package render

import "github.com/lumi-idl/lumi/lumigl"

// Summary is a drawing for programs.
type Summary struct {
	Vertices []SummaryVertex `json:"vertices"`
	Arrows   []SummaryArrow  `json:"arrows"`
}

// SummaryVertex is a vertex of a [Summary].
type SummaryVertex struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// SummaryArrow leads from the key of a vertex to that of one that it depends on.
type SummaryArrow struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Paths are those of the first properties that refer to it, and More is how many others there are.
	Paths []string `json:"paths"`
	More  int      `json:"more,omitempty"`
}

// Summarize says what would be drawn.
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
