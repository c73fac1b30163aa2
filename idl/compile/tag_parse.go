package compile

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// option is an unparsed element of a lumi tag or directive.
type option struct {
	textRange
	text string
	// afterQuote is set if the value of the previous element is quoted.
	afterQuote bool
}

// setOption is a valid option and its value.
type setOption struct {
	option
	*tagWord
	value string // "" for options without a value
}

// options holds the valid options of a lumi tag or of a type's directives.
type options struct {
	list []setOption
	// where is the word for messages: "tag" or "directive".
	where string

	// unread is set if the tag has errors, in which case options may be missing.
	unread bool
}

// find returns the option with the given name, or nil.
func (o *options) find(name string) *setOption {
	for i := range o.list {
		if o.list[i].name == name {
			return &o.list[i]
		}
	}
	return nil
}

// before returns the option directly before e if its value may contain commas, or else nil.
func (o *options) before(e option) *setOption {
	i := slices.IndexFunc(o.list, func(p setOption) bool {
		return p.to+1 == e.from && p.tagWord.value != "" && p.constrains == "" && p.name != "name"
	})
	if i < 0 {
		return nil
	}
	return &o.list[i]
}

// parseTag parses the lumi tag of a field. Invalid options are reported and skipped.
func (c *checker) parseTag(d *decl, f *ast.Field) options {
	if f.Tag == nil {
		return options{where: "tag"}
	}
	var names []string
	for _, name := range f.Names {
		names = append(names, schema.PropertyName(name.Name))
	}
	if d.hasResource() {
		names = append(names, engineNames...) // rejected by checkReserved
	}
	reported := len(c.diags)
	elements, _ := c.tagElements(f.Tag)
	o := c.parseOptions("tag", elements, names)
	o.list = slices.DeleteFunc(o.list, c.rejectNameScope)
	o.unread = len(c.diags) > reported
	o.list = c.withoutConflicts(o.list)
	return o
}

// parseOptions parses the elements of a tag or directive. The first element of a tag may be one of names, without
// name=.
func (c *checker) parseOptions(where string, elements []option, names []string) options {
	o := options{where: where}
	var unknown []int
	for i, e := range elements {
		if !c.parseOption(&o, e, i == 0 && where == "tag", names) {
			unknown = append(unknown, i)
		}
	}
	suggested := o
	for _, i := range unknown {
		c.rejectOption(&suggested, elements[i], i == 0 && where == "tag")
	}
	return o
}

// withoutConflicts reports each pair of conflicting options and returns list without one option of each pair.
func (c *checker) withoutConflicts(list []setOption) []setOption {
	for _, a := range list {
		for _, excluded := range a.excludes {
			i := slices.IndexFunc(list, func(b setOption) bool { return b.name == excluded })
			if i < 0 {
				continue
			}
			b := list[i]
			if excluded == "out" { // keep out: without it, a pointer would seem to require optional
				i = slices.IndexFunc(list, func(s setOption) bool { return s.tagWord == a.tagWord })
			}
			later := slices.MaxFunc([]option{a.option, b.option}, func(a, b option) int { return cmp.Compare(a.from, b.from) })
			c.report(diag.ConflictingOptions, later, "%s cannot be combined with %s", a.text, b.text).
				Suggestion = "remove " + a.text + " or " + b.text
			if i >= 0 {
				list = slices.Delete(slices.Clone(list), i, i+1)
			}
		}
	}
	return list
}

// isName reports whether the first element of a tag is a property name, as in the older tag form: either one of names,
// or a word that resembles no option of this or any other tool.
func isName(text string, names []string) bool {
	isOption := func(word string) bool {
		return meant(word, false) != nil || constraintSpelled(word) != "" || joined.MatchString(folded(word))
	}
	return slices.Contains(names, text) || strings.TrimSpace(text) != "" && !strings.ContainsAny(text, "=:") &&
		!isOption(text) && !slices.ContainsFunc(separated(text), isOption)
}

// parseOption parses an element of a tag and adds the option to o. It returns false for an unknown option. The first
// element may be a property name without name=.
func (c *checker) parseOption(o *options, e option, first bool, names []string) bool {
	w, value := optionOf(e.text)
	if w == nil && first && isName(e.text, names) {
		w, value = optionOf("name=" + e.text)
	}
	if w == nil {
		return false
	}
	value, paired := unquote(value)
	if !paired {
		c.report(diag.MalformedTag, e, "unbalanced single quote in the value of %s", w.name).
			Suggestion = "put quotes around the whole value: " + w.name + "='…'; write a quote inside it as ''"
		return true
	}
	if w.valid != nil && !w.valid(c, e, value) {
		return true
	}
	if other := o.find(w.name); other != nil {
		c.note(c.report(diag.RepeatedOption, e, "repeated option"), other, "first set here")
		return true
	}
	o.list = append(o.list, setOption{e, w, value})
	return true
}

