package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// short formats a value on one line. For a value that is too long, it returns a description and the size.
func (p *printer) short(v lumigl.Value) string {
	if s, ok := p.inline(v); ok {
		return s
	}
	if isFolder(v) {
		return fmt.Sprintf("archive of %d", v.Get("assets").Len())
	}
	if v.Kind() == lumigl.List {
		return "[" + plural(v.Len(), "element") + "]"
	}
	for _, name := range names {
		if called := v.Get(name); called.Kind() == lumigl.Text {
			shown, _ := p.inline(called)
			return fmt.Sprintf("{%s: %s, … %d more}", label(name), shown, v.Len()-1)
		}
	}
	return "{" + plural(v.Len(), "member") + "}"
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// inline formats a value on one line. It returns false if the value is too long.
func (p *printer) inline(v lumigl.Value) (string, bool) {
	switch v.Kind() {
	case lumigl.Text:
		if v.IsUnknown() {
			return unknown, true
		}
		if p.hidden.have(v) {
			return notShown, true
		}
		s, _ := v.Text()
		return clipped(s), true
	case lumigl.Reference:
		return p.reference(v), true
	case lumigl.Number:
		if p.hidden.have(v) {
			return notShown, true
		}
		s, _ := v.Literal()
		return clip(s, 0, func(s string) string { return s }), true
	case lumigl.List, lumigl.Object:
		switch {
		case v.IsSecret():
			return mask, true
		case isFolder(v):
			return "", false
		case v.IsFile():
			return p.file(v), true
		case v.IsExpression():
			return p.expression(v)
		}
		return p.composite(v)
	}
	return string((&encoder{}).encode(v)), true
}

// composite formats a short, flat object or list on one line. It returns false for other values.
func (p *printer) composite(v lumigl.Value) (string, bool) {
	open, end := "[", "]"
	if v.Kind() == lumigl.Object {
		open, end = "{", "}"
	}
	if v.Len() == 0 {
		return open + end, true
	}
	if v.Len() > shortWidth/2 {
		return "", false
	}
	var parts []string
	width := 0
	add := func(before string, e lumigl.Value) bool {
		if (e.Kind() == lumigl.List || e.Kind() == lumigl.Object) && e.Len() > 0 && !e.IsSecret() {
			return false
		}
		s, _ := p.inline(e)
		width += utf8.RuneCountInString(before) + utf8.RuneCountInString(s) + 2
		parts = append(parts, before+s)
		return width <= shortWidth
	}
	for _, e := range v.Elements() {
		if !add("", e) {
			return "", false
		}
	}
	for _, m := range sortedMembers(v) {
		if !add(label(m.Key)+": ", m.Value) {
			return "", false
		}
	}
	return open + strings.Join(parts, ", ") + end, true
}

// reference formats a reference. It abbreviates URNs of the program being shown.
func (p *printer) reference(v lumigl.Value) string {
	target, property, _ := v.Target()
	key := urnLabel(target.Key())
	if p.prefix != "" {
		if rest, ok := strings.CutPrefix(key, p.prefix); ok {
			key = rest
		}
	}
	if property != "" {
		return "ref " + key + ", property " + quote(property)
	}
	return "ref " + key
}

// expression formats an expression on one line, including the argument of jsonStringify. It returns false if the text
// is too long.
func (p *printer) expression(v lumigl.Value) (string, bool) {
	fits := true
	text, ok := expr.Format(v, func(part lumigl.Value) string {
		if target, property, ok := part.Target(); ok && property != "" {
			name := target.URN().Name()
			if name == "" {
				name = target.Key()
			}
			return label(name) + "." + label(property)
		}
		text, short := p.inline(part)
		fits = fits && short
		return text
	})
	if !ok {
		return p.composite(v)
	}
	return text, fits
}

// file formats an asset or an archive without the parts of the archive.
func (p *printer) file(v lumigl.Value) string {
	what := "asset"
	if v.IsArchive() {
		what = "archive"
	}
	for _, key := range []string{"path", "uri", "text"} {
		if s := v.Get(key); s.Exists() {
			shown, _ := p.inline(s)
			what += " " + key + " " + shown
		}
	}
	if h, ok := v.Get("hash").Text(); ok {
		if len(h) > 12 {
			h = h[:12]
		}
		what += " hash " + strings.Trim(quote(h), `"`)
	}
	return what
}

// clipPair formats two strings or two numbers. It clips long ones around their first difference. For other values, it
// returns oldShown and newShown.
func clipPair(old, new lumigl.Value, oldShown, newShown string) (string, string) {
	show := quote
	var was, is string
	switch old.Kind() {
	case lumigl.Text:
		was, _ = old.Text()
		is, _ = new.Text()
	case lumigl.Number:
		show = func(s string) string { return s }
		was, _ = old.Literal()
		is, _ = new.Literal()
	default:
		return oldShown, newShown
	}
	if max(len(was), len(is)) <= clipWidth {
		return show(was), show(is)
	}
	same := 0
	for same < len(was) && same < len(is) && was[same] == is[same] {
		same++
	}
	return clip(was, same, show), clip(is, same, show)
}

// clipped quotes a string and clips the end if it is long.
func clipped(s string) string { return clip(s, 0, quote) }

// clip formats a string with show. It clips a long string around the given index.
func clip(s string, around int, show func(string) string) string {
	if len(s) <= clipWidth {
		return show(s)
	}
	start := max(0, min(around-clipWidth/4, len(s)-clipWidth/2))
	end := min(len(s), start+clipWidth/2)
	for start > 0 && !utf8.RuneStart(s[start]) {
		start--
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	shown := show(s[start:end])
	if start > 0 {
		shown = "…" + shown
	}
	if end < len(s) {
		shown += "…"
	}
	return fmt.Sprintf("%s (%d characters)", shown, utf8.RuneCountInString(s))
}
