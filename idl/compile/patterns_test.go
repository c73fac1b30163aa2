package compile

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestPatternProblems(t *testing.T) {
	const differs = " means different things in Go and JavaScript"
	for pattern, want := range map[string]string{
		`a.b`:         `.` + differs + `: use [^\n], which matches any character but a newline in both`,
		`\s`:          `\s` + differs + `: use [\t\n\f\r ]`,
		`[^\S]`:       `\S` + differs + `: use [^\t\n\f\r ]`,
		`\Aa`:         `\A` + differs + `: use ^`,
		`a\z`:         `\z` + differs + `: use $`,
		`\Qa.b\E`:     `\Q` + differs + `: escape each operator with a backslash`,
		`\a`:          `\a` + differs + `: use \x07`,
		`\C`:          `\C` + differs + `: use [^\n]`,
		`\B`:          `\B` + differs + ": use \\b or \\W",
		`[\b]`:        `\b` + differs + `: use \x08`,
		`\x{1F600}`:   `\x` + differs + `: use the character itself, or \x and two hex digits`,
		`\u00e9`:      `\u` + differs + `: use the character itself`,
		`\07`:         `\0` + differs + `: use the character itself, or \x and two hex digits`,
		`(a)\1`:       `\1` + differs + `: repeat the group's expression`,
		`\pL`:         `\p` + differs + `: list the characters, as in [A-Za-zÀ-ÿ]; 'cidlc explain InvalidPattern' lists the categories that are the same in all versions of Unicode`,
		`\p{Greek}`:   `\p` + differs + `: list the characters, as in [A-Za-zÀ-ÿ]; 'cidlc explain InvalidPattern' lists the categories that are the same in all versions of Unicode`,
		`[^\p{L}]`:    `\p` + differs + `: list the characters, as in [A-Za-zÀ-ÿ]; 'cidlc explain InvalidPattern' lists the categories that are the same in all versions of Unicode`,
		`\p{Lu}`:      `\p` + differs + `: list the characters, as in [A-Za-zÀ-ÿ]; 'cidlc explain InvalidPattern' lists the categories that are the same in all versions of Unicode`,
		`\P{Cn}`:      `\P` + differs + `: list the characters, as in [A-Za-zÀ-ÿ]; 'cidlc explain InvalidPattern' lists the categories that are the same in all versions of Unicode`,
		`\_`:          `\_` + differs + `: remove the backslash`,
		`a\-b`:        `\-` + differs + `: remove the backslash`,
		`\é`:          `\é` + differs + `: remove the backslash`,
		`\cA`:         `\c` + differs + `: use \x and two hex digits`,
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
		`(?i)a`:       `(?i)` + differs + `: rewrite it without flags, as in [Aa]`,
		`(?s:a)`:      `(?s:` + differs + `: rewrite it without flags, as in [Aa]`,
		`(?P<n>a)`:    `(?P<n>` + differs + `: use (; group names have no effect`,
		`(?<n>a)`:     `(?<n>` + differs + `: use (; group names have no effect`,
		`a(?=b)`:      `(?=` + differs + `: rewrite it without lookaround, or check the value in the provider's Check method`,
		`(?<!a)b`:     `(?<!` + differs + `: rewrite it without lookaround, or check the value in the provider's Check method`,
		`^*a`:         `* with nothing to repeat` + differs + `: use \* for the literal character`,
		`\b+`:         `+ with nothing to repeat` + differs + `: use \+ for the literal character`,
		`a**`:         `* with nothing to repeat` + differs + `: use \* for the literal character`,
		`|{2}`:        `{2} with nothing to repeat` + differs + `: use \{ for the literal character`,
		`(a`:          `missing closing ) in (a: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`a)`:          `unexpected ) in a): correct it; the pattern must be valid in both RE2 and JavaScript`,
		`[a`:          `missing closing ] in [a: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`[z-a]`:       `invalid character class range in z-a: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`a\`:          `trailing backslash at end of expression: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`a{1001}`:     `invalid repeat count in {1001}: repeat at most 1000 times, with the smaller number first`,
		`[a-`:         `missing closing ] in [a-: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`[`:           `missing closing ] in [: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`[^`:          `missing closing ] in [^: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`(?`:          `(?` + differs + `: rewrite it without flags, as in [Aa]`,
		`\`:           `trailing backslash at end of expression: correct it; the pattern must be valid in both RE2 and JavaScript`,
		`[\`:          `trailing backslash at end of expression: correct it; the pattern must be valid in both RE2 and JavaScript`,
	} {
		problem, advice := patternError(pattern)
		if got := problem + ": " + advice; got != want {
			t.Errorf("patternError(%s)\n= %s\nwant %s", pattern, got, want)
		}
	}
}

// The first list contains patterns that may take exponential time in JavaScript, the second similar patterns that do
// not.
func TestBacktracking(t *testing.T) {
	const problem, advice = "the pattern backtracks exponentially in JavaScript",
		"rewrite it so that repeated parts match a string in only one way, as in ^a+$ instead of ^(a+)+$"
	for _, pattern := range []string{
		`^(a+)+$`, `^(?:a+)+$`, `^(a*)*$`, `^(?:a*)+$`, `(a+|b)*c`, `^(a|a)*$`, `^(?:a|[a-c])+$`, `^(a|ab?)(a|ab|b)*$`,
		`^(?:[a-z]+-?)*$`, `^(?:[a-z0-9]|\w)+@`, `^(a{1,3}){2,}$`, `^(?:a?b?)*$`, `^(x(y*|z*))*$`, `^((a?)+b)*$`,
		`^(?:a|b|ab)*$`, `^(?:\d+,?)*$`, `^(([a-z])+[.])+|([a-z0-9]+)*$`, `^(a|a?)+$`, `^(?:a+){20}$`, `^(?:a|a){1,64}$`,
		`^(?:a+){4}$`, `^(?:\w+ ?){1,10}$`, `^(?:[a-z0-9-]{1,63}\.?){1,8}$`, `^(?:(?:a|a){8}){8}$`, `^(a?){30}$`, `^(?:(?:a?){6}){6}$`,
		`^(?:é|[à-ü])*$`, `^(?:(?:(?:(?:a+)+)+)+)+$`, `^(?:[^b]|a)*$`, `^(?:\b|b?a)(?:a|\ba)*$`, `^(?:a{4}|a{5})*$`,
	} {
		if has, help := patternError(pattern); has != problem || help != advice {
			t.Errorf("patternError(%s) = %q, %q, want %q", pattern, has, help, problem)
		}
	}
	for _, pattern := range []string{
		`^a+$`, `^a*a*$`, `^[a-z]+(-[a-z]+)*$`, `^(?:[a-z0-9]+[.-])*[a-z]+$`, `^(?:/[^/]+)+$`, `^(?:a|b)*$`, `^(?:ab|ac)*$`,
		`^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$`, `^(?:(?:^|,)[^,]+)*$`, `^(?:[^,]+(?:,|$))*$`, `^(a?)*$`,
		`^"(?:[^"\\]|\\[^\n])*"$`, `^arn:(?:[^:]*:){4}[^:]+$`, `^(?:a{4}b{4}|a{5}b{4})*$`, `^(?:[a-z]{1,63}\.)+$`, `^(?:a+){3}$`,
		`^(?:[0-9a-f]{0,4}:?){1,8}$`, `^(?:\w+(?: |$)){1,10}`, `^(?:(?:a|b){8}){8}$`, `^(a?){16}$`, `^(a?){0,30}$`, `^(?:a|a){15}$`,
		`^(?:|a)b`, `(a|a)`, `^(?:\p{Sk}|a)*$`, `^(?:[a-z]{200})*$`,
		`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`,
	} {
		if has, _ := patternError(pattern); has != "" {
			t.Errorf("patternError(%s) = %q, want none", pattern, has)
		}
	}
	if !isAmbiguous(`(?:[a-z]{999}-)*(?:(?:[a-z]{999}-){1}[a-z]{999}-[a-z]{999})*`) {
		t.Error("isAmbiguous of a part with more than mostPositions positions = false, want true")
	}
}

// Node matches accepted random patterns against strings that almost match. None may take exponential time.
func TestBacktrackingInNode(t *testing.T) {
	if testing.Short() {
		t.Skip("the test starts Node")
	}
	pieces := []string{"a", "b", "[ab]", "[^a]", "(?:", "(", ")", ")*", ")+", "|", "*", "+", "?", "{2,}", "{0,3}", ")?", "){20}"}
	pattern := rapid.Custom(func(t *rapid.T) string {
		return "^(" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 3, 12).Draw(t, "pieces"), "") + ")$"
	})
	var patterns []string
	refused := 0
	for seed := 0; len(patterns) < 1500; seed++ {
		switch p := pattern.Example(seed); first(patternError(p)) {
		case "":
			patterns = append(patterns, p)
		case "the pattern backtracks exponentially in JavaScript":
			refused++
		}
	}
	if refused < 40 {
		t.Errorf("%d patterns are rejected, want at least 40", refused)
	}
	input := must.Get(json.Marshal(patterns))(t)
	cmd := exec.Command("node", "-e", `
		const vm = require("vm");
		for (const pattern of JSON.parse(require("fs").readFileSync(0))) {
			const texts = ["a", "b", "ab", "aab", "abb"].map((part) => part.repeat(12).padEnd(40, part) + "!");
			try {
				vm.runInNewContext("texts.map((text) => new RegExp(pattern, 'u').test(text))", { texts, pattern }, { timeout: 120_000 });
			} catch (error) {
				console.log(pattern, String(error));
			}
		}`)
	cmd.Stdin = strings.NewReader(string(input))
	if output, err := cmd.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("node: error %v, output %s, want neither", err, output)
	}
}