// unquote removes single quotes around value and replaces doubled quotes inside it with single ones. It returns false if
// the quotes are unbalanced.
func unquote(value string) (string, bool) {
	quoted, opened := strings.CutPrefix(value, "'")
	if !opened {
		return value, !strings.HasSuffix(value, "'")
	}
	end := closingQuote(quoted)
	return strings.ReplaceAll(quoted[:max(end, 0)], "''", "'"), end >= 0 && end == len(quoted)-1
}

// closingQuote returns the offset of the closing quote in s, which is at the end or before a comma. It returns -1 if
// there is none.
func closingQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\'':
		case strings.HasPrefix(s[i+1:], "'"):
			i++
		case i == len(s)-1 || s[i+1] == ',':
			return i
		}
	}
	return -1
}

// doubled escapes text for use inside single quotes.
func doubled(text string) string { return strings.ReplaceAll(text, "'", "''") }

// contradicts reports whether w conflicts with an option in o. It returns whichever of the two excludes the other, or
// nil if there is no conflict.
func (w *tagWord) contradicts(o *options) *tagWord {
	for _, other := range o.list {
		switch {
		case slices.Contains(w.excludes, other.name):
			return w
		case slices.Contains(other.excludes, w.name):
			return other.tagWord
		}
	}
	return nil
}

// rejectOption reports an unknown option. Its suggestion takes the tag's other options into account; a suggested option
// is added to o.
func (c *checker) rejectOption(o *options, e option, first bool) {
	text := strings.Trim(strings.TrimSpace(e.text), "\"`")
	if text == "" {
		c.report(diag.MalformedTag, e, "empty option in the %s", o.where).Suggestion = "remove the comma, or the whole " + o.where
		return
	}
	d := c.report(diag.UnknownOption, e, "unknown %s option %q", o.where, e.text)
	if e.afterQuote && strings.HasSuffix(text, "'") {
		d.Suggestion = "if it belongs to the preceding value, write each quote in that value as ''"
		return
	}
	key, value := text, ""
	if i := strings.IndexAny(text, "=:"); i >= 0 {
		key, value = strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
	}
	hasValue := key != text
	named := o.find("name") != nil
	couldBeName := first && isIdentifier(e.text) && !named
	w, several := suggested(key, hasValue), separated(text)
	isJoined := joined.MatchString(folded(key))
	if isJoined {
		w = nil // even if it resembles a single option
	}
	valueIsOption, _ := optionOf(value)
	limit := constraintMeant(key, w == nil && !isJoined && hasValue)
	switch {
	case o.where == "directive" && limit == nil && o.before(e) == nil && (w == nil || w.constrains == ""):
		d.Suggestion = "types accept rule, deprecated=<text>, was=<names>, and " + someConstraint
		return
	case o.where == markerTag && limit == nil && o.before(e) == nil:
		d.Suggestion = nameOptions
		return
	case limit != nil && o.find(limit.name) != nil:
		d.Suggestion = "remove it: " + limit.name + " is already set"
		return
	case limit != nil && value == "":
		d.Suggestion = "give it a value: " + limit.name + "=" + limit.value
	case limit != nil:
		if strings.HasPrefix(limit.value, "'") {
			value = inQuotes(value)
		}
		d.Suggestion = "write " + limit.name + "=" + value
		o.list = append(o.list, setOption{e, limit, value})
		return
	case w == nil && hasValue && suggest.Alike(key, "name", 2) && isIdentifier(value):
		d.Suggestion = "write name=" + value
		if named {
			d.Suggestion = "remove it: the name is already set"
		}
		return
	case w == nil && o.before(e) != nil:
		d.Suggestion = "if it belongs to " + o.before(e).name + ", put quotes around the value, as in " + o.before(e).name + "='a,b'"
		return
	case w == nil && len(several) > 1, valueIsOption != nil && valueIsOption.value == "":
		d.Suggestion = separateOptions(o, e, several, first)
		return
	case isJoined:
		d.Suggestion = separate
	case w == nil:
		d.Suggestion = "valid options are " + optionList
	case w.name == "":
		d.Suggestion = w.advice
	case o.find(w.name) != nil:
		d.Suggestion = "remove it: " + w.name + " is already set"
	case w.contradicts(o) != nil:
		either := w.contradicts(o)
		d.Suggestion = "remove it: " + either.name + " cannot be combined with " + strings.Join(either.excludes, " or ")
		if couldBeName {
			d.Suggestion = "write name=" + text + ", or remove it"
		}
		return
	case hasValue:
		d.Suggestion = "write " + w.name + ", without a value, or remove it"
	case key == w.name || key == w.accepted:
		d.Suggestion = "write " + key + ", without spaces"
	default:
		d.Suggestion = "write " + w.name
	}
	if w != nil && w.name != "" {
		o.list = append(o.list, setOption{option: e, tagWord: w})
	}
	if couldBeName {
		d.Suggestion += "; if that is the property's name, write name=" + text
	}
}

const separate = "separate options with commas"

