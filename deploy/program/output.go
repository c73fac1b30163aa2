package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/deploy/secret"
)

// outputTimeout is the time limit of a command, which may prompt on the terminal.
var outputTimeout = 2 * time.Minute

// Output runs a command from Lumi.yaml with sh, in folder, and returns its standard output without a trailing newline. It
// must be nonempty UTF-8 text of at most [secret.MaxText] bytes. Like a program, the command has no standard input and no
// environment variables for passphrases and identities.
//
// If ctx is done, or after two minutes, the command is killed. Errors quote neither the command nor its output.
func Output(ctx context.Context, command, folder string, stderr io.Writer) (string, error) {
	limited, cancel := context.WithTimeout(ctx, outputTimeout)
	defer cancel()
	stdout := &text{room: secret.MaxText + 3}
	cmd := exec.CommandContext(limited, "sh", "-c", command)
	cmd.Dir, cmd.Env = folder, secret.Environ()
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, time.Second // child processes may keep the output open
	err := cmd.Run()
	output := strings.TrimSuffix(strings.TrimSuffix(stdout.String(), "\n"), "\r")
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("the command was interrupted: %w", ctx.Err())
	case limited.Err() != nil:
		return "", fmt.Errorf("the command took longer than %v", outputTimeout)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", fmt.Errorf("the command failed: %w", err)
	case output == "":
		return "", errors.New("the command printed nothing")
	case len(output) > secret.MaxText || !utf8.ValidString(output):
		return "", errors.New("the command must print UTF-8 text of at most 64 KiB")
	}
	return output, nil
}
