package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
)

func noEnv(string) string { return "" }

// runLumi runs a command in this process and returns its exit code.
func runLumi(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	con := console.New(stdin, stdout, stderr, getenv)
	return runCommand(ctx, con, newRoot(con), args)
}

const smallGraph = `{"vertices":{"a":{}}}`

// writer is a writer that always fails.
type writer struct{ err error }

func (w writer) Write([]byte) (int, error) { return 0, w.err }

func TestOutputError(t *testing.T) {
	for _, args := range [][]string{
		{"help"}, {"help", "check"}, {"version"}, {"check", "-"}, {"show", "-"}, {"show", "--json", "-"}, {"fmt", "-"},
		{"fmt", "--check", "-"}, {"completion", "bash"},
	} {
		var stderr bytes.Buffer
		code := runLumi(t.Context(), args, strings.NewReader(smallGraph), writer{errors.New("disk full")}, &stderr, noEnv)
		if want := "lumi: cannot write to standard output: disk full\n"; code != console.ExitFailed || stderr.String() != want {
			t.Errorf("lumi %v = exit code %d, stderr %q, want %q", args, code, &stderr, want)
		}
	}
}

func TestClosedPipe(t *testing.T) {
	for _, test := range []struct {
		args  []string
		stdin string
		want  int
	}{
		{[]string{"show", "-"}, smallGraph, console.ExitOK},
		{[]string{"fmt", "-"}, smallGraph, console.ExitOK},
		{[]string{"fmt", "--check", "-"}, smallGraph, console.ExitWrong},
		{[]string{"check", "--json", "-"}, "{}", console.ExitWrong},
		{[]string{"show", "-"}, largeGraph(), console.ExitOK},
		{[]string{"show", "--json", "-"}, largeGraph(), console.ExitOK},
		{[]string{"check", "--json", "--max-faults=10000", "-"}, "[" + strings.Repeat("1,,", 10000) + "1]", console.ExitWrong},
		{[]string{"diff", "-", write(t, "large.json", largeGraph())}, smallGraph, console.ExitWrong},
		{[]string{"diff", "--json", "-", write(t, "large.json", largeGraph())}, smallGraph, console.ExitWrong},
	} {
		var stderr bytes.Buffer
		code := runLumi(t.Context(), test.args, strings.NewReader(test.stdin), writer{syscall.EPIPE}, &stderr, noEnv)
		if code != test.want || stderr.Len() > 0 {
			t.Errorf("lumi %v with a closed pipe = exit code %d, want %d, stderr %q", test.args, code, test.want, &stderr)
		}
	}
}

// largeGraph returns a graph that exceeds every buffer.
func largeGraph() string {
	return `{"vertices":{"` + strings.Repeat("x", 1<<20) + `":{}}}`
}

// brokenReader is a reader that fails like a broken disk.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func TestInputError(t *testing.T) {
	var stderr bytes.Buffer
	code := runLumi(t.Context(), []string{"check"}, brokenReader{}, io.Discard, &stderr, noEnv)
	if want := "lumi: <stdin>: input/output error\n"; code != console.ExitFailed || stderr.String() != want {
		t.Errorf("lumi check = exit code %d, stderr %q, want %q", code, &stderr, want)
	}
}

// Messages about arbitrary input contain no terminal control characters.
func FuzzCheck(f *testing.F) {
	f.Add(`{"vertices":{"a":{"x":[1,],'y':tru "z":{"#ref":"b"}}}}`)
	f.Add("{\x1b[31m\x00\u202e\x9b")
	f.Add(`{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270",` + "\t\r\n,宽")
	f.Fuzz(func(t *testing.T, src string) {
		for _, args := range [][]string{{"check", "-"}, {"check", "--json", "-"}, {"show", "--view=tree", "-"}, {"show", "--json", "-"}} {
			var stdout, stderr bytes.Buffer
			code := runLumi(t.Context(), args, strings.NewReader(src), &stdout, &stderr, noEnv)
			if code != console.ExitOK && code != console.ExitWrong {
				t.Fatalf("lumi %v = exit code %d, want 0 or 1: %s", args, code, &stderr)
			}
			for _, out := range []string{stdout.String(), stderr.String()} {
				for line := range strings.Lines(out) {
					if line = strings.TrimSuffix(line, "\n"); term.Visible(line) != line {
						t.Fatalf("lumi %v printed %q, want no control characters", args, line)
					}
				}
			}
		}
	})
}
