package breaking

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/internal/suggest"
)

// AllowList names findings that are accepted.
type AllowList struct {
	file    string
	entries []entry
}

type entry struct {
	code, symbol string
	line         int
}

// ParseAllowList parses an allow-list. Each line is a code, a symbol and a reason, separated by white space. Blank lines
// and those that begin with # are skipped. The error names each line that is wrong.
func ParseAllowList(file, text string) (*AllowList, error) {
	l := &AllowList{file: file}
	codes := Catalog().Codes()
	var errs []error
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		wrong := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s:%d: "+format, append([]any{file, i + 1}, args...)...))
		}
		e := entry{code: words[0], symbol: strings.Join(words[1:min(2, len(words))], ""), line: i + 1}
		same := func(other entry) bool { return other.code == e.code && other.symbol == e.symbol }
		switch j := slices.IndexFunc(l.entries, same); {
		case !slices.Contains(codes, e.code):
			hint := "'cidlc explain' lists all codes"
			if near := suggest.Name(e.code, codes); near != "" {
				hint = "did you mean " + near + "?"
			}
			wrong("unknown code %q; %s", e.code, hint)
		case len(words) < 3:
			wrong("write a code, a symbol and a reason, such as 'PropertyRemoved Server.size no program ever set it'")
		case j >= 0:
			wrong("%s %s is also in line %d", e.code, e.symbol, l.entries[j].line)
		default:
			l.entries = append(l.entries, e)
		}
	}
	return l, errors.Join(errs...)
}

// Filter returns the findings that are not on the list, and a warning about each entry that no finding needs.
func (l *AllowList) Filter(findings []Finding) (left []Finding, unused []diag.Diagnostic) {
	used := map[entry]bool{}
	for _, f := range findings {
		i := slices.IndexFunc(l.entries, func(e entry) bool { return e.code == string(f.Code) && e.symbol == f.Symbol })
		if i < 0 {
			left = append(left, f)
		} else {
			used[l.entries[i]] = true
		}
	}
	for _, e := range l.entries {
		if used[e] {
			continue
		}
		at := diag.Position{File: l.file, Line: e.line, Column: 1}
		end := at
		end.Column += len(e.code)
		d := diag.Diagnostic{Severity: diag.Warning, Span: diag.Span{Start: at, End: end},
			Message: fmt.Sprintf("no finding is %s %s", e.code, e.symbol), Suggestion: "remove the line"}
		var symbols []string
		for _, f := range left {
			if string(f.Code) == e.code {
				symbols = append(symbols, f.Symbol)
			}
		}
		if near := suggest.Name(e.symbol, symbols); near != "" {
			d.Suggestion = "did you mean " + near + "?"
		}
		unused = append(unused, d)
	}
	return left, unused
}
