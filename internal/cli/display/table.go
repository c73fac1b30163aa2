package display

import (
	"strconv"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// Table prints a table with one row per vertex.
func (v *Viewer) Table(chosen []*lumigl.Vertex) {
	head := []string{"KEY", "PROPERTIES", "USES", "USED BY"}
	if v.snapshot() != nil {
		head = []string{"NAME", "TYPE", "ID", "USES", "USED BY"}
	}
	if len(v.Older) > 0 {
		head = append(head, "VERSION")
	}
	rows := [][]string{head}
	for _, one := range chosen {
		uses, usedBy := v.Index.Dependencies(one, false), v.Index.Dependents(one, false)
		row := []string{term.Visible(v.Name(one)), strconv.Itoa(one.Properties.Len())}
		if v.snapshot() != nil {
			row = append(row[:1], term.Visible(string(one.Type)), term.Visible(one.ID))
		}
		row = append(row, strconv.Itoa(len(uses)), strconv.Itoa(len(usedBy)))
		if o := v.OlderOf(one); o != nil {
			row = append(row, o.String())
		} else if len(v.Older) > 0 {
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	v.Con.Table(rows)
}
