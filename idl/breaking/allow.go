package breaking

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// AllowList is a list of accepted findings.
type AllowList []allowed

type allowed struct {
	code, symbol string
	at           diag.Span
}

// ParseAllowList parses an allow-list. Each line consists of a code, a symbol, and a reason, separated by white space.
// Blank lines and lines that start with # are skipped. The error joins one error per invalid line; file names the list
// in these errors.
func ParseAllowList(file, text string) (AllowList, error) {
	var list AllowList
	var errs []error
	codes := Catalog().Codes()
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case !slices.Contains(codes, words[0]):
			hint := "'cidlc explain' lists all codes"
			if near := suggest.Name(words[0], codes); near != "" {
				hint = "did you mean " + near + "?"
			}
			errs = append(errs, fmt.Errorf("%s:%d: unknown code %q; %s", file, i+1, words[0], hint))
		case len(words) < 3:
			errs = append(errs, fmt.Errorf("%s:%d: expected a code, a symbol, and a reason, such as "+
				"'PropertyRemoved Server.size no program ever set it'", file, i+1))
		default:
			start, end := diag.Position{File: file, Line: i + 1, Column: 1}, diag.Position{File: file, Line: i + 1, Column: len(line) + 1}
			list = append(list, allowed{words[0], words[1], diag.Span{Start: start, End: end}})
		}
	}
	return list, errors.Join(errs...)
}

// Filter returns the findings not on the list, and a warning for each line that matches no finding.
func (l AllowList) Filter(findings []Finding) (left []Finding, unused []diag.Diagnostic) {
	used := map[allowed]bool{}
	for _, f := range findings {
		i := slices.IndexFunc(l, func(a allowed) bool { return a.code == string(f.Code) && a.symbol == f.Symbol })
		if i < 0 {
			left = append(left, f)
		} else {
			used[l[i]] = true
		}
	}
	for _, a := range l {
		if !used[a] {
			unused = append(unused, diag.Diagnostic{
				Severity: diag.Warning, Span: a.at, Message: "no finding matches this line", Suggestion: "remove it",
			})
		}
	}
	return left, unused
}
