package compile

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPatternProblems is about what a pattern cannot have, and what to write instead.
func TestPatternProblems(t *testing.T) {
	const differs = " does not mean the same in Go and in JavaScript"
	for pattern, want := range map[string]string{
		`a.b`:         `.` + differs + `: use [^\n], which both take for any character but the end of a line`,
		`\s`:          `\s` + differs + `: use [\t\n\f\r ]`,
		`[^\S]`:       `\S` + differs + `: use [^\t\n\f\r ]`,
		`\Aa`:         `\A` + differs + `: use ^`,
		`a\z`:         `\z` + differs + `: use $`,
		`\Qa.b\E`:     `\Q` + differs + `: put a backslash before each character that is an operator`,
		`\a`:          `\a` + differs + `: use \x07`,
		`\C`:          `\C` + differs + `: use [^\n]`,
		`\B`:          `\B` + differs + ": use \\b or \\W",
		`[\b]`:        `\b` + differs + `: use \x08`,
		`\x{1F600}`:   `\x` + differs + `: use the character itself, or \x and two digits`,
		`\u00e9`:      `\u` + differs + `: use the character itself`,
		`\07`:         `\0` + differs + `: use the character itself, or \x and two digits`,
		`(a)\1`:       `\1` + differs + `: repeat the expression of the group`,
		`\pL`:         `\p` + differs + `: use the short name of a category, as in \p{L} or \p{Lu}`,
		`\p{Greek}`:   `\p` + differs + `: use the short name of a category, as in \p{L} or \p{Lu}`,
		`\P{Cn}`:      `\P` + differs + `: use the short name of a category, as in \p{L} or \p{Lu}`,
		`\_`:          `\_` + differs + `: remove the backslash`,
		`a\-b`:        `\-` + differs + `: remove the backslash`,
		`\é`:          `\é` + differs + `: remove the backslash`,
		`\cA`:         `\c` + differs + `: use \x and two digits`,
		`a{`:          `{` + " without a backslash" + differs + `: use \{`,
		`a{,3}`:       `{` + " without a backslash" + differs + `: use \{`,
		`a}`:          `}` + " without a backslash" + differs + `: use \}`,
		`a]`:          `]` + " without a backslash" + differs + `: use \]`,
		`[]a]`:        `] at the beginning of a class` + differs + `: use \]`,
		`[^]a]`:       `] at the beginning of a class` + differs + `: use \]`,
		`[a[]`:        `[ in a class` + differs + `: use \[, and ranges such as a-z instead of [:alpha:]`,
		`[[:alpha:]]`: `[ in a class` + differs + `: use \[, and ranges such as a-z instead of [:alpha:]`,
		`[a-\d]`:      `a range that ends in a class` + differs + `: use \- for a hyphen`,
		`[\d-z]`:      `- after a class` + differs + `: use \- for a hyphen`,
		`[a-c-e]`:     `- after a range` + differs + `: use \- for a hyphen`,
		`(?i)a`:       `(?i)` + differs + `: write it without flags, as in [Aa]`,
		`(?s:a)`:      `(?s:` + differs + `: write it without flags, as in [Aa]`,
		`(?P<n>a)`:    `(?P<n>` + differs + `: use (, since nothing refers to the group`,
		`(?<n>a)`:     `(?<n>` + differs + `: use (, since nothing refers to the group`,
		`a(?=b)`:      `(?=` + differs + `: write it without a lookaround, or check it in the provider's Check method`,
		`(?<!a)b`:     `(?<!` + differs + `: write it without a lookaround, or check it in the provider's Check method`,
		`^*a`:         `* with nothing to repeat` + differs + `: use \* for the character itself`,
		`\b+`:         `+ with nothing to repeat` + differs + `: use \+ for the character itself`,
		`a**`:         `* with nothing to repeat` + differs + `: use \* for the character itself`,
		`|{2}`:        `{2} with nothing to repeat` + differs + `: use \{ for the character itself`,
		`(a`:          `missing closing ) in (a: correct it; the pattern is matched by RE2 and by JavaScript`,
		`a)`:          `unexpected ) in a): correct it; the pattern is matched by RE2 and by JavaScript`,
		`[a`:          `missing closing ] in [a: correct it; the pattern is matched by RE2 and by JavaScript`,
		`[z-a]`:       `invalid character class range in z-a: correct it; the pattern is matched by RE2 and by JavaScript`,
		`a\`:          `trailing backslash at end of expression: correct it; the pattern is matched by RE2 and by JavaScript`,
		`a{1001}`:     `invalid repeat count in {1001}: repeat at most 1000 times, with the smaller number first`,
		`[a-`:         `missing closing ] in [a-: correct it; the pattern is matched by RE2 and by JavaScript`,
		`[`:           `missing closing ] in [: correct it; the pattern is matched by RE2 and by JavaScript`,
		`[^`:          `missing closing ] in [^: correct it; the pattern is matched by RE2 and by JavaScript`,
		`(?`:          `(?` + differs + `: write it without flags, as in [Aa]`,
		`\`:           `trailing backslash at end of expression: correct it; the pattern is matched by RE2 and by JavaScript`,
		`[\`:          `trailing backslash at end of expression: correct it; the pattern is matched by RE2 and by JavaScript`,
	} {
		problem, advice := patternProblem(pattern)
		if got := problem + ": " + advice; got != want {
			t.Errorf("%s\nhas  %s\nwant %s", pattern, got, want)
		}
	}
}

// TestPatterns draws patterns, and holds that those without a problem match the same strings in Go and in Node.
func TestPatterns(t *testing.T) {
	if testing.Short() {
		t.Skip("starts node")
	}
	pieces := []string{
		"a", "b", "Z", "0", "_", "-", " ", "é", "😀", "\u2028", "/", "^", "$", "|", "(", "(?:", ")", "[", "[^", "]", "-", "*",
		"+", "?", "*?", "{2}", "{1,}", "{0,2}?", `\d`, `\D`, `\w`, `\W`, `\b`, `\B`, `\t`, `\n`, `\r`, `\x41`, `\.`, `\\`,
		`\[`, `\]`, `\{`, `\-`, `\/`, `\p{L}`, `\P{Lu}`, `\p{N}`, "a-c", "[a-z]", "[^0-9]", ".", `\s`, "{", "}", `\v`, `\f`,
	}
	texts := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("abcZ0_- é😀\u2028\n\r\t/[]{}\\.A\v\f1É\u00a0\ufeff"))), 20, 20)
	pattern := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
	})
	type question struct {
		Pattern string   `json:"pattern"`
		Texts   []string `json:"texts"`
	}
	var questions []question
	for seed := 0; len(questions) < 2000; seed++ {
		if p := pattern.Example(seed); first(patternProblem(p)) == "" {
			questions = append(questions, question{p, texts.Example(seed)})
		}
	}
	input, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", `
		const answers = JSON.parse(require("fs").readFileSync(0)).map(({ pattern, texts }) => {
			try {
				const expression = new RegExp(pattern, "u");
				return texts.map((text) => expression.test(text));
			} catch (error) {
				return String(error);
			}
		});
		console.log(JSON.stringify(answers));`)
	cmd.Stdin = strings.NewReader(string(input))
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []any
	if err := json.Unmarshal(output, &answers); err != nil {
		t.Fatal(err)
	}
	matches := 0
	for i, q := range questions {
		var want []any
		for _, text := range q.Texts {
			is := regexp.MustCompile(q.Pattern).MatchString(text)
			if want = append(want, is); is {
				matches++
			}
		}
		if fmt.Sprint(answers[i]) != fmt.Sprint(want) {
			t.Errorf("%s: Node says %v, and Go %v of %q", q.Pattern, answers[i], want, q.Texts)
		}
	}
	if matches < 1000 {
		t.Errorf("%d matches only", matches)
	}
}

func first(a, _ string) string { return a }
