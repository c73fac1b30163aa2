package tasktype

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	rebootTimeout = 10 * time.Minute
	// signaled is the lowest exit status of a command killed by a signal, as the reboot command may be.
	signaled = 128
)

// reboot restarts a node and waits until its boot id has changed. The previous boot id is the output of a command with
// a token, which is recorded on the node, so a resumed task compares with the same id.
func reboot(ctx context.Context, c *Call) error {
	limit := cmp.Or(c.Task.Timeout, rebootTimeout)
	ctx, end := context.WithTimeout(ctx, limit)
	defer end()
	ask := cmp.Or(str(c.Task.Parameters, "boot_id"), "cat /proc/sys/kernel/random/boot_id")
	before, err := c.bootID(ctx, c.Token+"/boot-id", ask)
	if err != nil {
		return fmt.Errorf("cannot read the boot id: %w", err)
	}
	now, lost := c.bootID(ctx, "", ask)
	if lost == nil && now == before {
		script := cmp.Or(str(c.Task.Parameters, "command"), "systemctl reboot")
		_, err := c.run(ctx, command{token: c.Token + "/reboot", script: script, dir: c.dir(""), log: true, breaks: true})
		var failed *exitError
		if errors.As(err, &failed) && failed.status < signaled {
			return err
		}
	}
	if now == before || lost != nil {
		c.Log("info", fmt.Sprintf("waiting for up to %v for the node to come back", limit))
	}
	for now == before || lost != nil {
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			if lost != nil {
				return fmt.Errorf("the node did not come back within %v: %s", limit, lost.Error())
			}
			return fmt.Errorf("the node did not reboot within %v: its boot id is still %s", limit, before)
		case <-time.After(min(time.Second, limit/10)):
		}
		try, end := context.WithTimeout(ctx, 30*time.Second)
		id, err := c.bootID(try, "", ask)
		end()
		if ctx.Err() == nil {
			now, lost = id, err
		}
	}
	c.Log("info", "rebooted: the boot id is "+now)
	return nil
}

// bootID returns the output of a command. It returns an error if the output is empty.
func (c *Call) bootID(ctx context.Context, token, script string) (string, error) {
	lines, err := c.run(ctx, command{token: token, script: script, dir: c.dir(""), all: true})
	id := strings.TrimSpace(strings.Join(lines, "\n"))
	if err == nil && id == "" {
		err = errors.New("the command printed nothing")
	}
	return id, err
}
