package constraint

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestAutomaton(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var expr func(depth int) string
	expr = func(depth int) string {
		if depth == 0 {
			return pick("a", "b", "ab", "[a-c]", "[^a]", `\d`, `\w`, "é", "[à-ü]", "", "^", "$", `\n`, `\x41`)
		}
		a, b := expr(depth-1), expr(depth-1)
		return pick(a+b, "(?:"+a+")"+b, "(?:"+a+"|"+b+")", "(?:"+a+")"+pick("*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}")+b, "^"+a, a+"$")
	}
	built := 0
	for range 3000 {
		text := expr(r.IntN(4))
		re, err := regexp.Compile(text)
		if err != nil {
			continue
		}
		a := newAutomaton(re)
		if a == nil {
			continue
		}
		built++
		for range 20 {
			var s strings.Builder
			for range r.IntN(7) {
				s.WriteString(pick("a", "b", "c", "A", "1", "_", "\n", "é", "\xff"))
			}
			if match, decided := a.matches(s.String()); decided && match != re.MatchString(s.String()) {
				t.Fatalf("automaton of %q matches %q = %t, regexp disagrees", text, s.String(), match)
			}
		}
	}
	if built < 2000 {
		t.Errorf("built %d automata, want at least 2000", built)
	}
	for _, text := range []string{`\ba`, "^[a-z]{200}$"} {
		if newAutomaton(regexp.MustCompile(text)) != nil {
			t.Errorf("newAutomaton(%s) returned an automaton, want nil", text)
		}
	}
}
