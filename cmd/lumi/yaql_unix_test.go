//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// Errors do not end the session, and an interrupt only cancels the current evaluation.
func TestYAQLTerminal(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "data.json"), []byte(`{"name": "web", "n": [1, 2.0]}`), 0o600))
	many := "[" + strings.Repeat("1,", 999) + "1]"
	x := onTerminal(t, dir, "yaql", "--var=n=2", "--var=many="+many, "data.json").expect("YAQL: $ is the data; \\q quits\nyaql> ").
		send("$.nane\x7f\x7fme\r").expect("\nweb\nyaql> "). // with line editing
		send("$.n.selectt($)\r").expect("expression:1:5: error: unknown method selectt of list (did you mean select?) [unknown-function]\n" +
		"    $.n.selectt($)\n        ^\nyaql> ").
		send("\r").expect("yaql> ").
		send("$.n[0] + $n\r").expect("\n3\nyaql> ").
		send("\x1b[A\r").expect("$.n[0] + $n").expect("\n3\nyaql> "). // recalled from the history
		send("$many.where($many.where($many.where(false).any()).any()).any()\r").
		expect("evaluating").send("\x03").expect("error: evaluation canceled [cancelled]").expect("yaql> ").
		send("junk\x03").expect("\nyaql> ").send("$.name\r").expect("\nweb\nyaql> ")
	x.send("\\q\r").exit(console.ExitOK)
	onTerminal(t, dir, "yaql", "--json").expect("yaql> ").send("[1,  null]\r").expect("\n[1,null]\nyaql> ").send("\x04").exit(console.ExitOK)
	onTerminal(t, dir, "yaql", "-").expect("an expression and a file are required").exit(console.ExitFailed)
}
