package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestSecretsIn(t *testing.T) {
	const sign = `"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"`
	const all = `"(secret)"`
	escaped := func(s string) string { return strings.Replace(sign, "1b47", s, 1) }
	for src, want := range map[string]string{
		`{"a": {` + sign + `, "value": "x"}, "b": "y"}`:                                                           `{"a": "(secret)", "b": "y"}`,
		`[{"o": {` + sign + `, "value": {"p": [1e999]}}, "q": 1}, {"value": "x"}]`:                                `[{"o": "(secret)", "q": 1}, {"value": "x"}]`,
		`[{"value": {` + sign + `}, ` + sign + `}, {` + sign + `}, 2]`:                                            `["(secret)", "(secret)", 2]`,
		`{"a": {"value": "x", ` + escaped(`\u0031\u006247`) + `}, "b": "y"}`:                                      `{"a": "(secret)", "b": "y"}`,
		`{"a": {` + sign + `, ` + escaped("0000") + `, "value": "x"}, "b": "y"}`:                                  `{"a": "(secret)", "b": "y"}`,
		`{"a": {"text": "{\"4dabf18193072939515e22adb298388d\": \"1b47061264138c4ac30d75fd1eb44270\"}"}, "b": 1}`: `{"a": "(secret)", "b": 1}`,
		`{"a": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"},}`:           `{"a": {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"},}`,
		`{"a": "b\u0031",}`: `{"a": "b\u0031",}`,
		`{"resources": [], "a": {` + sign + `, "value": "x"}}`:      all,
		`{` + sign + `, "value": "x"}`:                              all,
		`{"a": {` + sign + `, "value": "x"}, "b": "y",}`:            all,
		`{"a": {"value": "x", ` + sign:                              all,
		`{"a": {` + sign + `, "value": "x` + "\n" + `"}, "b": "y"}`: all,
		`{"a": {` + escaped(`\u0031\u006247`) + `, 'value': "x"}}`:  all,
		`"x", // {` + sign + `}`:                                    all,
		"{\x00" + strings.Join(strings.Split(sign, ""), "\x00"):     all,
		"\ufeff{" + sign + "}":                                      all,
	} {
		if want != all {
			src, want = `{"vertices": {"v": {"p": `+src+`}}}`, `{"vertices": {"v": {"p": `+want+`}}}`
		}
		if got := document.SecretsIn(src).Mask(src); got != want {
			t.Errorf("SecretsIn(%s).Mask =\n%s, want\n%s", src, got, want)
		}
	}
}

// telltale is the content of all secrets in a snapshot with secrets everywhere.
const telltale = "hunter2"

const snapshotOfSecrets = `{
  "resources": {
    "urn:lumi:prod::p:index::a:b:V::old": { "type": "a:b:V", "properties": {} },
    "urn:lumi:prod::p:index::a:b:V::v": {
      "type": "a:b:V",
      "properties": {
        "list": [1, SIGN "value": { "hunter2": ["hunter2", { "#ref": "urn:lumi:prod::p:index::a:b:V::old", "property": "hunter2" }] } }],
        "asset": { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": SIGN "value": "hunter2" } },
        "more": SIGN "hunter2": true, "value": SIGN "value": "hunter2" } }
      },
      "extensions": { "x": SIGN "value": ["hunter2"] } }
    }
  },
  "pending": { "deletes": [{ "urn": "urn:lumi:prod::p:index::a:b:V::v", "type": "a:b:V", "id": "1", "properties": { "p": SIGN "value": "hunter2" } } }] },
  "args": { "p": SIGN "value": "hunter2" } }
}
`

