package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Each line is answered with one line: an object that contains the trace and either a value or an error.
func FuzzBatch(f *testing.F) {
	dir := f.TempDir()
	class := "Name: A\nProperties: {x: {Contract: $}}\nMethods: {m: {Arguments: {a: {Contract: $}}, Body: [trace($a), {Return: [$.x, $a]}]}}\n"
	must.Do(f, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(class), 0o600))
	f.Add(`{"model": {"?": {"type": "A"}, "x": {"a": 1e400}}, "method": "m", "args": ["\ud800"]}` + "\n\n[")
	f.Add(`{"model": {"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"`)
	f.Fuzz(func(t *testing.T, src string) {
		var out bytes.Buffer
		code := runLumi(t.Context(), []string{"murano", "run", "--batch", "--classes", dir}, strings.NewReader(src), &out, io.Discard, noEnv)
		lines := strings.SplitAfter(src, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if answers := strings.Count(out.String(), "\n"); code != console.ExitOK || answers != len(lines) {
			t.Fatalf("lumi murano run = exit code %d, %d answers to %d lines:\n%s", code, answers, len(lines), &out)
		}
		for line := range strings.Lines(out.String()) {
			var answer struct{ Value, Error, Trace json.RawMessage }
			if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Trace == nil || (answer.Value == nil) == (answer.Error == nil) {
				t.Fatalf("answer = %s, want a trace and either a value or an error", line)
			}
		}
	})
}
