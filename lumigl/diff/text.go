package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// TextOptions configures text output.
type TextOptions struct {
	// Color enables terminal colors.
	Color bool
	// Context is the number of unchanged list elements to show around each change.
	Context int
}

// WriteText writes the delta as human-readable text. Control characters are escaped and secrets masked.
func (d *Delta) WriteText(w io.Writer, o TextOptions) error {
	p := newPrinter(w, o)
	p.header(d)
	for _, n := range d.Named {
		p.numbers[n.Old] = urn.URN(n.New.Key()).Name()
	}
	for i := range d.Resources {
		p.resource(&d.Resources[i], d.isSnapshot())
	}
	p.moves(d)
	p.summary(d)
	return p.out.Flush()
}

// WriteStat writes one line per changed resource, followed by totals.
func (d *Delta) WriteStat(w io.Writer, o TextOptions) error {
	p := newPrinter(w, o)
	if n := count(d.Header); n.all() > 0 {
		p.line(Updated, 0, "(header)"+p.counts(n))
	}
	for i := range d.Resources {
		r := &d.Resources[i]
		text := urnLabel(r.Key)
		if r.Kind == Updated || r.Kind == Replaced {
			text += p.counts(count(r.Changes))
		}
		p.line(r.Kind, 0, text)
	}
	p.parted = len(d.Header)+len(d.Resources) == 0
	p.moves(d)
	p.summary(d)
	return p.out.Flush()
}

// tally counts added, removed, and changed values.
type tally struct{ added, removed, changed int }

func (t tally) all() int { return t.added + t.removed + t.changed }

func count(changes []Change) tally {
	var t tally
	for i := range changes {
		switch c := &changes[i]; c.Kind {
		case Added:
			t.added++
		case Removed:
			t.removed++
		case Inside:
			inside := count(c.Changes)
			t.added, t.removed, t.changed = t.added+inside.added, t.removed+inside.removed, t.changed+inside.changed
		default:
			t.changed++
		}
	}
	return t
}

func (p *printer) counts(t tally) string {
	var parts []string
	for _, n := range []struct {
		kind  Kind
		count int
	}{{Added, t.added}, {Removed, t.removed}, {Changed, t.changed}} {
		if n.count > 0 {
			parts = append(parts, p.Paint(colors[n.kind], fmt.Sprintf("%s%d", signs[n.kind], n.count)))
		}
	}
	return "  " + strings.Join(parts, " ")
}

type printer struct {
	term.Stream
	out     *bufio.Writer
	context int // from the options
	// parted is set if no empty line is needed before the next item.
	parted bool
	// prefix is the URN prefix of the resource's program. References omit it.
	prefix string
	// hidden lists the contents of the resource's secrets, which are also masked in plain values.
	hidden contents
	// numbers maps old resources to the names of their unnamed counterparts in the program.
	numbers map[*lumigl.Vertex]string
}

func newPrinter(w io.Writer, o TextOptions) *printer {
	return &printer{
		Stream: term.Stream{Color: o.Color}, out: bufio.NewWriter(w), context: o.Context,
		parted: true, numbers: map[*lumigl.Vertex]string{},
	}
}

// Signs and colors of lines.
var (
	signs = [...]string{
		0: " ", Added: "+", Removed: "-", Changed: "~", Unknown: "~", Inside: "~",
		Created: "+", Deleted: "-", Updated: "~", Replaced: "±",
	}
	colors = [...]term.Style{
		Added: term.Green, Removed: term.Red, Changed: term.Yellow, Unknown: term.Yellow, Inside: term.Yellow,
		Created: term.Green, Deleted: term.Red, Updated: term.Yellow, Replaced: term.Magenta,
	}
)

// line writes a line with a sign, indented by depth levels. Added and removed lines are colored entirely; for other
// lines, only the sign is colored.
func (p *printer) line(kind Kind, depth int, text string) {
	for range depth {
		p.write("  ")
	}
	sign := signs[kind]
	switch {
	case !p.Color:
		p.write(sign)
		p.write(" ")
		p.write(text)
	case kind == Added || kind == Removed:
		p.write(p.Paint(colors[kind], sign+" "+text))
	default:
		p.write(p.Paint(colors[kind], sign))
		p.write(" ")
		p.write(text)
	}
	p.write("\n")
	p.parted = false
}

// write writes a string. Errors are sticky and returned by Flush.
func (p *printer) write(s string) { _, _ = p.out.WriteString(s) }

// part separates two items with an empty line.
func (p *printer) part() {
	if !p.parted {
		p.write("\n")
	}
	p.parted = true
}

