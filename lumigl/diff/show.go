package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
	"github.com/lumi-idl/lumi/lumigl/match"
)

// members prints the changes in an object and the number of unchanged members. It omits the number if in is absent.
func (p *printer) members(changes []Change, in lumigl.Value, depth int, show func(string) string) {
	for i := range changes {
		p.change(&changes[i], show(changes[i].Key), depth)
	}
	if in.Exists() {
		p.rest(in.Len(), changes, depth)
	}
}

// rest prints the number of unchanged parts.
func (p *printer) rest(parts int, changes []Change, depth int) {
	for i := range changes {
		if changes[i].Kind != Removed {
			parts--
		}
	}
	p.fold(parts, depth)
}

// fold prints a number of unchanged parts, aligned with the signs of the surrounding changes.
func (p *printer) fold(n, depth int) {
	if n > 0 {
		for range depth {
			p.write("  ")
		}
		p.write(p.Paint(term.Dim, "… "+strconv.Itoa(n)+" unchanged"))
		p.write("\n")
		p.parted = false
	}
}

// names lists the keys that identify list elements.
var names = []string{"urn", "name", "id", "key"}

// identity prints the member that identifies a list element, unless it changed. It returns the number of members
// printed.
func (p *printer) identity(c *Change, depth int) (shown int) {
	if !c.isElement() {
		return 0
	}
	for _, name := range names {
		changed := slices.ContainsFunc(c.Changes, func(inner Change) bool { return inner.Key == name })
		if v := c.New.Get(name); v.Exists() && !changed {
			p.line(0, depth, p.Paint(term.Dim, label(name)+": "+p.short(v)))
			shown++
		}
	}
	return shown
}

func (p *printer) change(c *Change, name string, depth int) {
	note := ""
	if c.Replaces {
		note = p.Paint(term.Magenta, " (replaces)")
	}
	switch {
	case c.Kind == Added:
		p.whole(Added, depth, name, c.New, note)
	case c.Kind == Removed:
		p.whole(Removed, depth, name, c.Old, note)
	case c.Kind == Inside:
		p.line(Inside, depth, name+":")
		p.inside(c, depth+1)
	case c.Old.IsSecret() && c.New.IsSecret():
		p.line(c.Kind, depth, name+": "+mask+", another value"+note)
	case c.isSecret():
		p.line(c.Kind, depth, name+": "+p.becomes(besideSecret(c.Old), besideSecret(c.New))+note)
	case p.hidden.have(c.Old) || p.hidden.have(c.New):
		p.line(c.Kind, depth, name+": "+p.becomes(p.short(c.Old), p.short(c.New))+note)
	default:
		p.pair(c, name, depth, note)
	}
}

// notShown is printed in place of a plain value that may be the content of a secret.
const notShown = "(no secret, but not shown)"

// besideSecret formats the counterpart of a secret, masking it if it might reveal the secret.
func besideSecret(v lumigl.Value) string {
	switch {
	case v.IsSecret():
		return mask
	case v.IsUnknown():
		return unknown
	}
	return notShown
}

func (p *printer) becomes(old, new string) string {
	return p.Paint(term.Red, old) + " → " + p.Paint(term.Green, new)
}

// inside prints the changed parts of an object or a list.
func (p *printer) inside(c *Change, depth int) {
	if c.New.Kind() == lumigl.List {
		p.elements(c, depth)
		return
	}
	shown := p.identity(c, depth)
	if isFolder(c.New) || isJSON(c.New) {
		shown++ // the member that identifies it
	}
	p.members(c.Changes, lumigl.Value{}, depth, label)
	p.rest(c.New.Len()-shown, c.Changes, depth)
}

// elements prints the changed elements of a list with context.
func (p *printer) elements(c *Change, depth int) {
	from, to := 0, 0 // number of elements processed so far
	for i := range c.Changes {
		e := &c.Changes[i]
		same := e.From - from
		if e.Kind == Added {
			same = e.To - to
		}
		p.between(c.New, to, to+same, p.contextAfter(i), p.context, depth)
		from, to = from+same, to+same
		p.change(e, elementLabel(e), depth)
		if e.Kind != Added {
			from++
		}
		if e.Kind != Removed {
			to++
		}
	}
	p.between(c.New, to, c.New.Len(), p.context, 0, depth)
}

// contextAfter returns the number of context elements to print after change i-1.
func (p *printer) contextAfter(i int) int {
	if i == 0 {
		return 0
	}
	return p.context
}

// between prints the context between two changes and the number of omitted elements.
func (p *printer) between(list lumigl.Value, start, end, head, tail, depth int) {
	show := func(i int) { p.line(0, depth, p.Paint(term.Dim, fmt.Sprintf("[%d]: %s", i, p.short(list.At(i))))) }
	if end-start <= head+tail {
		head, tail = end-start, 0
	}
	for i := start; i < start+head; i++ {
		show(i)
	}
	p.fold(end-tail-(start+head), depth)
	for i := end - tail; i < end; i++ {
		show(i)
	}
}

func elementLabel(c *Change) string {
	switch {
	case c.To == NoIndex:
		return "[" + strconv.Itoa(c.From) + "]"
	case c.From == NoIndex || c.From == c.To:
		return "[" + strconv.Itoa(c.To) + "]"
	}
	return fmt.Sprintf("[%d → %d]", c.From, c.To)
}

// unknown is printed in place of an unknown value.
const unknown = "(known after apply)"

