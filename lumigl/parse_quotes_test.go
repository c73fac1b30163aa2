package lumigl_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// parts generates fragments of text that users often forget to escape.
var parts = rapid.SampledFrom([]string{
	`"`, `"`, `"`, "\n", " ", " ", "say", "hi", "5", "-1", "true", "+", "'", "$", "{", "}", ".", "=", ";", "#", "//",
})

var quotedBlanks = regexp.MustCompile(`"( +")+`)

// unescaped generates a string with inner quotes or several lines. It never has both, and never quotes around blanks,
// since the result could also be several strings in a list without commas.
func unescaped(t *rapid.T) string {
	text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "text"), "")
	without := rapid.SampledFrom([]string{`"`, "\n"}).Draw(t, "without")
	return quotedBlanks.ReplaceAllString(strings.ReplaceAll(text, without, ""), `"`)
}

// TestFixesNeverGuess removes the escapes from a string in a file. No matter how often fixes are applied, either an
// error remains or the original file is restored; no part of the string becomes another token.
func TestFixesNeverGuess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		where := rapid.IntRange(0, 2).Draw(t, "where")
		key, value, element := "key", "value", "element"
		for place, text := range []*string{&key, &value, &element} {
			if place == where {
				*text = unescaped(t)
			}
		}
		properties := map[string]any{key: value, "list": []any{1, element, "b", true}, "z": 3}
		doc := map[string]any{"vertices": map[string]any{"a": properties, "b": map[string]any{"c": value}}}
		text, err := json.Marshal(doc)
		if rapid.Bool().Draw(t, "lines") {
			text, err = json.MarshalIndent(doc, "", "  ")
		}
		if err != nil {
			t.Fatal(err)
		}
		want := must.Get(lumigl.Parse(string(text)))(t)
		broken := strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(string(text))
		mended := broken
		for range 10 {
			found := faultsOf(t, mended)
			if len(found) == 0 {
				break
			}
			mended = apply(mended, found)
		}
		if got, err := lumigl.Parse(mended); err == nil && mended != broken {
			if problem := difference(want, got); problem != "" {
				t.Errorf("the fixed file differs from the original: %s\nbroken\n%s\nfixed\n%s", problem, broken, mended)
			}
		}
	})
}

// apply applies all available fixes.
func apply(src string, found []lumigl.Fault) string {
	var b strings.Builder
	done := 0
	for _, f := range found {
		if f.Fix != nil && f.Fix.Offset >= done {
			b.WriteString(src[done:f.Fix.Offset] + f.Fix.Text)
			done = f.Fix.End
		}
	}
	return b.String() + src[done:]
}
