package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// local is this machine.
type local struct{}

func (local) Run(ctx context.Context, c Command) (int, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Script)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		c.Output(strings.TrimRight(line, "\r\n"))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (local) Write(_ context.Context, path string, mode fs.FileMode, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(content); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), mode)
}

func (local) Read(_ context.Context, path string) ([]byte, error) { return os.ReadFile(path) }
func (local) Close() error                                        { return nil }
