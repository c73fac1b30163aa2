package render

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/render/internal/layout"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// pageGraph is the JSON data embedded in a page.
type pageGraph struct {
	Title string `json:"title"`
	Noun  string `json:"noun"`
	Total int    `json:"total"` // all vertices, drawn or not
	// Pending is the number of pending changes of a deployment, which are not drawn.
	Pending int        `json:"pending,omitempty"`
	Types   []string   `json:"types"` // most frequent first
	Nodes   []pageNode `json:"nodes"`
	// Arrows are encoded as [from, to, paths, number of paths not listed, bends as alternating x and y].
	Arrows []pageArrow `json:"arrows"`
	Width  int32       `json:"width"`
	Height int32       `json:"height"`
}

type pageNode struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Type int    `json:"type"` // index into the types, -1 for none
	ID   string `json:"id,omitempty"`
	X    int32  `json:"x"`
	Y    int32  `json:"y"`
	// Source is the position of the resource's declaration in the program.
	Source string `json:"source,omitempty"`
	// Options, Properties, and Extensions are encoded as described at encoder.
	Options    any `json:"options,omitempty"`
	Properties any `json:"properties"`
	Extensions any `json:"extensions,omitempty"`
}

type pageArrow struct {
	from, to int32
	paths    []string
	more     int
	bends    []int32
}

// MarshalJSON implements [json.Marshaler].
func (a pageArrow) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{a.from, a.to, a.paths, a.more, a.bends})
}

// pageData returns the page's data as JSON that can be inlined in HTML: package json escapes <, >, and & as well as
// line separators not allowed in JavaScript.
func (d *drawing) pageData() ([]byte, error) {
	noun := "vertex"
	if d.isSnapshot {
		noun = "resource"
	}
	g := layout.Graph{Nodes: len(d.vertices)}
	for _, a := range d.arrows {
		g.Arrows = append(g.Arrows, layout.Arrow{From: a.from, To: a.to})
	}
	places := layout.Of(g)
	page := pageGraph{
		Title: visible(d.title), Noun: noun, Total: d.total, Pending: d.pending, Types: d.types(), Width: places.Width, Height: places.Height,
		Nodes: make([]pageNode, 0, len(d.vertices)), Arrows: make([]pageArrow, 0, len(d.arrows)),
	}
	types := make(map[string]int, len(page.Types))
	for i, t := range page.Types {
		types[t] = i
	}
	for i, v := range d.vertices {
		n := pageNode{
			Key: v.Key(), Name: clip(d.name(v), maxText), Type: -1, ID: clip(v.ID, maxText), Source: clip(v.Source, maxText), X: places.Nodes[i].X, Y: places.Nodes[i].Y,
		}
		if v.Type != "" {
			n.Type = types[string(v.Type)]
		}
		e := encoder{drawing: d, left: maxValues}
		if v.Options.Len() > 0 {
			n.Options = e.value(v.Options, 0)
		}
		n.Properties = e.value(v.Properties, 0)
		if v.Extensions.Exists() {
			n.Extensions = e.value(v.Extensions, 0)
		}
		page.Nodes = append(page.Nodes, n)
	}
	for i, a := range d.arrows {
		bends := make([]int32, 0, 2*len(places.Bends[i]))
		for _, p := range places.Bends[i] {
			bends = append(bends, p.X, p.Y)
		}
		page.Arrows = append(page.Arrows, pageArrow{a.from, a.to, a.paths, a.more, bends})
	}
	return json.Marshal(page)
}

// types returns the resource types, most frequent first.
func (d *drawing) types() []string {
	counts := map[string]int{}
	for _, v := range d.vertices {
		if v.Type != "" {
			counts[string(v.Type)]++
		}
	}
	all := slices.AppendSeq([]string{}, maps.Keys(counts))
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return all
}

// Limits on the values of each vertex on a page.
const (
	maxValues   = 2000 // numbers, texts, and so on
	maxText     = 2000 // characters per text
	maxInside   = 200  // members or elements per object or list
	maxPageDeep = 40   // nesting depth
)

// encoder encodes the values of a vertex for a page. Strings, booleans, and null are encoded as themselves. Other
// values are encoded as a list that starts with the kind: ["number", LITERAL], ["object", KEY, VALUE, …], ["list",
// VALUE, …], ["ref", KEY, PROPERTY], ["secret"], ["unknown"], ["expression", TEXT], and, like objects, ["asset", …],
// ["archive", …], and ["jsonStringify", …]. A truncated object or list ends with ["more", N], where N is the number of
// omitted parts.
type encoder struct {
	*drawing
	left int // number of values left to encode
}

func (e *encoder) value(v lumigl.Value, depth int) any {
	e.left--
	if v.IsSecret() {
		return []any{"secret"}
	}
	switch {
	case v.IsUnknown():
		return []any{"unknown"}
	case depth == maxPageDeep && v.Len() > 0:
		return []any{"list", []any{"more", v.Len()}}
	}
	if text, ok := e.expression(v); ok {
		return []any{"expression", clip(text, maxText)}
	}
	switch v.Kind() {
	case lumigl.Bool:
		b, _ := v.Bool()
		return b
	case lumigl.Number:
		literal, _ := v.Literal()
		return []any{"number", clip(literal, maxText)}
	case lumigl.Text:
		text, _ := v.Text()
		return clip(text, maxText)
	case lumigl.Reference:
		target, property, _ := v.Target()
		return []any{"ref", target.Key(), property}
	case lumigl.List:
		list := []any{"list"}
		for i, element := range v.Elements() {
			if i == maxInside || e.left <= 0 {
				return append(list, []any{"more", v.Len() - i})
			}
			list = append(list, e.value(element, depth+1))
		}
		return list
	case lumigl.Object, lumigl.Absent:
		return e.object(v, depth)
	}
	return nil
}

// expression formats an expression as in a program. It returns false if the expression contains an object or a list.
func (e *encoder) expression(v lumigl.Value) (string, bool) {
	fits := true
	text, ok := expr.Format(v, func(part lumigl.Value) string {
		switch part.Kind() {
		case lumigl.Reference:
			target, property, _ := part.Target()
			return strings.TrimSuffix(e.name(target)+"."+visible(property), ".")
		case lumigl.Text:
			text, _ := part.Text()
			return strconv.Quote(text)
		case lumigl.Object, lumigl.List:
			fits = fits && part.IsSecret()
			return "(secret)"
		case lumigl.Number:
			literal, _ := part.Literal()
			return literal
		case lumigl.Null:
			return "null"
		}
		b, _ := part.Bool()
		return strconv.FormatBool(b)
	})
	return text, ok && fits
}

func (e *encoder) object(v lumigl.Value, depth int) any {
	kind := "object"
	switch {
	case v.IsAsset():
		kind = "asset"
	case v.IsArchive():
		kind = "archive"
	case v.IsExpression() && v.Get("jsonStringify").Kind() == lumigl.Object:
		kind, v = "jsonStringify", v.Get("jsonStringify")
	}
	object := []any{kind}
	i := 0
	for key, member := range v.Members() {
		if i == maxInside || e.left <= 0 {
			return append(object, []any{"more", v.Len() - i})
		}
		i++
		if key == wire.Signature && (kind != "object" || v.IsExpression()) {
			continue
		}
		object = append(object, clip(key, maxText), e.value(member, depth+1))
	}
	return object
}