// separateOptions suggests commas between the options in words. The first word of a tag may be a property name.
func separateOptions(o *options, e option, words []string, first bool) string {
	var list []string
	for i, word := range words {
		w, name := suggested(word, false), strings.TrimPrefix(word, "name=")
		if (name != word || w == nil && first && i == 0) && isIdentifier(name) {
			w, _ = optionOf("name=" + name)
		}
		if w == nil || w.name == "" || o.find(w.name) != nil || w.contradicts(o) != nil {
			return separate + "; valid options are " + optionList
		}
		o.list = append(o.list, setOption{option: e, tagWord: w})
		if w.value == "" {
			word = w.name
		}
		list = append(list, word)
	}
	return "write " + strings.Join(list, ",") + "; commas separate options"
}

// checkName reports whether name is a valid property name, and reports an error if not.
func (c *checker) checkName(at ast.Node, name string) bool {
	if isIdentifier(name) {
		return true
	}
	d := c.report(diag.InvalidName, at, "invalid property name %q", name)
	d.Suggestion = "use letters, digits, _ and $, do not begin with a digit, and separate options with commas"
	return false
}

// isIdentifier reports whether TypeScript allows name without quotes.
func isIdentifier(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return name != "" && !unicode.IsDigit(first) && !strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) })
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// tagElements returns the elements of the lumi tag in lit with their positions. It returns false if there is no lumi
// tag or the tag is malformed.
func (c *checker) tagElements(lit *ast.BasicLit) ([]option, bool) {
	if lit == nil {
		return nil, false
	}
	tag, err := strconv.Unquote(lit.Value)
	if err != nil {
		return nil, false // reported by Go
	}
	// Byte offsets in the tag match those in the source only for raw strings.
	whole := func(from, to int) textRange { return textRange{lit.Pos(), lit.End()} }
	at := whole
	if strings.HasPrefix(lit.Value, "`") && !strings.Contains(tag, "\n") && len(tag)+2 == len(lit.Value) {
		at = func(from, to int) textRange {
			return textRange{lit.Pos() + token.Pos(1+from), lit.Pos() + token.Pos(1+to)}
		}
	}
	value, start, ok := c.lookupTag(tag, at)
	if !ok {
		return nil, false
	}
	if !strings.HasPrefix(tag[start:], value) {
		at = whole // the value has escapes
	}
	return splitOptions(value, start, at), true
}

// splitOptions splits value at commas outside single quotes. Start is the offset of value in the tag.
func splitOptions(value string, start int, at func(from, to int) textRange) []option {
	var elements []option
	afterQuote := false
	for more := true; more; {
		text, _, _ := strings.Cut(value, ",")
		isQuoted := false
		if key, _, _ := strings.Cut(text, "='"); len(key) < len(text) && !strings.ContainsAny(key, "='") {
			from := len(key) + len("='")
			if end := closingQuote(value[from:]); end >= 0 {
				text, isQuoted = value[:from+end+1], true
			}
		}
		elements = append(elements, option{at(start, start+len(text)), text, afterQuote})
		afterQuote = isQuoted
		start += len(text) + 1
		_, more = strings.CutPrefix(value[len(text):], ",")
		value = value[min(len(text)+1, len(value)):]
	}
	return elements
}

// lookupTag returns the value of the key lumi in a struct tag and its offset. It parses the tag like package reflect,
// but reports syntax errors, which reflect ignores.
func (c *checker) lookupTag(tag string, at func(from, to int) textRange) (value string, start int, found bool) {
	malformed := func(from int) (string, int, bool) {
		d := c.report(diag.MalformedTag, at(from, len(tag)), "the tag is not a list of key:\"value\" pairs")
		d.Suggestion = "expected `lumi:\"option,option\"`"
		if strings.Contains(tag[from:], `\`) {
			d.Suggestion += `; write each backslash twice, as in \\d`
		}
		return "", 0, false
	}
	for pos := 0; ; {
		pos = len(tag) - len(strings.TrimLeft(tag[pos:], " "))
		if pos == len(tag) {
			return value, start, found
		}
		key, rest, _ := strings.Cut(tag[pos:], ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil || quoted[0] != '"' || key == "" || strings.ContainsFunc(key, notInKey) {
			return malformed(pos)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return malformed(pos)
		}
		end := pos + len(key)
		next := end + len(":") + len(quoted)
		switch {
		case key != "lumi" && (strings.EqualFold(key, "lumi") || oneEdit(key, "lumi")):
			c.report(diag.MalformedTag, at(pos, end), "unknown tag key %s", key).Suggestion = "write lumi"
			return "", 0, false
		case key == "lumi" && found:
			c.report(diag.MalformedTag, at(pos, next), "duplicate tag key lumi").Suggestion = "put all options in one"
			return "", 0, false
		case key == "lumi":
			value, start, found = text, end+len(`:"`), true
		}
		if pos = next; pos < len(tag) && tag[pos] != ' ' {
			return malformed(pos) // reflect would treat the text as part of the next key
		}
	}
}

func notInKey(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f }