func (p *printer) header(d *Delta) {
	if len(d.Header) == 0 {
		return
	}
	p.part()
	p.hidden = d.contentsOfHeaders()
	p.members(d.Header, lumigl.Value{}, 0, label)
	p.part()
}

func (p *printer) resource(r *Resource, snapshot bool) {
	p.part()
	p.prefix, p.hidden = programOf(r.Key), r.contents()
	title := p.Paint(term.Bold, urnLabel(r.Key))
	if number, ok := p.numbers[r.Old]; ok {
		title += p.Paint(term.Dim, " ("+number+" in the program)")
	}
	switch {
	case r.Kind == Replaced:
		title += p.Paint(colors[Replaced], " (replaced)")
	case r.isLookUp() && r.Old.ID != r.New.ID:
		title += p.Paint(colors[Updated], " (now another resource)")
	}
	p.line(r.Kind, 0, title)
	switch {
	case r.Kind == Created:
		p.vertex(Added, r.New, snapshot)
	case r.Kind == Deleted:
		p.vertex(Removed, r.Old, snapshot)
	case !snapshot:
		p.members(r.Changes, r.New.Properties, 1, label)
	default:
		p.changedResource(r, 1)
	}
}

// changedResource prints the changes of a resource. Names of fields other than properties are in parentheses.
func (p *printer) changedResource(r *Resource, depth int) {
	last := []Change(nil)
	for i := range r.Changes {
		c := &r.Changes[i]
		switch c.Key {
		case "properties":
		case "extensions":
			last = append(last, *c)
		case "options":
			p.options(c, depth)
		default:
			p.members(r.Changes[i:i+1], lumigl.Value{}, depth, inParentheses)
		}
	}
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Key == "properties" {
			p.members(c.Changes, r.New.Properties, depth, label)
		}
	}
	p.members(last, lumigl.Value{}, depth, inParentheses)
}

func inParentheses(key string) string { return "(" + key + ")" }

func inOptions(key string) string { return inParentheses("options." + label(key)) }

// options prints each changed option separately, even if one side has no options.
func (p *printer) options(c *Change, depth int) {
	changes := c.Changes
	if c.Kind != Inside {
		changes = (&comparer{}).objects(c.Old, c.New)
	}
	p.members(changes, lumigl.Value{}, depth, inOptions)
}

// vertex prints a created or deleted vertex in full.
func (p *printer) vertex(kind Kind, v *lumigl.Vertex, snapshot bool) {
	if snapshot && v.ID != "" {
		p.whole(kind, 1, inParentheses("id"), lumigl.TextOf(v.ID), "")
	}
	for _, m := range sortedMembers(v.Options) {
		p.whole(kind, 1, inOptions(m.Key), m.Value, "")
	}
	for _, m := range sortedMembers(v.Properties) {
		p.whole(kind, 1, label(m.Key), m.Value, "")
	}
	if v.Extensions.Exists() {
		p.whole(kind, 1, inParentheses("extensions"), v.Extensions, "")
	}
}

// programOf returns the URN prefix shared by all resources of a program, or "" if key is not a URN.
func programOf(key string) string {
	_, rest, _ := strings.Cut(key, "::")
	_, rest, ok := strings.Cut(rest, "::")
	if !ok {
		return ""
	}
	return key[:len(key)-len(rest)]
}

func (p *printer) moves(d *Delta) {
	if len(d.Moves) == 0 {
		return
	}
	p.part()
	p.write("Perhaps moved, since " + d.reason + ":\n")
	for _, m := range d.Moves {
		p.write("  " + urnLabel(m.Old.Key()) + "\n    → " + urnLabel(m.New.Key()) + "\n")
	}
	p.parted = false
}

func (p *printer) summary(d *Delta) {
	if d.Empty() {
		p.write("Nothing differs.\n")
		return
	}
	p.part()
	var parts []string
	for _, kind := range []Kind{Created, Updated, Replaced, Deleted} {
		if n := d.Count(kind); n > 0 {
			parts = append(parts, p.Paint(colors[kind], fmt.Sprintf("%d %s", n, kind)))
		}
	}
	switch {
	case len(parts) == 0 && d.isSnapshot():
		parts = append(parts, "no resource differs")
	case len(parts) == 0:
		parts = append(parts, "no vertex differs")
	case d.Unchanged > 0:
		parts = append(parts, fmt.Sprintf("%d unchanged", d.Unchanged))
	}
	p.write(strings.Join(parts, ", ") + "\n")
}
