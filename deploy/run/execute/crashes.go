package execute

import (
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/provision"
)

// crashes counts crashes of a plugin with the same exit status or signal and the same last line of output, in a row.
type crashes struct {
	last  provision.Crash
	times int
}

// maxCrashes is how many equal crashes in a row end a call: more attempts would end the same way.
const maxCrashes = 3

// count returns why the call is not repeated, or nil if it may be.
func (c *crashes) count(err error) error {
	now := provision.CrashOf(err)
	if now.Status == "" || now.Status != c.last.Status || now.LastLine() != c.last.LastLine() {
		c.times = 0
	}
	c.last = now
	if c.times++; now.Status == "" || c.times < maxCrashes {
		return nil
	}
	text := fmt.Sprintf("the plugin crashed %d times in the same way: %s", c.times, now.Status)
	if now.Output != "" {
		text += "\nIt wrote:\n" + now.Output
	}
	return errors.New(text)
}