// Secrets are hidden even after typical editing mistakes, such as pasting text that is not JSON into a string.
func TestBrokenSecretsHidden(t *testing.T) {
	const sign = `"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"`
	const file = `{
  "resources": {
    "urn:lumi:prod::p:index::a:b:V::v": {
      "type": "a:b:V",
      "properties": { "key": { BODY }, "zone": "a" }
    }
  }
}
`
	for _, value := range []string{
		"\"{\n  \"type\": \"service\",\n  \"key_hunter2\": \"hunter2\",\n}\n\"", `"{"type": "x", "key": "hunter2"}"`,
		"\"-----BEGIN hunter2-----\nMIIhunter2+/=\nhunter2/x==\n-----END-----\n\"",
		"\"location / {\n  header hunter2;\n}\ntoken hunter2;\n\"", "\"export A={hunter2}\nexport B=}hunter2\nexport C=hunter2\n\"",
		`"x"hunter2}hunter2"`, `"x"hunter2},"hunter2": "hunter2"`, `hunter2}hunter2"`, `hunter2'}hunter2, hunter2`, `x'}}}hunter2, hunter2: 1`,
		`"hunter2`, `'it's }hunter2'`, "`hunter2}\nhunter2}\nhunter2`", "\"\"\"hunter2}\n}hunter2\"\"\"", "|\n  hunter2\n  }hunter2\n",
		"\n<<<<<<< HEAD\n\"hunter2\"\n=======\n\"x hunter2\"\n>>>>>>> other\n", `"x" + "hunter2" + hunter2`, `${x}hunter2}} hunter2`,
	} {
		for _, body := range []string{sign + `, "value": ` + value, `"value": ` + value + ", " + sign} {
			src := strings.Replace(file, "BODY", body, 1)
			for _, args := range [][]string{
				{"check", "-"}, {"check", "--json", "-"}, {"fmt", "--check", "-"}, {"fmt", "--check", "--json", "-"}, {"show", "-"}, {"query", "-"},
				{"convert", "--from=pulumi", "-"}, {"convert", "--json", "--from=opentofu", "-"},
			} {
				var stdout, stderr bytes.Buffer
				if runLumi(t.Context(), args, strings.NewReader(src), &stdout, &stderr, noEnv) == console.ExitOK {
					stdout.Reset() // stdout is the accepted file itself
				}
				if out := stderr.String() + stdout.String(); strings.Contains(out, telltale) {
					t.Errorf("lumi %v printed a secret of\n%s\nin its output:\n%s", args, src, out)
				}
			}
		}
	}
}

// No command prints a secret from a file with an error in any of many places.
func TestSecretsHiddenInErrors(t *testing.T) {
	t.Parallel()
	const sign = `{ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",`
	src := strings.ReplaceAll(snapshotOfSecrets, "SIGN", sign)
	commands := [][]string{
		{"check", "-"}, {"check", "--json", "-"}, {"fmt", "--check", "-"}, {"fmt", "--check", "--json", "-"},
	}
	holds := func(src string, commands [][]string) {
		t.Helper()
		for _, args := range commands {
			var stdout, stderr bytes.Buffer
			code := runLumi(t.Context(), args, strings.NewReader(src), &stdout, &stderr, noEnv)
			if code == console.ExitFailed {
				t.Fatalf("lumi %v failed: %s", args, &stderr)
			}
			if out := stderr.String() + stdout.String(); strings.Contains(out, telltale) {
				t.Fatalf("lumi %v printed a secret of\n%s\nin its output:\n%s", args, src, out)
			}
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.json")
	must.Do(t, os.WriteFile(empty, []byte(`{"resources":{}}`), 0o644))
	holds(src, append(commands, [][]string{
		{"show", "-"}, {"show", "--json", "-"}, {"show", "--view=tree", "-"}, {"show", "--view=table", "-"}, {"show", "-", "V::v"},
		{"query", "--json", "-"}, {"query", "--format=table", "-"}, {"query", "-", "properties.list[1] == properties.more"},
		{"graph", "-"}, {"graph", "--json", "-"}, {"graph", "--format=mermaid", "-"}, {"graph", "--format=html", "-"},
		{"diff", "-", empty}, {"diff", empty, "-"}, {"diff", "--json", "-", empty}, {"diff", "--json", empty, "-"},
		{"diff", "--stat", "-", empty},
	}...))
	for i := range src {
		if from := max(0, i-len(sign)); strings.Contains(src[from:min(len(src), i+len(sign))], sign) &&
			i >= from+strings.Index(src[from:], sign) && i < from+strings.Index(src[from:], sign)+len(sign) {
			continue // a value without a signature is not secret
		}
		const every = 37 // covers a different subset of positions each time
		if i%every == 0 {
			holds(src[:i]+src[i+1:], commands)
		}
		for way, insert := range []string{`"`, "{", "}", "[", "]", ":", "'", "//", "tru ", "\\", "\n"} {
			if i%every == way {
				holds(src[:i]+insert+src[i:], commands)
			}
		}
	}
}
