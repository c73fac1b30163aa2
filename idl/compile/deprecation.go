package compile

import (
	"go/ast"
	"slices"
	"strings"
	"unicode"

	"github.com/lumi-idl/lumi/idl/diag"
)

const deprecatedMark = "Deprecated: "

// deprecation removes the first paragraph that starts with "Deprecated: " from doc. It returns the rest of doc and the
// text of that paragraph, joined to one line.
func deprecation(doc string) (rest, text string) {
	if !strings.Contains(doc, deprecatedMark) { // the common case
		return doc, ""
	}
	paragraphs := strings.Split(doc, "\n\n")
	for i, p := range paragraphs {
		after, found := strings.CutPrefix(strings.TrimLeft(p, "\n"), deprecatedMark)
		if text = strings.Join(strings.Fields(after), " "); found && text != "" {
			return strings.Trim(strings.Join(slices.Delete(paragraphs, i, i+1), "\n\n"), "\n"), text
		}
	}
	return doc, ""
}

// checkDeprecated reports whether text is valid for the option deprecated: a nonempty line without surrounding white
// space. It reports an error if not.
func (c *checker) checkDeprecated(at ast.Node, text string) bool {
	if strings.TrimSpace(text) == text && text != "" && !strings.ContainsFunc(text, unicode.IsControl) {
		return true
	}
	c.report(diag.DeprecatedText, at, "deprecated= needs a one-line text").Suggestion = "name what to use instead, as in deprecated='use size'"
	return false
}

// rejectDeprecated reports the option deprecated on a declaration whose comment already deprecates it.
func (c *checker) rejectDeprecated(at ast.Node, name string) {
	c.report(diag.RepeatedOption, at, "%s is deprecated twice", name).
		Suggestion = `remove it, or the paragraph of the comment that begins with "` + deprecatedMark + `"`
}
