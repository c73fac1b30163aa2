package compile

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// textRange is a range of source text without its own syntax node, such as an option inside a tag.
type textRange struct{ from, to token.Pos }

func (r textRange) Pos() token.Pos { return r.from }
func (r textRange) End() token.Pos { return r.to }

// report adds an error at a node. The caller may add notes and a suggestion to the returned diagnostic.
func (c *checker) report(code diag.Code, at ast.Node, format string, args ...any) *diag.Diagnostic {
	return c.reportAt(code, c.span(at), format, args...)
}

// reportAt is like report, but takes a span instead of a node.
func (c *checker) reportAt(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Severity: diag.Error, Span: at, Message: fmt.Sprintf(format, args...)}
	c.diags = append(c.diags, d)
	c.reported[code] = true
	return d
}

// didYouMean formats a suggested name for a message. It returns "" if name is empty.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "did you mean " + name + "?"
}

// note adds a note to d, usually to point at the other of two conflicting places.
func (c *checker) note(d *diag.Diagnostic, at ast.Node, format string, args ...any) {
	d.Notes = append(d.Notes, diag.Note{Span: c.span(at), Message: fmt.Sprintf(format, args...)})
}

func (c *checker) has(code diag.Code) bool { return c.reported[code] }

func (c *checker) hasAt(code diag.Code, at diag.Span) bool {
	return slices.ContainsFunc(c.diags, func(d *diag.Diagnostic) bool { return d.Code == code && d.Span == at })
}

// sorted returns the diagnostics in source order, without those caused by others.
func (c *checker) sorted() []diag.Diagnostic {
	list := make([]diag.Diagnostic, 0, len(c.diags))
	for _, d := range c.diags {
		if c.secondMarker(d) {
			continue
		}
		if recursive := d.Code == diag.GoType && strings.HasPrefix(d.Message, "invalid recursive type"); recursive {
			if c.throughResource(d) {
				continue // cycles through resources are reported as ResourceByValue
			}
			d.Suggestion = "break the cycle with a pointer, a list, or a map"
		}
		list = append(list, *d)
	}
	return diag.Sort(list)
}

// redeclared matches the go/types error about two fields with the same name.
var redeclared = regexp.MustCompile(`^\w+ redeclared$`)

// secondMarker reports whether d is Go's error about a second embedded marker, already reported as MultipleMarkers.
func (c *checker) secondMarker(d *diag.Diagnostic) bool {
	if d.Code != diag.GoType || !redeclared.MatchString(d.Message) {
		return false
	}
	return slices.ContainsFunc(c.diags, func(other *diag.Diagnostic) bool {
		return other.Code == diag.MultipleMarkers && other.Span.End == d.Span.End
	})
}

// throughResource reports whether a resource is part of the type cycle reported by Go in circle.
func (c *checker) throughResource(circle *diag.Diagnostic) bool {
	for _, d := range c.order {
		at := c.span(d.spec.Name)
		if d.marker != noMarker && (circle.Span == at || slices.ContainsFunc(circle.Notes, func(n diag.Note) bool {
			return n.Span == at
		})) {
			return true
		}
	}
	return false
}

func (c *checker) span(at ast.Node) diag.Span {
	return diag.Span{Start: c.position(at.Pos()), End: c.position(at.End())}
}

// position converts a position for a diagnostic. It ignores line directives, since users edit the file that contains
// them.
func (c *checker) position(pos token.Pos) diag.Position {
	p := c.fset.PositionFor(pos, false)
	name := p.Filename
	if rel := c.rel(name); rel != "" {
		name = c.tree.display(rel)
	} else if rel, err := filepath.Rel(c.tree.root, name); err == nil {
		name = filepath.Join(c.tree.arg, rel)
	}
	return diag.Position{File: name, Line: p.Line, Column: p.Column}
}

// schemaPos converts a position for the model, ignoring line directives.
func (c *checker) schemaPos(pos token.Pos) schema.Position {
	p := c.fset.PositionFor(pos, false)
	return schema.Position{Line: p.Line, Column: p.Column}
}

// docText returns the text of the first nonempty comment, without comment markers or trailing white space. The result
// is valid UTF-8.
func docText(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g == nil || unterminated(g.List[len(g.List)-1].Text) {
			continue // go/ast panics on unterminated comments, which are reported as syntax errors
		}
		lines := strings.Split(strings.ToValidUTF8(g.Text(), string(utf8.RuneError)), "\n")
		for i, line := range lines {
			lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
		}
		if strings.HasPrefix(g.List[0].Text, "/*") {
			lines[0] = strings.TrimLeft(lines[0], " \t") // go/ast removes the leading space only from line comments
		}
		if text := strings.Trim(strings.Join(lines, "\n"), "\n"); text != "" {
			return text
		}
	}
	return ""
}

func unterminated(comment string) bool {
	return strings.HasPrefix(comment, "/*") && (len(comment) < len("/**/") || !strings.HasSuffix(comment, "*/"))
}

// oneEdit reports whether a and b differ by exactly one insertion, deletion, substitution, or transposition.
func oneEdit(a, b string) bool {
	if n := utf8.RuneCountInString(a) - utf8.RuneCountInString(b); n < -1 || n > 1 {
		return false // a cheap check, since the strings may be long
	}
	return suggest.Distance(a, b) == 1
}
