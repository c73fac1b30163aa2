package tasktype

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/taskgraph/host"
)

// run runs a command on the node and returns its output.
func (c *Call) run(ctx context.Context, cmd command) ([]string, error) {
	var lines []string
	exit, err := c.Host.Run(ctx, host.Command{
		Token: cmd.token, Script: cmd.script, Dir: cmd.dir, Env: c.Env,
		Warn: func(message string) {
			if !cmd.breaks {
				c.Log("warn", message)
			}
		},
		Output: func(line string) {
			if cmd.log {
				c.Log("info", line)
			}
			if !cmd.all {
				lines = lines[max(0, len(lines)-2):]
			}
			lines = append(lines, line)
		},
	})
	if err == nil && exit != 0 && !slices.Contains(cmd.statuses, exit) {
		err = &exitError{exit, lines[max(0, len(lines)-3):]}
	}
	return lines, err
}

// dir returns the working directory of a command. On this machine, a relative path is resolved against Folder, except ~/.
func (c *Call) dir(cwd string) string {
	if c.Node.Local && !filepath.IsAbs(cwd) && cwd != "~" && !strings.HasPrefix(cwd, "~/") {
		return filepath.Join(c.Folder, cwd)
	}
	return cwd
}

// exitError reports an exit status that counts as a failure.
type exitError struct {
	status int
	// last contains the last lines of the output.
	last []string
}

func (e *exitError) Error() string {
	message := fmt.Sprintf("exit status %d", e.status)
	if len(e.last) > 0 {
		message += ": " + strings.Join(e.last, "; ")
	}
	return message
}
