package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The answers name only existing commands and flags, no word is itself a command, and docs/lumi.md contains the same
// table.
func TestWords(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/lumi.md"))(t)
	quoted := regexp.MustCompile(`'lumi ([^']*)'`)
	seen := map[string]bool{}
	for _, w := range words {
		commands := quoted.FindAllStringSubmatch(w.answer, -1)
		if len(commands) == 0 && !strings.Contains(w.answer, "not available yet") {
			t.Errorf("answer to %q names no command: %q", w.typed, w.answer)
		}
		for _, c := range commands {
			line, _, _ := strings.Cut(c[1], " --") // cut off program arguments or flags
			found, rest, err := newRoot(&console.Console{}).Find(strings.Fields(line))
			if err != nil || found.Parent() == nil || len(rest) > 0 && strings.ToUpper(rest[0]) != rest[0] {
				t.Errorf("answer to %q names the unknown command %q", w.typed, c[1])
				continue
			}
			for _, flag := range regexp.MustCompile(`--(\w[\w-]*)`).FindAllStringSubmatch(c[1], -1) {
				if found.Flags().Lookup(flag[1]) == nil {
					t.Errorf("answer to %q: '%s' has no flag --%s", w.typed, line, flag[1])
				}
			}
		}
		for word := range strings.SplitSeq(w.typed, ", ") {
			if seen[word] {
				t.Errorf("word %q occurs twice", word)
			}
			seen[word] = true
			if found, rest, _ := newRoot(&console.Console{}).Find(strings.Fields(word)); len(rest) == 0 && found.Parent() != nil {
				t.Errorf("word %q is a command of lumi", word)
			}
		}
		row := "| `" + strings.ReplaceAll(w.typed, ", ", "`, `") + "` | " + quoted.ReplaceAllString(w.answer, "`lumi $1`") + " |\n"
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/lumi.md does not contain the row\n%s", row)
		}
	}
}
