package constraint

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestFormats(t *testing.T) {
	src := must.Get(os.ReadFile("../../runtime/typescript/src/constraints.ts"))(t)
	_, table, _ := strings.Cut(string(src), "const formats: ")
	table, _, _ = strings.Cut(table, "\n};\n")
	table = regexp.MustCompile("` \\+\\s*String\\.raw`").ReplaceAllString(table, "") // join the parts of expressions
	for name, f := range formats {
		if !regexp.MustCompile(`(?m)^    "?` + name + `"?: `).MatchString(table) {
			t.Errorf("constraints.ts does not define the format %s", name)
		}
		if !strings.Contains(table, `"`+f.what+`"`) {
			t.Errorf("constraints.ts does not contain %q", f.what)
		}
		if f.expression != nil && !strings.Contains(table, "String.raw`"+f.expression().re.String()+"`") {
			t.Errorf("constraints.ts does not contain the expression of %s: %s", name, f.expression().re)
		}
	}
	if got := strings.Count(table, "\n    ") - strings.Count(table, "\n        ") - strings.Count(table, "\n    )"); got != len(formats) {
		t.Errorf("constraints.ts defines %d formats, want %d", got, len(formats))
	}
}

// The limit is the same as in constraints.test.js.
func TestJSONDepth(t *testing.T) {
	r := New("format", "json")
	for depth, want := range map[int]bool{10_000: true, 10_001: false} {
		if ok := r.String(strings.Repeat("[", depth)+strings.Repeat("]", depth), true) == ""; ok != want {
			t.Errorf("JSON of depth %d valid = %t, want %t", depth, ok, want)
		}
	}
}

func TestInvalidRules(t *testing.T) {
	for _, r := range []Rule{New("shape", "round"), New("format", "hostname"), New("pattern", "(")} {
		if problem := r.String("x", false) + r.Number(-1, false) + r.Count(0, false); problem != "" {
			t.Errorf("rule %+v rejects values: %s, want all accepted", r, problem)
		}
	}
}
