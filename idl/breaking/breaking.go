// Package breaking compares two versions of an IDL and reports breaking changes.
//
// [Compare] matches the declarations, properties, and values of the two versions and applies one rule per field of the
// model in package schema. Each [Finding] has a code listed in the [Catalog]. An [AllowList] suppresses accepted
// findings.
//
// The rules for declarations are in rules.go, the rules for properties in properties.go.
package breaking

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/catalog"
)

// files contains one Markdown file per code. Each describes the change and its impact, with an old and a new IDL as an
// example.
//
//go:embed catalog
var files embed.FS

// Catalog returns the documentation of all codes. Each entry has the headings "## Old" and "## New".
func Catalog() catalog.Catalog { return catalog.New("breaking change", files, "catalog") }

// Severity is the certainty with which a change breaks something.
type Severity int

// The severities.
const (
	None     Severity = iota
	MayBreak          // some uses of the changed element break
	Breaks            // every use of the changed element breaks
)

// MarshalText returns "none", "may break", or "breaks".
func (s Severity) MarshalText() ([]byte, error) {
	return []byte([...]string{"none", "may break", "breaks"}[s]), nil
}

// Impact states how a change affects each kind of user.
type Impact struct {
	// Programs applies to TypeScript source written for the old package and compiled against the new one.
	Programs Severity `json:"programs"`
	// Provider applies to Go source written for the old stubs and compiled against the new ones.
	Provider Severity `json:"provider"`
	// Wire applies to programs built with the old package and deployed with a provider built with the new stubs.
	Wire Severity `json:"wire"`
	// Deployed applies to existing resources and their state.
	Deployed Severity `json:"deployed"`
}

// Audiences lists the audiences that a change can break, by their JSON names in [Impact].
var Audiences = []string{"programs", "provider", "wire", "deployed"}

// Concerns reports whether a change breaks or may break any of the given audiences.
func (i Impact) Concerns(audiences []string) bool {
	for j, severity := range i.all() {
		if severity != None && slices.Contains(audiences, Audiences[j]) {
			return true
		}
	}
	return false
}

func (i Impact) all() []Severity { return []Severity{i.Programs, i.Provider, i.Wire, i.Deployed} }

// String formats the impact as a clause, such as "breaks programs and the wire; may break providers".
func (i Impact) String() string {
	var clauses []string
	for _, s := range []Severity{Breaks, MayBreak} {
		var whom []string
		for j, severity := range i.all() {
			if severity == s {
				whom = append(whom, []string{"programs", "providers", "the wire", "deployed resources"}[j])
			}
		}
		if n := len(whom); n > 0 {
			verb, _ := s.MarshalText()
			list := strings.TrimPrefix(strings.Join(whom[:n-1], ", ")+" and "+whom[n-1], " and ")
			clauses = append(clauses, string(verb)+" "+list)
		}
	}
	return strings.Join(clauses, "; ")
}

// Finding is a change that breaks or may break something.
type Finding struct {
	// Diagnostic is an error if the change breaks something, and a warning if it only may. Its span is in the new
	// version. For a removed element, the span covers the enclosing declaration or, failing that, the element in the
	// old version. If both versions have a position, a note gives the old one.
	diag.Diagnostic
	// Symbol names the changed declaration, such as "ec2.Instance", or a part of it, such as "ec2.Instance.size" or
	// "ec2.Tenancy.TenancyHost". Declarations in the root folder have no prefix.
	Symbol string `json:"symbol"`
	Impact Impact `json:"impact"`
}

// Explained returns the diagnostic with a note that describes the impact.
func (f Finding) Explained() diag.Diagnostic {
	d := f.Diagnostic
	d.Notes = append(slices.Clone(d.Notes), diag.Note{Message: f.Impact.String()})
	return d
}

// Version is one version of an IDL.
type Version struct {
	Package *schema.Package
	// Display returns the name to show for a file in messages. Its argument is the slash-separated path inside the IDL.
	Display func(path string) string
}

// Compare returns the breaking changes between the old and the new version, sorted by position.
func Compare(old, new Version) []Finding {
	c := &comparison{old: old, new: new, pairs: map[schema.Decl]schema.Decl{}, uses: usesOf(old.Package)}
	c.comparePackages(old.Package, new.Package)
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		p, q := a.Span.Start, b.Span.Start
		return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Symbol, b.Symbol))
	})
	return c.findings
}

// comparison is the state of one [Compare] call.
type comparison struct {
	old, new Version
	pairs    map[schema.Decl]schema.Decl // old to new declarations
	uses     map[schema.Decl]use         // uses of old declarations
	replaced map[schema.Decl]string      // set by replacedBy
	// stateless is set while comparing functions, whose values no deployed resource keeps.
	stateless bool
	findings  []Finding
}

// node is a named element of the source. The zero node represents a missing element.
type node struct {
	file   *schema.File
	pos    schema.Position
	name   string // as written in the sources
	symbol string
}

func declNode(d schema.Decl) node {
	h := d.Head()
	return node{h.File, h.Pos, h.Name, symbolOf(d)}
}

func symbolOf(d schema.Decl) string {
	h := d.Head()
	if r, ok := d.(*schema.Resource); ok && h.Foreign() != nil {
		return r.Token
	}
	return strings.TrimPrefix(h.File.Module.Path+"."+h.Name, ".")
}

// as returns a copy of n with the symbol of other.
func (n node) as(other node) node {
	n.symbol = other.symbol
	return n
}

func (v Version) span(n node) diag.Span {
	if n.file == nil {
		return diag.Span{}
	}
	start := diag.Position{File: v.Display(n.file.Path()), Line: n.pos.Line, Column: n.pos.Column}
	end := start
	if start.Line > 0 {
		end.Column += len(n.name)
	}
	return diag.Span{Start: start, End: end}
}

// report adds a finding unless impact is zero. Either node may be zero. The message starts with the new symbol or, if
// there is none, the old one.
func (c *comparison) report(code diag.Code, impact Impact, old, new node, help, format string, args ...any) {
	if c.stateless && code != "SecretAdded" && code != "SecretRemoved" { // plans contain the results
		impact.Deployed = None
	}
	if impact == (Impact{}) {
		return
	}
	f := Finding{Symbol: cmp.Or(new.symbol, old.symbol), Impact: impact}
	f.Code, f.Severity, f.Suggestion = code, diag.Warning, help
	if max(impact.Programs, impact.Provider, impact.Wire, impact.Deployed) == Breaks {
		f.Severity = diag.Error
	}
	f.Message = f.Symbol + " " + fmt.Sprintf(format, args...)
	f.Span = c.new.span(new)
	if new.file == nil {
		f.Span = c.old.span(old)
	} else if old.file != nil {
		f.Notes = []diag.Note{{Span: c.old.span(old), Message: "in the old version"}}
	}
	c.findings = append(c.findings, f)
}
