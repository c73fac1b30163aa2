package compile

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/nearest"
)

// option is one element of a lumi tag.
type option struct {
	textRange
	text string
}

// options are what a lumi tag says. The zero option stands for one that is not there.
type options struct {
	name                                option // text is the name itself
	optional, out, in, replaces, secret option

	// unread says that something in the tag was not understood, so that an option may be missing here.
	unread bool
}

func (o option) set() bool { return o.text != "" }

// optionNames are all options, in the order in which they are documented.
var optionNames = []string{"name=", "optional", "out", "in", "replaces", "replace", "secret"}

// nearlyOptions are the options for which a first element is more probably a slip than a name in the older dialect.
var nearlyOptions = []string{"optional", "replaces", "replace"}

// foreignOptions are words that say in other tools what an option says here, and the options. As a first element, they
// would be names in the older dialect.
var foreignOptions = map[string]string{
	"computed": "out", "output": "out", "readonly": "out", "readOnly": "out",
	"input": "in", "writeOnly": "in",
	"forceNew": "replaces", "immutable": "replaces", "replaceOnChanges": "replaces",
	"sensitive": "secret",
}

// parseTag reads the lumi tag of a field; a field without one has no options. What is wrong is reported and left out.
func (c *checker) parseTag(f *ast.Field) options {
	var o options
	reported := len(c.diags)
	elements, _ := c.tagElements(f.Tag)
	for i, e := range elements {
		c.parseOption(&o, e, i == 0 && !isMistaken(e.text, f.Names))
	}
	o.unread = len(c.diags) > reported
	if o.out.set() {
		for _, other := range []option{o.in, o.replaces} {
			if other.set() {
				c.report(diag.ConflictingOptions, later(o.out, other), "a property that the provider sets cannot be %s too",
					map[bool]string{true: "input only", false: "a reason to replace"}[other == o.in]).
					Suggestion = "remove out or " + other.text
			}
		}
		o.in, o.replaces = option{}, option{}
	}
	return o
}

func later(a, b option) option {
	if a.from > b.from {
		return a
	}
	return b
}

// isMistaken reports whether a first element is more probably meant as an option than as a name in the older dialect:
// slips of options, and words of other tools where they are not just the names that the fields have anyway.
func isMistaken(text string, fields []*ast.Ident) bool {
	if slices.ContainsFunc(nearlyOptions, func(option string) bool { return oneEdit(text, option) }) {
		return true
	}
	if _, foreign := foreignOptions[text]; !foreign && text != "required" {
		return false
	}
	return !slices.ContainsFunc(fields, func(field *ast.Ident) bool { return schema.PropertyName(field.Name) == text })
}

// parseOption reads an element of a tag. It may be a name without name= where the dialect allows that.
func (c *checker) parseOption(o *options, e option, mayBeName bool) {
	var slot *option
	switch key, value, hasValue := strings.Cut(e.text, "="); {
	case key == "name" && hasValue:
		e.text = value
		slot = &o.name
		if !c.checkName(e) {
			return
		}
	case e.text == "optional":
		slot = &o.optional
	case e.text == "out":
		slot = &o.out
	case e.text == "in":
		slot = &o.in
	case e.text == "replaces", e.text == "replace":
		slot = &o.replaces
	case e.text == "secret":
		slot = &o.secret
	case mayBeName && !hasValue && e.text != "":
		slot = &o.name
		if !c.checkName(e) {
			return
		}
	default:
		c.rejectOption(e)
		return
	}
	if slot.set() {
		c.note(c.report(diag.RepeatedOption, e, "the tag says this twice"), slot, "it says so here already")
		return
	}
	*slot = e
}