// The allowed categories have the same members in Go and in Node, and the documentation lists them.
func TestCategories(t *testing.T) {
	page := must.Get(os.ReadFile("../diag/catalog/InvalidPattern.md"))(t)
	if list := "`" + strings.Join(categories, "`, `") + "`"; !strings.Contains(strings.ReplaceAll(string(page), "\n", " "), list) {
		t.Errorf("InvalidPattern.md does not list %s", list)
	}
	if testing.Short() {
		t.Skip("the test starts Node")
	}
	for _, name := range categories {
		output := must.Get(exec.Command("node", "-e", `
			const category = new RegExp("^\\p{"+process.argv[1]+"}$", "u");
			for (let c = 0; c <= 0x10ffff; c++) {
				if (!(c >= 0xd800 && c < 0xe000) && category.test(String.fromCodePoint(c))) {
					console.log(c);
				}
			}`, name).Output())(t)
		var want strings.Builder
		for c := range rune(unicode.MaxRune + 1) {
			if unicode.Is(unicode.Categories[name], c) {
				fmt.Fprintln(&want, c)
			}
		}
		if string(output) != want.String() {
			t.Errorf("category %s has different members in Go and in Node", name)
		}
	}
}

func TestPatternsInNode(t *testing.T) {
	if testing.Short() {
		t.Skip("the test starts Node")
	}
	pieces := []string{
		"a", "b", "Z", "0", "_", "-", " ", "é", "😀", "\u2028", "/", "^", "$", "|", "(", "(?:", ")", "[", "[^", "]", "-", "*",
		"+", "?", "*?", "{2}", "{1,}", "{0,2}?", `\d`, `\D`, `\w`, `\W`, `\b`, `\B`, `\t`, `\n`, `\r`, `\x41`, `\.`, `\\`,
		`\[`, `\]`, `\{`, `\-`, `\/`, `\p{Sk}`, `\P{Lt}`, `\p{No}`, "a-c", "[a-z]", "[^0-9]", ".", `\s`, "{", "}", `\v`, `\f`,
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
		if p := pattern.Example(seed); first(patternError(p)) == "" {
			questions = append(questions, question{p, texts.Example(seed)})
		}
	}
	input := must.Get(json.Marshal(questions))(t)
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
	output := must.Get(cmd.Output())(t)
	var answers []any
	must.Do(t, json.Unmarshal(output, &answers))
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
			t.Errorf("%s matches = %v in Node, %v in Go for %q", q.Pattern, answers[i], want, q.Texts)
		}
	}
	if matches < 1000 {
		t.Errorf("got %d matches, want at least 1000", matches)
	}
}

func first(a, _ string) string { return a }
