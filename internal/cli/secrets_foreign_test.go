package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// foreignSecrets contains files in the formats that 'lumi convert' reads. Every key, value, type, and name inside a
// secret is or contains the telltale. SIGN( opens a signed secret. SPECIAL is replaced with values that a converter
// reports as losses.
var foreignSecrets = map[string]string{
	"opentofu": `{
  "version": 4,
  "terraform_version": "1.9.0",
  "serial": 1,
  "lineage": "l",
  "outputs": {
    "whole": {
      "value": { "hunter2": ["hunter2", SPECIAL] },
      "type": ["object", { "hunter2": ["tuple", ["string", "dynamic"]] }],
      "sensitive": true
    }
  },
  "resources": [
    {
      "mode": "managed",
      "type": "a_b",
      "name": "n",
      "provider": "provider[\"registry.opentofu.org/hashicorp/a\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {
            "id": "1",
            "object": { "hunter2": { "hunter2_password": "hunter2" }, "more": SPECIAL },
            "any": { "value": { "k": { "hunter2": "hunter2" } }, "type": ["object", { "k": ["object", { "hunter2": "string" }] }] },
            "set": [{ "hunter2": "hunter2" }],
            "db_password": "hunter2"
          },
          "sensitive_attributes": [
            [{ "type": "get_attr", "value": "object" }],
            [{ "type": "get_attr", "value": "any" }, { "type": "get_attr", "value": "k" }],
            [{ "type": "get_attr", "value": "set" }, { "type": "index", "value": { "value": { "hunter2": "hunter2" }, "type": ["object", { "hunter2": "string" }] } }]
          ],
          "private": "hunter2"
        }
      ]
    }
  ]
}
`,
	"pulumi": `{
  "version": 3,
  "deployment": {
    "manifest": {},
    "secrets_providers": { "type": "passphrase", "state": { "salt": "v1:x" } },
    "resources": [
      {
        "urn": "urn:pulumi:prod::shop::a:b:V::v",
        "custom": true,
        "type": "a:b:V",
        "inputs": {
          "text": SIGN( "plaintext": "{\"hunter2\":{\"hunter2\":[\"hunter2\",SPECIAL]}}" },
          "value": SIGN( "value": { "hunter2": { "hunter2/~": ["hunter2", SPECIAL] } } },
          "broken": SIGN( "plaintext": "{\"hunter2\": hunter2" },
          "cipher": SIGN( "ciphertext": "hunter2", "hunter2": "hunter2" },
          "odd": SIGN( "hunter2": { "hunter2": "hunter2" } },
          "list": [{ "in": SIGN( "value": { "hunter2": SPECIAL } } }],
          "differs": SIGN( "value": { "hunter2": 1 } }
        },
        "outputs": { "differs": { "hunter2": 2 }, "value": SIGN( "value": { "hunter2": SPECIAL } } }
      }
    ]
  }
}
`,
}

// special is a list of all values that a converter reports as losses.
const special = `{ "hunter2": ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", { SIG "8ad145fe-0d11-4827-bfd7-1abcbf086f5c", "value": "7ff0000000000000" },
 { SIG "803fd3297a5875dc03ca845dda5d2a98", "value": "/w==", "hunter2": 1 }, { SIG "hunter2", "hunter2": 1 },
 { SIG "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn:hunter2", "id": "hunter2", "packageVersion": "hunter2" },
 { SIG "d0e6a833031e9bbcd3f4e8bde6ca49a4", "known": "hunter2", "value": "hunter2", "dependencies": ["hunter2"] },
 { SIG "c44067f5952c0a294b673a41bacd8c17", "hash": "hunter2", "hunter2": 2 },
 { SIG "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "hunter2" }] }`

// foreignSource returns a file in a foreign format, including its secrets.
func foreignSource(format string) string {
	const signature = `"4dabf18193072939515e22adb298388d":`
	inner := strings.ReplaceAll(special, "SIG", signature)
	src := foreignSecrets[format]
	quoted := strings.ReplaceAll(strings.ReplaceAll(inner, "\n", ""), `"`, `\"`)
	src = strings.ReplaceAll(src, `\",SPECIAL`, `\",`+quoted)
	src = strings.ReplaceAll(src, "SPECIAL", inner)
	return strings.ReplaceAll(src, "SIGN(", `{ `+signature+` "1b47061264138c4ac30d75fd1eb44270",`)
}

// reading returns the commands that read a file from standard input. Empty is the name of an empty snapshot to compare
// with.
func reading(empty string) [][]string {
	return [][]string{
		{"check", "-"}, {"check", "--json", "-"}, {"fmt", "--check", "-"}, {"fmt", "--check", "--json", "-"},
		{"show", "-"}, {"show", "--json", "-"}, {"show", "--view=tree", "-"}, {"show", "--view=table", "-"}, {"show", "-", "v"},
		{"query", "--json", "-"}, {"query", "--format=table", "-"}, {"query", "-", "type == 'V'"},
		{"graph", "-"}, {"graph", "--json", "-"}, {"graph", "--format=mermaid", "-"}, {"graph", "--format=html", "-"},
		{"diff", "-", empty}, {"diff", "--json", empty, "-"}, {"diff", "--stat", empty, "-"},
	}
}

