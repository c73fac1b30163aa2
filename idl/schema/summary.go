package schema

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/constraint"
)

// PropertyDoc returns the documentation of a property, ending with a summary of its constraints and of what a change
// does: "The port. From 1 to 65535. A change replaces the resource."
func PropertyDoc(p *Property) string {
	facts := limits(p.Constraints)
	if p.Replaces {
		facts = append(facts, "A change replaces the resource.")
	}
	if p.Fixed {
		facts = append(facts, "An update never changes it.")
	}
	return documented(p.Doc, facts)
}

// AliasDoc returns the documentation of an alias, ending with a summary of its constraints.
func AliasDoc(a *Alias) string { return documented(a.Doc, limits(a.Constraints)) }

// TypeDoc returns the documentation of a declaration, ending with a list of the errors that its rules report.
func TypeDoc(d Decl) string {
	doc := d.Head().Doc
	if rules := Rules(d); len(rules) > 0 {
		doc = strings.TrimRight(doc, "\n ") + "\n\nRules report these errors:"
		for _, r := range rules {
			doc += "\n  - " + r.Message
		}
	}
	return doc
}

// documented appends facts to the last paragraph of doc, or in a paragraph of their own if that is not a sentence.
func documented(doc string, facts []string) string {
	const width = 100
	doc, summary := strings.TrimRight(doc, "\n "), strings.Join(facts, " ")
	if doc == "" || summary == "" {
		return doc + summary
	}
	last := doc[strings.LastIndexByte(doc, '\n')+1:]
	first, _ := utf8.DecodeRuneInString(last)
	switch {
	case !unicode.IsLetter(first) || !strings.HasSuffix(last, "."):
		return doc + "\n\n" + summary
	case len(last)+len(summary) >= width:
		return doc + "\n" + summary
	}
	return doc + " " + summary
}

// limits returns a sentence for each constraint or pair of bounds.
func limits(c *Constraints) (facts []string) {
	if c == nil {
		return nil
	}
	say := func(parts ...string) {
		text := strings.Join(parts, "")
		first, size := utf8.DecodeRuneInString(text)
		facts = append(facts, string(unicode.ToUpper(first))+text[size:]+".")
	}
	bound := func(words string, n *float64) {
		if n != nil {
			say(words, constraint.FormatNumber(*n))
		}
	}
	if c.Min != nil && c.Max != nil {
		say("From ", constraint.FormatNumber(*c.Min), " to ", constraint.FormatNumber(*c.Max))
	} else {
		bound("At least ", c.Min)
		bound("At most ", c.Max)
	}
	bound("More than ", c.ExclusiveMin)
	bound("Less than ", c.ExclusiveMax)
	bound("A multiple of ", c.MultipleOf)
	count := func(least, most *int, one, many string) {
		words := func(n int) string {
			if n == 1 {
				return "1 " + one
			}
			return strconv.Itoa(n) + " " + many
		}
		switch {
		case least != nil && most != nil && *least == *most:
			say("Exactly ", words(*most))
		case least != nil && most != nil:
			say(strconv.Itoa(*least), " to ", words(*most))
		case least != nil:
			say("At least ", words(*least))
		case most != nil:
			say("At most ", words(*most))
		}
	}
	count(c.MinLength, c.MaxLength, "character", "characters")
	switch {
	case c.Says != "":
		say(c.Says)
	case c.Pattern != "":
		say("Matches `", c.Pattern, "`")
	}
	if what := constraint.FormatNoun(c.Format); what != "" {
		say(what)
	}
	count(c.MinItems, c.MaxItems, "element", "elements")
	if c.Unique {
		say("No equal elements")
	}
	count(c.MinProperties, c.MaxProperties, "entry", "entries")
	if c.KeyPattern != "" {
		say("Keys match `", c.KeyPattern, "`")
	}
	return facts
}
