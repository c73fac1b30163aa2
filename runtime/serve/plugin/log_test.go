package plugin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/wire"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

func written(o *output, text string) string {
	var b strings.Builder
	o.w = &b
	_, _ = o.Write([]byte(text)) // It cannot fail.
	o.report(false)
	return b.String()
}

func TestOutput(t *testing.T) {
	o := newOutput(Command{})
	long := strings.Repeat("é", 1<<20)
	const told = "dropped %s; set LUMI_PLUGIN_LOG=all to see everything\n"
	if got, want := written(o, long+"\nnext\n"), long[:maxLogLine]+"…\nnext\n"+fmt.Sprintf(told, "1 line ends"); got != want {
		t.Errorf("output of a long line has %d bytes, want %d", len(got), len(want))
	}
	if cap(o.line) > 2*maxHeld {
		t.Errorf("buffer capacity = %d, want at most %d", cap(o.line), 2*maxHeld)
	}

	o.begin(nil)
	for range 1003 {
		o.event()
	}
	if got, want := written(o, strings.Repeat("y\n", 1500)), strings.Repeat("y\n", 1000)+fmt.Sprintf(told, "500 lines and 3 events"); got != want {
		t.Errorf("output of 1500 lines has %d bytes, want %d", len(got), len(want))
	}
	o.begin(nil)
	part := strings.Repeat("x", maxLogLine) + "\n"
	if got, want := written(o, strings.Repeat(part, 40)), strings.Repeat(part, 36)+fmt.Sprintf(told, "4 lines"); got != want {
		t.Errorf("output of more than 1 MiB has %d bytes, want %d", len(got), len(want))
	}

	t.Setenv("LUMI_PLUGIN_LOG", "all")
	o = newOutput(Command{})
	if got := written(o, strings.Repeat("y\n", 1500)); got != strings.Repeat("y\n", 1500) {
		t.Errorf("output without limits has %d bytes, want 3000", len(got))
	}
	if got := strings.ReplaceAll(written(o, long+"\n"), "\n", ""); got != long {
		t.Errorf("output of a long line without limits has %d bytes, want %d", len(got), len(long))
	}
}

func TestOutputSecrets(t *testing.T) {
	secrets := wire.NewSecrets(nil)
	secrets.AddValue("hunter2-hunter2")
	o := newOutput(Command{})
	o.begin(secrets)
	for range maxSecrets - 1 {
		o.begin(wire.NewSecrets(nil))
	}
	expect.Equal(t, "it is (secret)\n", written(o, "it is hunter2-")+written(o, "hunter2\n"))
	across := strings.Repeat("x", maxLogLine-5)
	if got := written(o, across+"hunter2-hunter2\n"); strings.Contains(got, "hunt") {
		t.Errorf("output = …%q, want it without the start of the secret", got[maxLogLine-10:])
	}
	raw := newOutput(Command{Raw: true})
	raw.begin(secrets)
	expect.Equal(t, "it is hunter2-hunter2", written(raw, "it is hunter2-hunter2"))
}
