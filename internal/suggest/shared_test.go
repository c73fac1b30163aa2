package suggest

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// lookup is a test case: a name, the names to search, and the expected result.
type lookup struct {
	About string   `json:"about,omitempty"`
	Name  string   `json:"name"`
	Names []string `json:"names"`
	Near  string   `json:"near"`
}

func TestNameSharedCases(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/cases.json"))(t)
	var cases []lookup
	must.Do(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		if near := Name(c.Name, c.Names); near != c.Near {
			t.Errorf("%s: Name(%q, %q) = %q, want %q", c.About, c.Name, c.Names, near, c.Near)
		}
	}
}

// ask is a program that looks up names in a file with the TypeScript runtime and prints the results.
const ask = `
import { readFileSync } from "node:fs";
import { nearest } from "./dist/suggest.js";
const lookups = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(lookups.map(({ name, names }) => nearest(name, names) ?? "")));
`

func TestNearestInTypeScript(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	lookups, near := make([]lookup, 20_000), 0
	for i := range lookups {
		lookups[i] = randomLookup(random)
		if lookups[i].Near != "" {
			near++
		}
	}
	if near < len(lookups)/10 || near > len(lookups)*9/10 {
		t.Errorf("%d of %d lookups found a near name, want 10%% to 90%%", near, len(lookups))
	}
	dir := node.Package(t, must.Get(filepath.Abs("../.."))(t))
	script, input := filepath.Join(dir, "ask.js"), filepath.Join(dir, "lookups.json")
	data := must.Get(json.Marshal(lookups))(t)
	for name, content := range map[string][]byte{script: []byte(ask), input: data} {
		must.Do(t, os.WriteFile(name, content, 0o600))
	}
	var answers []string
	must.Do(t, json.Unmarshal([]byte(node.Run(t, dir, "node", script, input)), &answers))
	for i, l := range lookups {
		if answers[i] != l.Near {
			t.Fatalf("lookup of %q among %q = %q in TypeScript, %q in Go", l.Name, l.Names, answers[i], l.Near)
		}
	}
}

// randomLookup draws names that differ by few edits, which causes frequent ties.
func randomLookup(random *rand.Rand) lookup {
	alphabet := []rune("abAB1-_äÄßẞσςΣİiıſKéğ🙂🙃𐐀𐐨\u0301")
	letter := func() rune { return alphabet[random.IntN(len(alphabet))] }
	word := make([]rune, random.IntN(14))
	for i := range word {
		word[i] = letter()
	}
	names := make([]string, random.IntN(5))
	for i := range names {
		names[i] = string(edited(random, word, letter))
	}
	name := string(edited(random, word, letter))
	return lookup{Name: name, Names: names, Near: Name(name, names)}
}

// edited returns a copy of word with up to three random edits.
func edited(random *rand.Rand, word []rune, letter func() rune) []rune {
	word = slices.Clone(word)
	for range random.IntN(4) {
		i := random.IntN(len(word) + 1)
		switch kind := random.IntN(3); {
		case kind == 0 || i == len(word):
			word = slices.Insert(word, i, letter())
		case kind == 1 || i+1 == len(word):
			word = slices.Delete(word, i, i+1)
		default:
			word[i], word[i+1] = word[i+1], word[i]
		}
	}
	return word
}
