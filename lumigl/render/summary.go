package render

import "github.com/lumi-idl/lumi/lumigl"

// Summary is a machine-readable description of a drawing.
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

// SummaryArrow is an arrow from the vertex with the key From to its dependency with the key To.
type SummaryArrow struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Paths lists the paths of the first references. More is the number of references not listed.
	Paths []string `json:"paths"`
	More  int      `json:"more,omitempty"`
}

// Summarize returns a summary of the graph as drawn with the given options.
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
