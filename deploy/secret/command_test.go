package secret_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// script returns a wrapper that runs a shell script with --name prod as its arguments, and the name of the script.
func script(t *testing.T, text string) (*secret.Wrapper, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no shell on Windows")
	}
	name := filepath.Join(t.TempDir(), "key.sh")
	must.Do(t, os.WriteFile(name, []byte(text+"\n"), 0o600))
	return wrapper(t, "exec:sh "+name+" --name prod"), "sh"
}

// keeper is a script that wraps a key by storing it in a file and printing a placeholder.
const keeper = `
test "$1 $2" = "--name prod" || exit 9
case $3 in
wrap) cat >kept; echo ticket 1 ;;
unwrap) test "$(cat)" = "ticket 1" && cat kept ;;
esac`

func TestCommand(t *testing.T) {
	w, _ := script(t, keeper)
	w.Dir = t.TempDir()
	key := secret.NewKey()
	wrapped := wrap(t, w, key)
	if !strings.HasSuffix(wrapped, "\nticket 1\n") {
		t.Errorf("Wrap() = %s, want the output of the command", wrapped)
	}
	unwrapped := must.Get(w.Unwrap(t.Context(), wrapped))(t)
	isSame(t, key, unwrapped)

	// The command now returns a different key.
	wrap(t, w, secret.NewKey())
	_, err := w.Unwrap(t.Context(), wrapped)
	fails(t, "another key", err, true, `"exec" unwrapped something other than the key`)
}

func TestCommandErrors(t *testing.T) {
	t.Parallel()
	const (
		text        = `"$ wrap" must write text to standard output, such as base64, at most 64 KiB; standard error: ""`
		unencrypted = `"$ wrap" wrote the key unencrypted; standard error: ""`
	)
	for _, test := range []struct{ about, text, want string }{
		{"fails", "echo no token >&2; exit 3", `"$ wrap" failed: exit status 3; standard error: "no token"`},
		{"fails silently", "exit 3", `"$ wrap" failed: exit status 3; standard error: ""`},
		{"prints nothing", "cat >/dev/null", text},
		{"prints the key", "cat", unencrypted},
		{"prints binary data", `printf '\377\376'`, text},
		{"prints the key in hexadecimal", "base64 -d | od -An -tx1 | tr -d ' \\n'", unencrypted},
		{"prints the key as base64 without padding", "tr -d =", unencrypted},
		{"floods", "yes | head -c 65537", text},
		{"complains about the key", `k=$(cat); echo "cannot wrap $k, or $(printf %s $k | base64)" >&2; exit 1`,
			`"$ wrap" failed: exit status 1; standard error: "cannot wrap (secret), or (secret)"`},
		{"complains about other forms of the key", `k=$(cat); echo "$k" | tr -d = >&2; echo "$k" | base64 -d | od -An -tx1 | tr -d ' \n' >&2; exit 1`,
			`"$ wrap" failed: exit status 1; standard error: "(secret)\n(secret)"`},
		{"complains at length", `yes | head -c 1000000 >&2; exit 1`, `"$ wrap" failed: exit status 1; standard error: "` + strings.Repeat(`y\n`, 250) + `"`},
		{"complains in color", `printf '\033[31mno\377' >&2; exit 1`, `"$ wrap" failed: exit status 1; standard error: "\x1b[31mno\xff"`},
		{"does not unwrap", "test $3 = wrap && echo wrapped", `"$ unwrap" failed: exit status 1; standard error: ""`},
		{"unwraps something else", "echo something", `"exec" unwrapped something other than the key`},
		{"complains about what it unwrapped", `if test $3 = wrap; then cat >"$0.kept"; echo ticket; else cat "$0.kept"; cat "$0.kept" >&2; exit 1; fi`,
			`"$ unwrap" failed: exit status 1; standard error: "(secret)"`},
	} {
		w, name := script(t, test.text)
		wrapped, err := w.Wrap(t.Context(), secret.NewKey())
		fails(t, test.about, err, true, strings.ReplaceAll(test.want, "$", name))
		if wrapped != "" {
			t.Errorf("%s: Wrap() = %q, want an empty string", test.about, wrapped)
		}
	}
	w := wrapper(t, "exec:no-such-command-at-all")
	_, err := w.Wrap(t.Context(), secret.NewKey())
	fails(t, "missing", err, true, `"no-such-command-at-all wrap" failed: exec: "no-such-command-at-all": executable file not found in $PATH; standard error: ""`)
}

func TestCommandCanceled(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"exec yes", "exec sleep 30", "sleep 30", "trap '' TERM INT; sleep 30 & wait"} {
		w, name := script(t, text)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("interrupted"))
		start := time.Now()
		_, err := w.Wrap(ctx, secret.NewKey())
		cancel()
		fails(t, text, err, false, `"`+name+` wrap" was stopped: interrupted`)
		if !errors.Is(err, context.Cause(ctx)) || time.Since(start) > 10*time.Second {
			t.Errorf("%s: Wrap returned %v after %v, want the cause of the context within 10s", text, err, time.Since(start))
		}
	}
}

// A command's output is complete when the command exits, even if a child process keeps the output open.
func TestCommandLeavesChild(t *testing.T) {
	t.Parallel()
	w, _ := script(t, keeper+"\nsleep 5 &")
	w.Dir = t.TempDir()
	wrap(t, w, secret.NewKey())
}
