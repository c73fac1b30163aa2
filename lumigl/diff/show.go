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

// members shows what differs in an object, and how much does not. The object is absent where that is of no interest.
func (p *printer) members(changes []Change, in lumigl.Value, depth int, show func(string) string) {
	for i := range changes {
		p.change(&changes[i], show(changes[i].Key), depth)
	}
	if in.Exists() {
		p.rest(in.Len(), changes, depth)
	}
}

// rest folds those of some parts that are in no change.
func (p *printer) rest(parts int, changes []Change, depth int) {
	for i := range changes {
		if changes[i].Kind != Removed {
			parts--
		}
	}
	p.fold(parts, depth)
}

// fold stands for what does not differ. It stands where the signs do of what does, so that both are seen to be parts of the
// same.
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

// names are keys that tell one element of a list from another.
var names = []string{"urn", "name", "id", "key"}

// identity shows what an element of a list is called, if that does not differ.
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

// change shows one change.
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
		p.line(c.Kind, depth, name+": "+p.becomes(beside(c.Old), beside(c.New))+note)
	case p.hidden.have(c.Old) || p.hidden.have(c.New):
		p.line(c.Kind, depth, name+": "+p.becomes(p.short(c.Old), p.short(c.New))+note)
	default:
		p.pair(c, name, depth, note)
	}
}

// notShown stands for a value that is no secret, and may be what is in one.
const notShown = "(no secret, but not shown)"

// beside shows one of two values of which one is a secret. The other one may give it away.
func beside(v lumigl.Value) string {
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

// inside shows the parts of an object or a list that differ.
func (p *printer) inside(c *Change, depth int) {
	if c.New.Kind() == lumigl.List {
		p.elements(c, depth)
		return
	}
	shown := p.identity(c, depth)
	if isFolder(c.New) || isJSON(c.New) {
		shown++ // what says that it is one
	}
	p.members(c.Changes, lumigl.Value{}, depth, label)
	p.rest(c.New.Len()-shown, c.Changes, depth)
}

// elements shows the elements of a list that differ, with some of those around them.
func (p *printer) elements(c *Change, depth int) {
	from, to := 0, 0 // how many elements have been dealt with
	for i := range c.Changes {
		e := &c.Changes[i]
		same := e.From - from
		if e.Kind == Added {
			same = e.To - to
		}
		p.between(c.New, to, to+same, p.contextBehind(i), p.context, depth)
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

// contextBehind is how many elements are shown behind the change before the i-th.
func (p *printer) contextBehind(i int) int {
	if i == 0 {
		return 0
	}
	return p.context
}

// between shows the first and the last of the elements between two changes, and how many others there are.
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

// unknown stands for a value that is not known yet.
const unknown = "(known after apply)"

// shortWidth is how long a value may be that is shown in a line with its key, and pairWidth how long two may be.
const (
	shortWidth = 72
	pairWidth  = 96
	clipWidth  = 160
)

// pair shows the old value and the new one: in one line, if they are short, and otherwise one below the other.
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

// onlyText reports whether an asset is a text and nothing else.
func onlyText(asset lumigl.Value) bool {
	return asset.Get("text").Kind() == lumigl.Text && asset.Len() == 2
}

// manyLines reports whether a value is a text of which the lines are compared.
func manyLines(v lumigl.Value) bool {
	s, _ := v.Text()
	return strings.Contains(s, "\n")
}

// sameContent says of two assets that only their names differ, if that is so.
func (p *printer) sameContent(c *Change) string {
	if h := c.New.Get("hash"); h.Kind() == lumigl.Text && h.Equal(c.Old.Get("hash")) {
		return p.Paint(term.Dim, " (same content)")
	}
	return ""
}

// lines shows how two texts of several lines differ.
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

// sameLines shows those lines of some that stand beside a change.
func (p *printer) sameLines(lines []lumigl.Value, behind, before bool, depth int) {
	head, tail := 0, 0
	if behind {
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

// lineText is a line in quotes, since the spaces at its ends matter.
func lineText(v lumigl.Value) string {
	s, _ := v.Text()
	return clipped(s)
}

// whole shows all of a value that was added or removed.
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