// faulty lists the commands that report errors in their own way. The others report errors like check.
var faulty = [][]string{
	{"check", "-"}, {"check", "--json", "-"}, {"fmt", "--check", "-"}, {"fmt", "--check", "--json", "-"},
	{"convert", "-"}, {"convert", "--json", "-"}, {"convert", "--from=pulumi", "-"}, {"convert", "--from=opentofu", "--json", "-"},
}

// converting lists the variants of 'lumi convert'.
var converting = [][]string{
	{"convert", "-"}, {"convert", "--json", "-"}, {"convert", "--strict", "-"}, {"convert", "--json", "--strict", "-"},
	{"convert", "--from=pulumi", "-"}, {"convert", "--from=opentofu", "-"},
}

// TestForeignSecretsHidden passes files of other tools to every command: intact, broken in many places, and converted.
// The output must not contain secrets, except for signed secrets in snapshots.
func TestForeignSecretsHidden(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.json")
	must.Do(t, os.WriteFile(empty, []byte(`{"resources":{}}`), 0o644))
	seen := map[string]bool{}
	holds := func(t *testing.T, src string, commands [][]string) {
		for _, args := range commands {
			var stdout, stderr bytes.Buffer
			code := runLumi(t.Context(), args, strings.NewReader(src), &stdout, &stderr, noEnv)
			out := stdout.String()
			if v, err := (lumigl.Parser{}).ParseValue(out); code == console.ExitOK && err == nil && args[0] == "convert" {
				out = outside(v)
			}
			for line := range strings.Lines(out + stderr.String()) {
				if strings.Contains(line, telltale) && len(seen) < 40 {
					key := strings.Join(args, " ") + line[strings.Index(line, ": ")+1:]
					if !seen[key] {
						seen[key] = true
						t.Errorf("lumi %v printed a secret: %s\nof %s", args, line, src)
					}
				}
			}
		}
	}
	for format := range foreignSecrets {
		t.Run(format, func(t *testing.T) {
			src := foreignSource(format)
			holds(t, src, append(reading(empty), converting...))
			var snapshot, stderr bytes.Buffer
			if code := runLumi(t.Context(), []string{"convert", "-"}, strings.NewReader(src), &snapshot, &stderr, noEnv); code != console.ExitOK {
				t.Fatalf("lumi convert = exit code %d, want 0: %s", code, &stderr)
			}
			holds(t, snapshot.String(), reading(empty))
			for _, broken := range breakages(src) {
				holds(t, broken, faulty)
			}
		})
	}
}

// marks matches the parts of a file that mark secrets. A file without marks has no secrets.
var marks = regexp.MustCompile(`"4dabf18193072939515e22adb298388d": ?"1b47061264138c4ac30d75fd1eb44270"|"sensitive": true|` +
	`(?s:"sensitive_attributes": .*?\n {10}\])|"private"|"(sensitive_|)attributes"|"terraform_version"|"(plaintext|differs|db_password)":`)

// breakages returns copies of a file, each with one error: a missing character, an extra character, or a duplicate key.
func breakages(src string) []string {
	var all []string
	marked := make([]bool, len(src)+1)
	for _, m := range marks.FindAllStringIndex(src, -1) {
		for i := m[0]; i < m[1]; i++ {
			marked[i] = true
		}
	}
	const every = 151 // covers a different subset of positions each time
	for i := range src {
		if marked[i] {
			continue
		}
		if i%every == 0 {
			all = append(all, src[:i]+src[i+1:])
		}
		for way, insert := range []string{`"`, "{", "}", "[", "]", ":", "'", "//", "tru ", "\\", "\n", ","} {
			if i%every == way {
				all = append(all, src[:i]+insert+src[i:])
			}
		}
	}
	for _, m := range regexp.MustCompile(`\{\s*("[^"]*":)`).FindAllStringSubmatchIndex(src, -1) {
		all = append(all, src[:m[2]]+src[m[2]:m[3]]+" 1, "+src[m[2]:], src[:m[2]]+src[m[2]:m[3]]+" 1,, "+src[m[2]:])
	}
	return all
}

// outside returns the text of a value without its secrets.
func outside(v lumigl.Value) string {
	if _, ok := v.Secret(); ok {
		return ""
	}
	var b strings.Builder
	for _, e := range v.Elements() {
		b.WriteString(outside(e))
	}
	for key, m := range v.Members() {
		b.WriteString(key + "\n" + outside(m))
	}
	if text, ok := v.Text(); ok {
		b.WriteString(text + "\n")
	}
	return b.String()
}
