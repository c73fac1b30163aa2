package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/expr"
)

// details prints all fields of a vertex.
func (v *Viewer) details(one *lumigl.Vertex) {
	out := v.Con.Out
	v.line(out.Paint(term.Bold, term.Visible(one.Key())))
	if v.snapshot() != nil {
		v.line(v.field("type", term.Visible(string(one.Type))))
		id := term.Visible(one.ID)
		if id == "" {
			id = out.Paint(term.Dim, "(none yet)")
		}
		v.line(v.field("id", id))
		if o := v.OlderOf(one); o != nil {
			v.line(v.field("version", o.String()))
		}
		if one.Source != "" {
			v.line(v.field("source", term.Visible(one.Source)))
		}
		v.options(one.Options)
	}
	v.bag("properties", one.Properties)
	if one.Extensions.Exists() {
		v.bag("extensions", one.Extensions)
	}
	if v.OlderOf(one) != nil {
		return // older versions contain no references
	}
	v.neighbors("uses", v.Index.Dependencies(one, false))
	v.neighbors("used by", v.Index.Dependents(one, false))
}

func (v *Viewer) options(options lumigl.Value) {
	if options.Len() == 0 {
		return
	}
	v.line("  " + v.Con.Out.Paint(term.Blue, "options:"))
	for name, option := range options.Members() {
		var parts []string
		add := func(before string, part lumigl.Value) {
			text, ok := part.Text()
			if text = term.Visible(text); !ok {
				text, _ = v.brief(part)
			}
			parts = append(parts, before+text)
		}
		for _, e := range option.Elements() {
			add("", e)
		}
		for key, m := range option.Members() {
			add(KeyText(key)+" ", m)
		}
		if option.Kind() == lumigl.Text {
			add("", option)
		}
		if len(parts) > 0 { // otherwise, the option is just true
			name += ": " + strings.Join(parts, ", ")
		}
		v.line("    " + name)
	}
}

// field formats a line with a label.
func (v *Viewer) field(name, text string) string {
	return "  " + v.Con.Out.Paint(term.Blue, name+":") + " " + text
}

func (v *Viewer) bag(name string, bag lumigl.Value) {
	if bag.Len() == 0 {
		v.line(v.field(name, v.Con.Out.Paint(term.Dim, "(none)")))
		return
	}
	v.value("  ", v.Con.Out.Paint(term.Blue, name+":"), bag)
}

func (v *Viewer) neighbors(what string, others []*lumigl.Vertex) {
	if len(others) == 0 {
		v.line(v.field(what, v.Con.Out.Paint(term.Dim, "(none)")))
		return
	}
	v.line("  " + v.Con.Out.Paint(term.Blue, fmt.Sprintf("%s %d:", what, len(others))))
	for _, other := range others {
		v.line("    " + v.label(other))
	}
}

// value prints a labeled value. Nested values follow on separate lines.
func (v *Viewer) value(indent, called string, value lumigl.Value) {
	if text, ok := v.brief(value); ok {
		v.line(indent + called + " " + text)
		return
	}
	if what, content := expr.Open(value); what != "" {
		called, value = called+" "+term.Visible(what), content
	}
	v.line(indent + called)
	indent += "  "
	for key, m := range value.Members() {
		v.value(indent, KeyText(key)+":", m)
	}
	for _, e := range value.Elements() {
		v.value(indent, "-", e)
	}
}

// brief formats a value on one line. It returns false for values with nested values.
func (v *Viewer) brief(value lumigl.Value) (string, bool) {
	out := v.Con.Out
	if value.IsSecret() {
		return out.Paint(term.Dim, "(secret)"), true
	}
	switch {
	case value.IsUnknown():
		return out.Paint(term.Dim, "(unknown)"), true
	case value.IsAsset():
		return out.Paint(term.Dim, "(asset: "+source(value)+hash(value)+")"), true
	case value.IsArchive():
		return out.Paint(term.Dim, "(archive: "+source(value)+hash(value)+")"), true
	}
	if value.IsExpression() {
		return v.expression(value)
	}
	if to, property, ok := value.Target(); ok {
		text := "→ " + v.label(to)
		if property != "" {
			text += "." + term.Visible(property)
		}
		return text, true
	}
	if value.Len() > 0 {
		return "", false
	}
	return scalar(value), true
}

// expression formats an expression on one line. It returns false if value is not an expression or encodes nested values
// as JSON.
func (v *Viewer) expression(value lumigl.Value) (string, bool) {
	fits := true
	text, ok := expr.Format(value, func(part lumigl.Value) string {
		if to, property, ok := part.Target(); ok && property != "" {
			return term.Visible(v.Name(to)) + "." + term.Visible(property)
		}
		text, brief := v.brief(part)
		fits = fits && brief
		return text
	})
	return text, ok && fits
}

func scalar(value lumigl.Value) string {
	switch value.Kind() {
	case lumigl.Object:
		return "{}"
	case lumigl.List:
		return "[]"
	case lumigl.Text:
		text, _ := value.Text()
		return quoted(text)
	case lumigl.Number:
		literal, _ := value.Literal()
		return literal
	case lumigl.Bool:
		if yes, _ := value.Bool(); yes {
			return "true"
		}
		return "false"
	}
	return "null"
}

// quoted returns text as a JSON string that is safe to print.
func quoted(text string) string {
	json, err := term.JSON(text)
	if err != nil {
		return `""`
	}
	return string(json)
}

// KeyText returns a key, quoted if it would otherwise be ambiguous or unsafe to print.
func KeyText(key string) string {
	for i := range len(key) {
		if !isWord(key[i]) {
			return quoted(key)
		}
	}
	if key == "" || term.Visible(key) != key {
		return quoted(key)
	}
	return key
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '$' || c == '-' || c == '+' || c == '.' || c >= utf8.RuneSelf
}

// source formats the source of an asset or archive.
func source(value lumigl.Value) string {
	for _, where := range []string{"path", "uri"} {
		if text, ok := value.Get(where).Text(); ok {
			return where + " " + quoted(text)
		}
	}
	if text, ok := value.Get("text").Text(); ok {
		return fmt.Sprintf("text of %s", console.Count(len(text), "byte"))
	}
	if assets := value.Get("assets"); assets.Exists() {
		const most = 5
		var names []string
		for name := range assets.Members() {
			if len(names) == most {
				names = append(names, fmt.Sprintf("and %d more", assets.Len()-most))
				break
			}
			names = append(names, KeyText(name))
		}
		return strings.Join(names, ", ")
	}
	return "empty"
}

// hash formats the recorded hash of an asset or archive. It returns "" if there is none.
func hash(value lumigl.Value) string {
	text, ok := value.Get("hash").Text()
	if !ok {
		return ""
	}
	return ", hash " + term.Visible(text)
}
