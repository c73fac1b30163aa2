package compile

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// A directive is a comment line above a type, of the form //lumi:option,option. It sets options of the type.

const directivePrefix = "//lumi:"

// nearDirective matches misspelled directives: with extra white space, capitals, a block comment, the plus sign used by
// other tools, or another character instead of the colon.
var nearDirective = regexp.MustCompile(`^/[/*]\s*\+?(?i:lum[ie])(?:\s*[:=.;-]\s*((\w+)(?:=\S.*|,.*|$))|\s+((\w+)=\S.*))`)

// directiveOptions returns the options of a directive.
func directiveOptions(comment *ast.Comment) []option {
	start := comment.Slash + token.Pos(len(directivePrefix))
	text := strings.TrimRight(comment.Text[len(directivePrefix):], " \t\r")
	return splitOptions(text, 0, func(from, to int) textRange {
		return textRange{start + token.Pos(from), start + token.Pos(to)}
	})
}

// parseDirectives parses the directives in the comment groups above a declared type.
func (c *checker) parseDirectives(d *decl, groups ...*ast.CommentGroup) {
	var elements []option
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, comment := range g.List {
			if strings.HasPrefix(comment.Text, directivePrefix) && !strings.HasPrefix(comment.Text, packageDirective) {
				c.read[comment] = true
				if text := comment.Text[len(directivePrefix):]; ruleDirective.MatchString(text) {
					c.parseRule(d, strings.TrimRight(text, " \t\r"), comment.Slash+token.Pos(len(directivePrefix)))
					continue
				}
				elements = append(elements, directiveOptions(comment)...)
			}
		}
	}
	o := c.parseOptions("directive", elements, nil)
	for _, set := range o.list {
		if set.declares != nil {
			set.declares(d, set)
		} else if !c.rejectNameScope(set) && set.constrains == "" {
			c.report(diag.MisplacedDirective, set, "%s applies to properties, not to types", set.name).
				Suggestion = "move it to the tags of the properties"
		}
	}
	d.directives = c.withoutConflicts(constraintsIn(o.list))
}

// checkDirectives sets the constraints of aliases. It reports directives on types that do not support them and
// directives outside type comments.
func (c *checker) checkDirectives() {
	for _, d := range c.order {
		if d.kind == mixin && d.deprecated != nil {
			c.report(diag.MisplacedDirective, d.deprecated, "a mixin cannot be deprecated because it is not generated").
				Suggestion = "deprecate the structs that embed it"
		}
		a, ok := d.model.(*schema.Alias)
		switch {
		case len(d.directives) == 0:
		case ok:
			var p schema.Property
			for _, o := range d.directives {
				o.set(&p, o.value)
			}
			a.Constraints, c.aliased[a] = p.Constraints, d.directives
			c.constrained = append(c.constrained, constrainedType{&a.Target, d.directives})
		case d.model != nil || d.kind == mixin:
			c.report(diag.ConstraintType, d.directives[0], "%s applies to %s, not to %s", d.directives[0].name,
				schema.ConstraintValues(d.directives[0].name, d.directives[0].value), schema.ValuesOf(&schema.Ref{Decl: d.model})).Suggestion = "remove it"
		}
	}
	for _, s := range c.sources {
		for _, f := range s.files {
			for _, g := range f.Comments {
				for _, comment := range g.List {
					isIdentity := s.module.Path == "" && comment.Pos() < f.Package && strings.HasPrefix(comment.Text, packageDirective)
					if !isIdentity {
						c.checkStray(comment)
					}
				}
			}
		}
	}
}

// checkStray reports comment if it is a directive without effect or resembles one.
func (c *checker) checkStray(comment *ast.Comment) {
	if text := strings.TrimLeft(comment.Text, "/*+ \t"); c.read[comment] || len(text) < 3 || !strings.EqualFold(text[:3], "lum") {
		return // the common case
	}
	if strings.HasPrefix(comment.Text, directivePrefix) {
		help := "move it to the comment directly above a type; property options belong in the tag"
		if strings.HasPrefix(comment.Text, directivePrefix+"deprecated") {
			help = `start a paragraph of the comment with "` + deprecatedMark + `" instead`
		}
		if strings.HasPrefix(comment.Text, packageDirective) {
			help = "move it above the package clause of a file in the root of the IDL"
		}
		c.report(diag.MisplacedDirective, comment, "this directive has no effect here").Suggestion = help
		return
	}
	if rule := nearRule.FindStringSubmatch(comment.Text); rule != nil {
		c.report(diag.MisplacedDirective, comment, "directives must begin with exactly %s", directivePrefix).
			Suggestion = "write " + directivePrefix + "rule " + rule[1]
		return
	}
	m := nearDirective.FindStringSubmatch(strings.TrimSpace(strings.TrimSuffix(comment.Text, "*/")))
	if len(m) == 0 {
		return
	}
	options, first := m[1]+m[3], m[2]+m[4]
	if first == "unique" || first == "package" || constraintMeant(first, false) != nil {
		c.report(diag.MisplacedDirective, comment, "directives must begin with exactly %s", directivePrefix).
			Suggestion = "write " + directivePrefix + options
	}
}
