//go:build unix

package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// configured returns a session for a folder with the given Lumi.yaml, and its standard error.
func configured(t *testing.T, yaml string) (*Session, *bytes.Buffer) {
	t.Helper()
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("Lumi.yaml", []byte(yaml), 0o600))
	var stderr bytes.Buffer
	con := console.New(strings.NewReader(""), &bytes.Buffer{}, &stderr, func(string) string { return "" })
	return must.Get(withoutStore(con, "prod"))(t), &stderr
}

func sealAll(t *testing.T, s *Session, key *secret.Key, names ...string) {
	t.Helper()
	w, file := must.Get(s.Wrapper())(t), must.Get(s.Sealed())(t)
	for _, name := range names {
		must.Do(t, file.Set(name, "sealed "+name, w, key))
	}
	must.Do(t, s.WriteSealed())
	s.sealed = nil // read it again
}

func TestConfig(t *testing.T) {
	s, stderr := configured(t, `
modules:
  a: {program: a.ts, config: {own: 1, token: 2}}
  b: b.ts
config:
  pin: {exec: "echo asking >&2; echo run >>runs; printf '1234\\n\\n'"}
  never: {exec: "touch never"}
  shared: [1]
environments:
  prod: {config: {pin2: {exec: "echo asking >&2; echo run >>runs; printf '1234\\n\\n'"}, a: {password: weak}}}
`[1:])
	key := secret.NewKey()
	sealAll(t, s, key, "never", "token", "a.password", "b.shared")
	for module, want := range map[string][]string{
		"a": {
			`never "sealed never" secret`, `own 1 own`, `password "sealed a.password" own secret`, `pin "1234\n" secret`, `pin2 "1234\n" secret`, `shared [1]`, `token "sealed token" secret`,
		},
		"b": {`never "sealed never" secret`, `pin "1234\n" secret`, `pin2 "1234\n" secret`, `shared "sealed b.shared" own secret`, `token "sealed token" secret`},
	} {
		var got []string
		for _, one := range must.Get(s.Config(t.Context(), key, module))(t) {
			got = append(got, fmt.Sprintf("%s %s%s%s", one.Key, one.Value, map[bool]string{true: " own"}[one.Own], map[bool]string{true: " secret"}[one.Secret]))
			if one.Exec != "" {
				t.Errorf("module %s: %s still has a command", module, one.Key)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Config(%s) (-want +got):\n%s", module, diff)
		}
	}
	if runs := string(must.Get(os.ReadFile("runs"))(t)); runs != "run\n" || stderr.String() != "asking\n" {
		t.Errorf("the command ran as %q and printed %q, want it once", runs, stderr)
	}
	if _, err := os.Stat("never"); err == nil {
		t.Error("the command of an overridden setting ran")
	}
}

func TestConfigErrors(t *testing.T) {
	s, _ := configured(t, `
modules: {a: a.ts}
config:
  z: {exec: "exit 3"}
  y: fine
  x: {exec: "echo"}
  w: {exec: "exit 4"}
`[1:])
	check := func(about, want string, needsKey bool, err error) {
		t.Helper()
		want = strings.ReplaceAll(want, "$", s.Folder()+string(filepath.Separator))
		if _, ok := errors.AsType[*secret.KeyError](err); err == nil || err.Error() != want || ok != needsKey {
			t.Errorf("%s: error\n%v (*KeyError: %t), want\n%s (%t)", about, err, ok, want, needsKey)
		}
	}
	_, err := s.Config(t.Context(), nil, "a")
	check("commands", "$Lumi.yaml:3:6: config.z: the command failed: exit status 3\n$Lumi.yaml:5:6: config.x: the command printed nothing\n"+
		"$Lumi.yaml:6:6: config.w: the command failed: exit status 4", false, err)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Config(ctx, nil, "a")
	check("interrupted", "$Lumi.yaml:3:6: config.z: the command was interrupted: context canceled", false, err)

	key := secret.NewKey()
	sealAll(t, s, key, "w", "x", "z")
	_, err = s.Config(t.Context(), nil, "a")
	check("no key", "$config/prod.sealed.json:2:8: w: cannot be opened without the environment's key", true, err)

	text := string(must.Get(os.ReadFile("config/prod.sealed.json"))(t))
	lines := strings.Split(text, "\n")
	must.Do(t, os.WriteFile("config/prod.sealed.json", []byte(strings.Join([]string{lines[0], lines[1], `  "x": ` + lines[3][7:] + ",", `  "z": ` + lines[1][7:len(lines[1])-1], "}"}, "\n")), 0o600))
	s.sealed = nil
	_, err = s.Config(t.Context(), key, "a")
	check("swapped", "$config/prod.sealed.json:3:8: x: sealed as \"prod z\", and cannot be opened elsewhere\n"+
		"$config/prod.sealed.json:4:8: z: sealed as \"prod w\", and cannot be opened elsewhere", false, err)
}
