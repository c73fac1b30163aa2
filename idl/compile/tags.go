package compile

import (
	"cmp"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// tagWord describes a word in a lumi tag, which is either an option or a word used by other tools. Parsing, validation,
// suggestions, and the table of options in docs/idl.md are all derived from [tagWords].
type tagWord struct {
	// name is the option with this meaning. If there is none, only synonyms, advice, and free may be set.
	name string
	// doc describes the option in docs/idl.md.
	doc string
	// resources is set for options valid only on properties of resources.
	resources bool
	// constrains is the kind of value that a constraint applies to, such as "strings". It is empty for other options.
	constrains string
	// relates returns the list of related property names. It is nil for options other than relations.
	relates func(*schema.Property) *[]string
	// excludes lists the options that cannot be combined with this one.
	excludes []string
	// value is the placeholder for the value in messages, as in name=<name>. It is empty for options without a value.
	value string
	// valid reports whether the unquoted value is valid, and reports errors. Nil accepts any value.
	valid func(c *checker, at ast.Node, value string) bool
	// set stores a valid value in a property. It is nil for the option of markers.
	set func(p *schema.Property, value string)
	// declares applies the option to a declared type. It is nil for options that types do not support.
	declares func(d *decl, o setOption)
	// accepted is an alternative spelling of the option.
	accepted string
	// synonyms lists the words used by other tools, in lower case and without separators.
	synonyms []string
	// advice is the suggestion for words that correspond to no option.
	advice string
	// free is set if the synonyms are valid property names when no value follows.
	free bool
}

var tagWords = []tagWord{
	{
		name: "name", doc: "The name of the property, instead of the one derived from the field.",
		value: "<name>", valid: (*checker).checkName,
		set: func(p *schema.Property, name string) { p.Name = name },
	},
	{
		name: "optional", doc: "The property may be absent. The field must be a [pointer](#pointers), except for `any`.",
		set:      func(p *schema.Property, _ string) { p.Optional = true },
		synonyms: []string{"omitempty", "omitzero", "nullable", "notrequired", "opt"},
	},
	{
		name: "out", doc: "The provider computes the property; programs only read it.",
		set:       func(p *schema.Property, _ string) { p.Out = true },
		resources: true, excludes: []string{"in", "replaces"},
		synonyms: []string{"output", "outputonly", "readonly"},
	},
	{
		name: "fixed", doc: "The property is `out`, and an update never changes it, like an ARN.",
		set:       func(p *schema.Property, _ string) { p.Fixed = true },
		resources: true,
		synonyms:  []string{"usestateforunknown"},
	},
	{
		name: "computed", doc: "If a program does not set the optional property, the provider chooses a value and keeps it.",
		set:       func(p *schema.Property, _ string) { p.Computed = true },
		resources: true, excludes: []string{"out", "in", "default"},
	},
	{
		name: "in", doc: "The property is sent to the provider and never read back, like a password.",
		set:       func(p *schema.Property, _ string) { p.In = true },
		resources: true,
		synonyms:  []string{"inputonly", "writeonly"},
	},
	{
		name: "replaces", doc: "Changing the property replaces the resource.",
		set:       func(p *schema.Property, _ string) { p.Replaces = true },
		resources: true, accepted: "replace",
		synonyms: []string{
			"createonly", "forcenew", "forcereplace", "forcesreplacement", "immutable", "replaceonchange", "replaceonchanges",
			"requiresreplace",
		},
	},
	{
		name: "secret", doc: "The value is marked as secret on the wire and in state, and never printed.",
		set:      func(p *schema.Property, _ string) { p.Secret = true },
		synonyms: []string{"confidential", "issecret", "masked", "noecho", "redacted", "secure", "sensitive"},
	},
	limit("min", "At least `<number>`."),
	limit("exclusiveMin", "More than `<number>`.", "min"),
	limit("max", "At most `<number>`."),
	limit("exclusiveMax", "Less than `<number>`.", "max"),
	limit("multipleOf", "A multiple of `<number>`, except for rounding."),
	limit("minLength", "At least `<count>` Unicode characters."),
	limit("maxLength", "At most `<count>` Unicode characters."),
	limit("pattern", "A string that contains a match of the expression."),
	limit("says", "What a string that matches `pattern` is, for messages such as `must be a bucket name`."),
	limit("format", "A string in one of the [formats](#formats)."),
	limit("minItems", "At least `<count>` elements."),
	limit("maxItems", "At most `<count>` elements."),
	limit("unique", "No two elements are equal, with defaults filled in."),
	limit("minProperties", "At least `<count>` keys."),
	limit("maxProperties", "At most `<count>` keys."),
	limit("keyPattern", "Each key contains a match of the expression."),
	limit("equal", "Values that differ only in [spelling](#equality) are equal; for lists, `set` ignores their order."),
	{
		synonyms: []string{"required"},
		advice:   "remove it: properties are required unless marked optional",
	},
	{
		synonyms: []string{"input"},
		advice:   "remove it: properties are inputs unless marked out",
	},
	{
		name: "default", doc: "The value of an optional boolean, number, string, or enum that a program does not set.",
		value: "<value>", excludes: []string{"out"},
		set: func(p *schema.Property, value string) { p.Default = value }, // see checkDefaults
	},
	{
		name: "deprecated", doc: "Programs should no longer set the property; `<text>` names what to use instead.",
		value: "<text>", valid: (*checker).checkDeprecated,
		set:      func(p *schema.Property, text string) { p.Deprecated = text },
		declares: func(d *decl, o setOption) { d.deprecated = &o },
	},
	related("conflictsWith", "The other properties must be absent if this one is set.",
		func(p *schema.Property) *[]string { return &p.ConflictsWith }),
	related("requiredWith", "The other properties must be set if this one is.",
		func(p *schema.Property) *[]string { return &p.RequiredWith }),
	related("exactlyOneOf", "Exactly one of this and the other properties must be set; each of them needs the option.",
		func(p *schema.Property) *[]string { return &p.ExactlyOneOf }),
	{
		name: "was", doc: "Former names of the property, as stored in older state: `a`, or `'a,b'`.",
		value: "<names>", valid: validNames(diag.FormerName),
		set:      func(p *schema.Property, value string) { p.Was = namesIn(value) },
		declares: func(d *decl, o setOption) { d.was = &o },
	},
	{
		name: "nameScope", doc: "The property within which the [names of resources](#resources) are unique.",
		value: "<name>", valid: (*checker).checkName,
	},
	{
		synonyms: []string{"deprecated", "deprecationmessage"},
		advice:   "write deprecated=<text>",
	},
	{
		synonyms: []string{"len", "length", "range", "validate"},
		advice:   "use constraints such as min=1,max=10, or check the value in the provider's Check method",
		free:     true,
	},
	{
		synonyms: []string{"enum", "oneof"},
		advice:   "remove it, and declare a string type with a constant for each value",
		free:     true,
	},
}

// optionOf parses text as an option, exactly spelled. It returns the option and its value with any quotes, or nil if
// there is no such option.
func optionOf(text string) (w *tagWord, value string) {
	key, value, hasValue := strings.Cut(text, "=")
	for i := range tagWords {
		w := &tagWords[i]
		if key != "" && hasValue == (w.value != "") && (key == w.name || key == w.accepted) {
			return w, value
		}
	}
	return nil, ""
}

// These tables are derived from [tagWords]. Spellings maps each word to its meaning. Reserved lists words that are
// never property names in the older tag form, nor is anything within one edit of them. Joined matches several options
// written as one word, such as optionalsecret. OptionList lists all options for messages.
var spellings, reserved, joined, optionList = indexTagWords()

func indexTagWords() (meanings map[string]*tagWord, reserved []string, joined *regexp.Regexp, optionList string) {
	meanings = map[string]*tagWord{}
	var options, list []string
	for i := range tagWords {
		w := &tagWords[i]
		if w.value != "" { // without a value, its words are property names
			if w.constrains == "" && w.set != nil {
				list = append(list, w.name+"="+w.value)
			}
			continue
		}
		words := slices.Clone(w.synonyms)
		if w.name != "" {
			words = append([]string{w.name}, words...)
			if w.constrains == "" {
				list = append(list, w.name)
			}
		}
		if w.accepted != "" {
			words = append([]string{w.accepted}, words...)
		}
		for _, word := range words {
			meanings[word] = w
		}
		if w.name != "" {
			options = append(options, words...)
		}
		if !w.free {
			reserved = append(reserved, words...)
		}
	}
	list = append(list, someConstraint)
	last := len(list) - 1
	return meanings, reserved, regexp.MustCompile("^(?:" + strings.Join(options, "|") + "){2,}$"),
		strings.Join(list[:last], ", ") + ", and " + list[last]
}

// someConstraint represents all constraints in lists of options.
const someConstraint = "constraints such as min=<number>"

// constraintWords maps words for options with a value to these options. It contains other tools' words and the options'
// own names, in lower case.
var constraintWords = indexConstraints()

func indexConstraints() map[string]string {
	words := map[string]string{
		"minimum": "min", "exclusiveminimum": "exclusiveMin", "gte": "min", "gt": "exclusiveMin",
		"maximum": "max", "exclusivemaximum": "exclusiveMax", "lte": "max", "lt": "exclusiveMax",
		"minlen": "minLength", "maxlen": "maxLength", "regex": "pattern", "regexp": "pattern",
		"defaultvalue": "default", "deprecationmessage": "deprecated", "conflicts": "conflictsWith", "requires": "requiredWith",
		"formerly": "was", "renamedfrom": "was",
	}
	for _, w := range tagWords {
		if w.name != "name" && w.value != "" {
			words[strings.ToLower(w.name)] = w.name
		}
	}
	return words
}

// constraintSpelled returns the name of the option with a value that word spells, allowing one edit, or "" if there is
// none.
func constraintSpelled(word string) string {
	if name := constraintWords[folded(word)]; name != "" || spellings[folded(word)] != nil {
		return name
	}
	for _, known := range slices.Sorted(maps.Keys(constraintWords)) {
		if len(known) > short && oneEdit(folded(word), known) {
			return constraintWords[known]
		}
	}
	return ""
}

// constraintMeant returns the option with a value that word spells or, if nearly is set, resembles. It returns nil if
// there is none.
func constraintMeant(word string, nearly bool) *tagWord {
	name := constraintSpelled(word)
	if name == "" && nearly {
		name = constraintWords[suggest.Name(folded(word), slices.Sorted(maps.Keys(constraintWords)))]
	}
	i := slices.IndexFunc(tagWords, func(w tagWord) bool { return w.name == name })
	if name == "" || i < 0 {
		return nil
	}
	return &tagWords[i]
}

// folded converts text to lower case, removes separators, and replaces full-width characters, as typed on East Asian
// keyboards, with ASCII.
func folded(text string) string {
	const fullWidth = '！' - '!'
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r == '_', r == '-', unicode.IsSpace(r):
			return -1
		case '！' <= r && r <= '～':
			return r - fullWidth
		}
		return r
	}, text))
}

// short is the maximum length of words that are within one edit of many others.
const short = 3

// meant returns the meaning of text, allowing one edit, or nil if it has none. If a value follows, short words must
// match exactly: none of them takes a value, and min=3 is not a misspelled in.
func meant(text string, hasValue bool) *tagWord {
	word := folded(text)
	if w := spellings[word]; w != nil && (hasValue || !w.free) {
		return w
	}
	i := slices.IndexFunc(reserved, func(known string) bool {
		return (!hasValue || len(known) > short) && oneEdit(word, known)
	})
	if i < 0 {
		return nil
	}
	return spellings[reserved[i]]
}

// suggested is like meant, but allows more edits. Use it only for words already known to be errors.
func suggested(text string, hasValue bool) *tagWord {
	w := cmp.Or(meant(text, hasValue), spellings[folded(text)])
	if w == nil && !hasValue && isIdentifier(text) {
		w = spellings[suggest.Name(folded(text), reserved)]
	}
	return w
}

// separated splits text at every character that may have been meant to separate options.
func separated(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isNameRune(r) && r != '=' })
}
