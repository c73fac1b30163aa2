package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

type local struct {
	// shell and env override the shell and the environment of this process.
	shell string
	env   []string
	// environ returns the environment of this process without secrets. It may be nil.
	environ func() []string
}

func (l local) exec(ctx context.Context, _ bool, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	cmd := exec.CommandContext(ctx, cmp.Or(l.shell, "sh"), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdin, stdout, stderr, time.Second
	environ := os.Environ
	if l.environ != nil {
		environ = l.environ
	}
	cmd.Env = append(environ(), l.env...)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	case errors.As(err, &exit):
		return 0, fmt.Errorf("%w: %w", errLost, err)
	case errors.Is(err, exec.ErrWaitDelay): // sh succeeded, but a background process holds its output open
		return 0, nil
	}
	return 0, err
}

func (local) connect(ctx context.Context) error { return ctx.Err() }

func (local) Close() error { return nil }
