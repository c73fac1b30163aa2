package display

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// fields returns the top-level fields of a file, except its resources or vertices and the entries of a deployment.
func (v *Viewer) fields() []lumigl.Member {
	base := v.Doc.Base()
	s := v.snapshot()
	if s == nil {
		return base.Fields
	}
	var all []lumigl.Member
	if s.Package != "" {
		all = append(all, lumigl.Member{Key: "package", Value: lumigl.TextOf(s.Package)})
	}
	if s.Args.Exists() {
		all = append(all, lumigl.Member{Key: "args", Value: s.Args})
	}
	if s.Lineage != "" {
		all = append(all, lumigl.Member{Key: "lineage", Value: lumigl.TextOf(s.Lineage)})
	}
	if s.Serial > 0 {
		serial, _ := lumigl.NumberOf(strconv.FormatUint(s.Serial, 10))
		all = append(all, lumigl.Member{Key: "serial", Value: serial})
	}
	return append(all, base.Fields...)
}

func (v *Viewer) showFields() error {
	fields := v.fields()
	if v.Con.JSON {
		return v.Con.PrintJSON(json.RawMessage(AppendJSON(nil, lumigl.ObjectOf(fields...), "")))
	}
	for _, f := range fields {
		v.value("", v.Con.Out.Paint(term.Blue, KeyText(f.Key)+":"), f.Value)
	}
	return nil
}

// otherFields prints a line with the names and sizes of all fields that the header does not show.
func (v *Viewer) otherFields() {
	var sizes []string
	for _, f := range v.fields() {
		if f.Key == "versions" && len(v.Older) > 0 {
			continue // listed separately
		}
		if v.snapshot() == nil || f.Key != "package" && f.Key != "lineage" && f.Key != "serial" {
			sizes = append(sizes, KeyText(f.Key)+" "+v.size(f.Value))
		}
	}
	if len(sizes) > 0 {
		v.line("other fields: " + strings.Join(sizes, ", "))
	}
}

// size returns a short value itself and the size of any other value.
func (v *Viewer) size(value lumigl.Value) string {
	const short = 40
	if text, ok := value.Text(); ok && len(text) > short {
		return "(" + console.Count(len(text), "byte") + ")"
	}
	if brief, ok := v.brief(value); ok {
		return brief
	}
	if value.Kind() == lumigl.List {
		return "(" + console.Count(value.Len(), "element") + ")"
	}
	return "(" + console.Count(value.Len(), "member") + ")"
}
