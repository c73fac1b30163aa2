package compile

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// tagWord is a meaning that a word in a lumi tag can have: one of our options, or something that other tools write in
// their tags. What the checker accepts, rejects and suggests all derives from [tagWords].
type tagWord struct {
	// option is the option of ours with that meaning, and slot is where it is stored. They are empty if there is none.
	option string
	slot   func(*options) *option
	// accepted is a second spelling of the option.
	accepted string
	// synonyms are the words of other tools, in lower case, without separators.
	synonyms []string
	// advice is the suggestion if there is no option.
	advice string
	// free is set if the synonyms are valid names, unless a value follows.
	free bool
}

var tagWords = []tagWord{
	{
		option: "optional", slot: func(o *options) *option { return &o.optional },
		synonyms: []string{"omitempty", "omitzero", "nullable", "notrequired", "opt"},
	},
	{
		option: "out", slot: func(o *options) *option { return &o.out },
		synonyms: []string{"computed", "output", "outputonly", "readonly"},
	},
	{
		option: "in", slot: func(o *options) *option { return &o.in },
		synonyms: []string{"inputonly", "writeonly"},
	},
	{
		option: "replaces", slot: func(o *options) *option { return &o.replaces }, accepted: "replace",
		synonyms: []string{
			"createonly", "forcenew", "forcereplace", "forcesreplacement", "immutable", "replaceonchange", "replaceonchanges",
			"requiresreplace",
		},
	},
	{
		option: "secret", slot: func(o *options) *option { return &o.secret },
		synonyms: []string{"confidential", "issecret", "masked", "noecho", "redacted", "secure", "sensitive"},
	},
	{
		synonyms: []string{"required"},
		advice:   "remove it: a property is required unless the tag says optional",
	},
	{
		synonyms: []string{"input"},
		advice:   "remove it: a property is an input unless the tag says out",
	},
	{
		synonyms: []string{"deprecated", "deprecationmessage"},
		advice:   "remove it, and add a paragraph to the field's comment that begins with \"Deprecated: \"",
	},
	{
		synonyms: []string{
			"exclusivemaximum", "exclusiveminimum", "format", "len", "length", "max", "maximum", "maxitems", "maxlength", "min",
			"minimum", "minitems", "minlength", "pattern", "range", "regex", "regexp", "uniqueitems", "validate",
		},
		advice: "remove it, and check the value in the provider's Check method",
		free:   true,
	},
	{
		synonyms: []string{"default"},
		advice:   "remove it, and fill in the default in the provider's Check method",
		free:     true,
	},
	{
		synonyms: []string{"enum", "oneof"},
		advice:   "remove it, and declare a string type with a constant for each value",
		free:     true,
	},
}

// optionOf returns the option that is spelt like text, or nil.
func optionOf(text string) *tagWord {
	for i := range tagWords {
		if w := &tagWords[i]; text != "" && (text == w.option || text == w.accepted) {
			return w
		}
	}
	return nil
}

// spellings returns all words with the meaning.
func (w *tagWord) spellings() []string {
	all := w.synonyms
	for _, own := range []string{w.option, w.accepted} {
		if own != "" {
			all = append([]string{own}, all...)
		}
	}
	return all
}

// spellings maps each word in [tagWords] to its meaning.
var spellings = func() map[string]*tagWord {
	all := map[string]*tagWord{}
	for i := range tagWords {
		for _, word := range tagWords[i].spellings() {
			all[word] = &tagWords[i]
		}
	}
	return all
}()

// reserved are the words that, like whatever is one edit away from them, are not names in the older dialect.
var reserved = func() []string {
	var all []string
	for i := range tagWords {
		if !tagWords[i].free {
			all = append(all, tagWords[i].spellings()...)
		}
	}
	return all
}()

// folded returns text in lower case, without separators, and with full-width characters, as East Asian keyboards have
// them, replaced by ASCII.
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

// short is the length up to which a word is one edit away from many others.
const short = 3

// meant returns the meaning of the word that text is or is one edit away from, or nil. With a value, only longer words
// may differ by an edit: none of our options has a value, and min=3 is not a misspelt in.
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

// suggested is like meant, but allows for more edits. It is for words that are errors anyway.
func suggested(text string, hasValue bool) *tagWord {
	w := meant(text, hasValue)
	switch {
	case w != nil:
	case spellings[folded(text)] != nil:
		w = spellings[folded(text)]
	case !hasValue && isIdentifier(text):
		w = spellings[suggest.Name(folded(text), reserved)]
	}
	return w
}

// joined matches folded text that consists of several options, such as optionalsecret.
var joined = func() *regexp.Regexp {
	var all []string
	for _, w := range tagWords {
		if w.option != "" {
			all = append(all, w.spellings()...)
		}
	}
	return regexp.MustCompile("^(?:" + strings.Join(all, "|") + "){2,}$")
}()

// contradicts reports whether the option excludes one of those that are set.
func (w *tagWord) contradicts(o *options) bool {
	switch w.option {
	case "out":
		return o.in.set() || o.replaces.set()
	case "in", "replaces":
		return o.out.set()
	}
	return false
}

// separated splits text at everything that can separate options by mistake.
func separated(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isNameRune(r) && r != '=' })
}

// optionList names all options, for messages.
var optionList = func() string {
	list := []string{"name=<name>"}
	for _, w := range tagWords {
		if w.option != "" {
			list = append(list, w.option)
		}
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}()
