package execute

import (
	"errors"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/provision"
)

// crashes counts consecutive crashes of a plugin with the same exit status or signal and the same last line of output.
type crashes struct {
	last  provision.Crash
	times int
}

// maxCrashes is the number of identical consecutive crashes after which a call is not retried.
const maxCrashes = 3

// count counts err if it is a crash. It returns an error if the call must not be retried, and nil otherwise.
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
