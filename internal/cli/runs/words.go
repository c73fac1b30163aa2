package runs

import (
	"strconv"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
)

// Number parses the number of a deployment, such as "7" or "shop[7]". It returns 0 if arg is invalid.
func Number(arg string) int64 {
	if _, inner, ok := strings.Cut(arg, "["); ok {
		arg = strings.TrimSuffix(inner, "]")
	}
	number, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || number < 1 {
		return 0
	}
	return number
}

// StateWord returns the word shown for the state of a deployment.
func StateWord(con *console.Console, state store.State) string {
	switch state {
	case store.Wait:
		return "waiting"
	case store.Done:
		return con.Out.Paint(term.Green, "done")
	case store.Failed:
		return con.Out.Paint(term.BoldRed, "failed")
	case store.Ask:
		return con.Out.Paint(term.BoldYellow, "waiting for an answer")
	}
	return strings.ToLower(string(state))
}

// Stamp formats a time in UTC for display.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
