package document

import (
	"fmt"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// PrintFaults prints the errors in a file as text on standard error or, with --json, as JSON on standard output.
func PrintFaults(con *console.Console, in *Input, invalid *lumigl.InvalidError, hide Secrets) error {
	if con.JSON {
		for _, fault := range jsonFaults(in, invalid, hide) {
			if err := con.PrintJSON(fault); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range invalid.Faults {
		con.Separate()
		printFault(con, in, hide.fault(invalid.Faults[i]), hide)
	}
	if invalid.More {
		con.Separate()
		fmt.Fprintf(con.Stderr, "%s %s\n", con.Err.Paint(term.Bold, term.Visible(in.Name)+":"), moreFaults)
	}
	return nil
}

const moreFaults = "too many errors; the rest of the file was not checked"

// printFault prints an error with its position, source line, related positions, and fix.
func printFault(con *console.Console, in *Input, f lumigl.Fault, hide Secrets) {
	s := &term.Snippet{Stream: con.Err, Source: in.Src, Hidden: func(from, to int) bool { return hide.near(from, to) != nil }}
	head := func(kind string, style term.Style, line, column, offset, end int, message string) {
		where := term.Visible(in.Name)
		if line > 0 {
			where = fmt.Sprintf("%s:%d:%d", where, line, column)
		}
		fmt.Fprintf(con.Stderr, "%s %s %s\n", con.Err.Paint(term.Bold, where+":"), con.Err.Paint(style, kind+":"), term.Paragraph(message))
		if line > 0 {
			s.Print(con.Stderr, line, offset, end, style)
		}
	}
	head("error", term.BoldRed, f.Line, f.Column, f.Offset, f.End, f.Message+" ["+string(f.Code)+"]")
	if f.Pointer != "" {
		fmt.Fprintf(con.Stderr, "%s %s\n", con.Err.Paint(term.BoldCyan, "at:"), shortened(term.Visible(f.Pointer)))
	}
	for _, n := range f.Notes {
		head("note", term.BoldCyan, n.Line, n.Column, n.Offset, n.End, n.Message)
	}
	if f.Fix != nil {
		fmt.Fprintf(con.Stderr, "%s %s\n", con.Err.Paint(term.BoldCyan, "help:"), term.Paragraph(f.Fix.Message))
	}
}

// JSONFault is the JSON form of an error. It is documented in docs/lumi.md.
type JSONFault struct {
	File    string      `json:"file"`
	Code    lumigl.Code `json:"code"`
	Line    int         `json:"line,omitempty"`
	Column  int         `json:"column,omitempty"`
	Offset  int         `json:"offset"`
	End     int         `json:"end"`
	Pointer string      `json:"pointer"`
	Message string      `json:"message"`
	Notes   []jsonNote  `json:"notes,omitempty"`
	Nearest string      `json:"nearest,omitempty"`
	Circle  []string    `json:"circle,omitempty"`
	Fix     *jsonFix    `json:"fix,omitempty"`
}

type jsonNote struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Offset  int    `json:"offset"`
	Message string `json:"message"`
}

type jsonFix struct {
	Offset  int    `json:"offset"`
	End     int    `json:"end"`
	Text    string `json:"text"`
	Message string `json:"message"`
}

// jsonFaults returns the JSON form of the errors in a file, with secrets removed.
func jsonFaults(in *Input, invalid *lumigl.InvalidError, hide Secrets) []JSONFault {
	all := make([]JSONFault, 0, len(invalid.Faults))
	for i := range invalid.Faults {
		all = append(all, newJSONFault(in.Name, hide.fault(invalid.Faults[i])))
	}
	if invalid.More {
		all = append(all, JSONFault{File: in.Name, Code: "more", Message: moreFaults})
	}
	return all
}

func newJSONFault(name string, f lumigl.Fault) JSONFault {
	j := JSONFault{
		File: name, Code: f.Code, Line: f.Line, Column: f.Column, Offset: f.Offset, End: f.End, Pointer: f.Pointer, Nearest: f.Nearest,
		Message: f.Message, Circle: f.Circle,
	}
	for _, n := range f.Notes {
		j.Notes = append(j.Notes, jsonNote{n.Line, n.Column, n.Offset, n.Message})
	}
	if f.Fix != nil {
		j.Fix = &jsonFix{f.Fix.Offset, f.Fix.End, f.Fix.Text, f.Fix.Message}
	}
	return j
}

// shortened replaces the middle of a long JSON pointer with an ellipsis.
func shortened(pointer string) string {
	const most, part = 400, 150
	if term.Width(pointer) <= most {
		return pointer
	}
	runes := []rune(pointer)
	return string(runes[:part]) + " … " + string(runes[len(runes)-part:])
}
