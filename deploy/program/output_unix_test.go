//go:build unix

package program_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestOutput(t *testing.T) {
	folder := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(folder, "file"), []byte("hunter2"), 0o600))
	t.Setenv(secret.PassphraseVariable, "hidden")
	t.Setenv(secret.IdentityVariable, "hidden")
	t.Setenv("OTHER", "inherited")
	const form = "the command must print UTF-8 text of at most 64 KiB"
	for _, test := range []struct{ command, want, stderr, err string }{
		{"cat file", "hunter2", "", ""},
		{`printf '%s' '["pw"]'`, `["pw"]`, "", ""},
		{`printf 'two\nlines\n\n'`, "two\nlines\n", "", ""},
		{`printf 'windows\r\n'`, "windows", "", ""},
		{`echo "$OTHER $LUMI_PASSPHRASE$LUMI_AGE_IDENTITY"`, "inherited ", "", ""},
		{"cat; echo end", "end", "", ""},
		{"echo loading >&2; echo hunter2", "hunter2", "loading\n", ""},
		{"yes | head -c 65537", "", "", form},
		{"yes | head -c 65536 | tr '\\n' y", strings.Repeat("y", 65536), "", ""},
		{"yes | head -c 1000000", "", "", form},
		{`printf '\377'`, "", "", form},
		{"echo", "", "", "the command printed nothing"},
		{"echo hunter2; echo denied >&2; exit 3", "", "denied\n", "the command failed: exit status 3"},
		{"no-such-command 2>/dev/null", "", "", "the command failed: exit status 127"},
		{"sleep 5 & echo hunter2", "hunter2", "", ""},
	} {
		var stderr strings.Builder
		got, err := program.Output(t.Context(), test.command, folder, &stderr)
		if got != test.want || stderr.String() != test.stderr || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("Output(%q) = %.50q, %v, and standard error %q, want %.50q, %q, %q", test.command, got, err, &stderr, test.want, test.err, test.stderr)
		}
	}
}

func TestOutputStopped(t *testing.T) {
	defer program.SetOutputTimeout(300 * time.Millisecond)()
	start := time.Now()
	if _, err := program.Output(t.Context(), "sleep 30; echo late", t.TempDir(), io.Discard); err == nil || err.Error() != "the command took longer than 300ms" {
		t.Errorf("Output of a slow command: error %v, want one about the time limit", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := program.Output(ctx, "sleep 30; echo late", t.TempDir(), io.Discard)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "the command was interrupted: ") {
		t.Errorf("Output with a canceled context: error %v, want an interrupt", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("both commands took %v, want them to be killed", took)
	}
}