const (
	shortWidth = 72  // the maximum width of a list or object on one line
	pairWidth  = 96  // the maximum total width of an old and a new value on one line
	clipWidth  = 160 // the maximum length of a string or number that is shown whole, in bytes
)

// pair prints the old and new value, on one line if they are short.
func (p *printer) pair(c *Change, name string, depth int, note string) {
	was, is, what := c.Old, c.New, ""
	if c.New.IsAsset() && c.Old.IsAsset() {
		note = p.sameContent(c) + note
		if onlyText(c.Old) && onlyText(c.New) {
			was, is, what = c.Old.Get("text"), c.New.Get("text"), " asset text"
		}
	}
	if manyLines(was) && manyLines(is) && !p.hidden.have(was) && !p.hidden.have(is) {
		p.line(Changed, depth, name+":"+what+note)
		p.lines(was, is, depth+1)
		return
	}
	old, oldIsShort := p.inline(c.Old)
	new, newIsShort := p.inline(c.New)
	if !oldIsShort || !newIsShort {
		p.whole(Removed, depth, name, c.Old, note)
		p.whole(Added, depth, name, c.New, "")
		return
	}
	if c.Kind == Changed && c.Old.Kind() == c.New.Kind() && !c.Old.IsUnknown() {
		old, new = clipPair(c.Old, c.New, old, new)
	}
	if old == new && c.New.Kind() == lumigl.Object {
		p.line(Changed, depth, name+": "+old+note)
		p.members((&comparer{}).objects(c.Old, c.New), lumigl.Value{}, depth+1, label)
		return
	}
	if utf8.RuneCountInString(old)+utf8.RuneCountInString(new) <= pairWidth {
		p.line(c.Kind, depth, name+": "+p.becomes(old, new)+note)
		return
	}
	p.line(c.Kind, depth, name+": "+p.Paint(term.Red, old))
	p.write(strings.Repeat("  ", depth+1) + "→ " + p.Paint(term.Green, new) + note + "\n")
}

// onlyText reports whether an asset consists only of text.
func onlyText(asset lumigl.Value) bool {
	return asset.Get("text").Kind() == lumigl.Text && asset.Len() == 2
}

// manyLines reports whether a value is a string with several lines, which is compared line by line.
func manyLines(v lumigl.Value) bool {
	s, _ := v.Text()
	return strings.Contains(s, "\n")
}

// sameContent returns a note if the two assets have the same content, or "" otherwise.
func (p *printer) sameContent(c *Change) string {
	if h := c.New.Get("hash"); h.Kind() == lumigl.Text && h.Equal(c.Old.Get("hash")) {
		return p.Paint(term.Dim, " (same content)")
	}
	return ""
}

// lines prints the differences between two multi-line strings.
func (p *printer) lines(old, new lumigl.Value, depth int) {
	c := newComparer(false, match.Work(0))
	list := func(v lumigl.Value) (all []lumigl.Value) {
		s, _ := v.Text()
		for line := range strings.SplitAfterSeq(s, "\n") {
			if line != "" {
				all = append(all, lumigl.TextOf(line))
			}
		}
		return all
	}
	was, is := list(old), list(new)
	kept := c.kept(was, is)
	i, j, head := 0, 0, 0
	for _, k := range append(kept, link{len(was), len(is)}) {
		if i == k.a && j == k.b {
			i, j = i+1, j+1
			continue
		}
		p.sameLines(is[head:j], head > 0, true, depth)
		for ; i < k.a; i++ {
			p.line(Removed, depth, lineText(was[i]))
		}
		for ; j < k.b; j++ {
			p.line(Added, depth, lineText(is[j]))
		}
		i, j, head = k.a+1, k.b+1, k.b
	}
	if head < len(is) {
		p.sameLines(is[head:], true, false, depth)
	}
}

// sameLines prints the context within a run of unchanged lines. after and before are set if a change precedes and
// follows the run.
func (p *printer) sameLines(lines []lumigl.Value, after, before bool, depth int) {
	head, tail := 0, 0
	if after {
		head = p.context
	}
	if before {
		tail = p.context
	}
	if len(lines) <= head+tail {
		head, tail = len(lines), 0
	}
	for _, line := range lines[:head] {
		p.line(0, depth, p.Paint(term.Dim, lineText(line)))
	}
	p.fold(len(lines)-head-tail, depth)
	for _, line := range lines[len(lines)-tail:] {
		p.line(0, depth, p.Paint(term.Dim, lineText(line)))
	}
}

// lineText quotes a line, so that leading and trailing spaces are visible.
func lineText(v lumigl.Value) string {
	s, _ := v.Text()
	return clipped(s)
}

// whole prints an added or removed value in full.
func (p *printer) whole(kind Kind, depth int, name string, v lumigl.Value, note string) {
	if s, ok := p.inline(v); ok {
		p.line(kind, depth, name+": "+s+note)
		return
	}
	what := ""
	if isFolder(v) {
		what, v = " archive", v.Get("assets")
	}
	if computed, content := expr.Open(v); computed != "" {
		what, v = " "+term.Visible(computed), content
	}
	p.line(kind, depth, name+":"+what+note)
	if v.Kind() == lumigl.List {
		for i, e := range v.Elements() {
			p.whole(kind, depth+1, fmt.Sprintf("[%d]", i), e, "")
		}
		return
	}
	for _, m := range sortedMembers(v) {
		p.whole(kind, depth+1, label(m.Key), m.Value, "")
	}
}