func (c *checker) rejectOption(e option) {
	if e.text == "" {
		c.report(diag.MalformedTag, e, "an option of the tag is empty").Suggestion = "remove the comma, or the whole tag"
		return
	}
	key, value, hasValue := strings.Cut(strings.TrimSpace(e.text), "=")
	d := c.report(diag.UnknownOption, e, "the tag has no option %q", e.text)
	switch near := nearest.Name(key, optionNames); {
	case key == "required":
		d.Suggestion = "remove it: a property is required unless the tag says optional"
	case foreignOptions[key] != "":
		d.Suggestion = "write " + foreignOptions[key]
	case slices.Contains(optionNames, key) && !hasValue:
		d.Suggestion = "write " + key + " without spaces"
	case slices.Contains(optionNames, key):
		d.Suggestion = "write " + key + " without a value"
	case hasValue && nearest.Alike(key, "name", 2):
		d.Suggestion = "write name=" + strings.TrimSpace(value)
	case near != "" && near != "name=":
		d.Suggestion = "write " + near
	default:
		d.Suggestion = "the options are name=<name>, optional, out, in, replaces and secret"
	}
}

// checkName judges the name that a tag gives.
func (c *checker) checkName(e option) bool {
	if isIdentifier(e.text) {
		return true
	}
	d := c.report(diag.InvalidName, e, "%q is no name for a property", e.text)
	d.Suggestion = "use letters, digits, _ and $, and no digit first"
	return false
}

// isIdentifier reports whether a name can stand in TypeScript without quotes.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return name != ""
}

// tagElements finds the elements of the lumi tag and where each of them stands.
func (c *checker) tagElements(lit *ast.BasicLit) ([]option, bool) {
	if lit == nil {
		return nil, false
	}
	tag, err := strconv.Unquote(lit.Value)
	if err != nil {
		return nil, false // Go has said so
	}
	// Only in a raw string does the n-th byte of the tag stand at the n-th byte of the source.
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
	var elements []option
	for _, text := range strings.Split(value, ",") {
		elements = append(elements, option{at(start, start+len(text)), text})
		start += len(text) + 1
	}
	return elements, true
}

// lookupTag finds the value of the key lumi in a struct tag, and the offset of that value. The grammar of tags is that
// of package reflect, which passes over mistakes in silence; here they are reported.
func (c *checker) lookupTag(tag string, at func(from, to int) textRange) (value string, start int, found bool) {
	const hint = "write `lumi:\"option,option\"`"
	malformed := func(from int) (string, int, bool) {
		c.report(diag.MalformedTag, at(from, len(tag)), "the tag is no list of key:\"value\" pairs").Suggestion = hint
		return "", 0, false
	}
	pos := 0
	for {
		for pos < len(tag) && tag[pos] == ' ' {
			pos++
		}
		if pos == len(tag) {
			return value, start, found
		}
		keyStart := pos
		for pos < len(tag) && tag[pos] > ' ' && tag[pos] != ':' && tag[pos] != '"' && tag[pos] != 0x7f {
			pos++
		}
		key := tag[keyStart:pos]
		if key == "" || pos+1 >= len(tag) || tag[pos] != ':' || tag[pos+1] != '"' {
			return malformed(keyStart)
		}
		quoted, err := strconv.QuotedPrefix(tag[pos+1:])
		if err != nil {
			return malformed(keyStart)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return malformed(keyStart)
		}
		next := pos + 1 + len(quoted)
		if key != "lumi" && (strings.EqualFold(key, "lumi") || oneEdit(key, "lumi")) {
			c.report(diag.MalformedTag, at(keyStart, pos), "the tag has the key %s, which nobody reads", key).
				Suggestion = "write lumi"
			return "", 0, false
		}
		if key == "lumi" {
			if found {
				c.report(diag.MalformedTag, at(keyStart, next), "the tag has the key lumi twice").
					Suggestion = "put all options behind one"
				return "", 0, false
			}
			value, start, found = text, pos+2, true
		}
		if pos = next; pos < len(tag) && tag[pos] != ' ' {
			return malformed(pos) // package reflect would take it for a part of the next key
		}
	}
}
