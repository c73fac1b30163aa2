// Package program evaluates programs to desired state. It runs lumi-program in the folder of Lumi.yaml and sends the
// workspace as JSON on standard input, so that Lumi.yaml is parsed only in Go. Unlike arguments, standard input is
// hidden from other users and works the same on every system.
package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
)

// command is the name of the executable that evaluates programs, from the npm package @lumi/lumi.
const command = "lumi-program"

// patience is the time that an interrupted program has to exit, and then the time that its descendants have to close
// standard error.
const patience = 3 * time.Second

// Options configure [Evaluate].
type Options struct {
	// Workspace is the workspace that lists the program. It is required.
	Workspace *workspace.Workspace
	// Environment is the environment for which the program is evaluated. It is required.
	Environment string
	// Config lists the settings that apply to the module. None may have an unresolved command.
	Config []workspace.Setting
	// Arguments is passed to the program.
	Arguments []string
	// Stderr receives the unfiltered output of lumi-program and the program, including control characters. If nil, the
	// output is discarded.
	Stderr io.Writer
	// MaxSize is the maximum size of the graph in bytes. The default is [lumigl.DefaultMaxSize].
	MaxSize int64
}

// ExitError reports that lumi-program exited without returning a graph. The reason was written to Options.Stderr.
type ExitError struct {
	// Module is the module whose program was evaluated.
	Module string
	// Code is the exit code. It is 1 for errors in the program, and 2 or more if the program did not run or finish.
	Code int

	path string
}

// Error returns a one-line message, which does not repeat the output on standard error.
func (e *ExitError) Error() string {
	if e.Code == 1 {
		return fmt.Sprintf("module %q: the program has errors", e.Module)
	}
	return fmt.Sprintf("module %q: %s exited with code %d", e.Module, e.path, e.Code)
}

// Evaluate runs the program of a module listed in Lumi.yaml and returns the module's desired state. The program runs in
// the folder of Lumi.yaml without standard input and without the environment variables for passphrases and identities.
// The desired state contains secrets in plain text and is never written to a file.
//
// If ctx is done, the program is interrupted and, after 3 seconds, killed, and the error wraps ctx.Err(). Descendants
// of the program do not outlive it unless they are detached. If lumi-program exits with a nonzero code, Evaluate
// returns an *[ExitError]. Evaluate may be called concurrently with the same Workspace, and with the same Stderr if
// that is safe for concurrent use.
func Evaluate(ctx context.Context, module string, o Options) (*lumigl.Snapshot, error) {
	program, err := programOf(o.Workspace, module)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Dir(o.Workspace.File))
	if err != nil {
		return nil, err
	}
	path, err := find(folder, program)
	if err != nil {
		return nil, err
	}
	if _, err := Values(o.Config); err != nil {
		return nil, err
	}
	input, err := json.Marshal(handover{o.Workspace, o.Config, placesOf(o.Workspace.Providers(o.Environment))})
	if err != nil {
		return nil, fmt.Errorf("module %q: %w", module, err)
	}
	limit := cmp.Or(o.MaxSize, lumigl.DefaultMaxSize)
	stdout := &text{room: limit + 1}
	flags := []string{module, "--environment=" + o.Environment, "--workspace-stdin", "--"}
	cmd := exec.CommandContext(ctx, path, append(flags, o.Arguments...)...)
	cmd.Dir, cmd.Env = folder, secret.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(input), stdout, o.Stderr, patience
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("module %q: %w", module, err)
	}
	err = cmd.Wait()
	killGroup(cmd)
	var exit *exec.ExitError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("module %q: interrupted before the program finished: %w", module, ctx.Err())
	case errors.As(err, &exit) && exit.Exited():
		return nil, &ExitError{Module: module, Code: exit.ExitCode(), path: path}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // A background process may keep standard error open.
		return nil, fmt.Errorf("module %q: %s: %w", module, path, err)
	}
	snapshot, err := lumigl.Parser{MaxSize: limit}.ParseSnapshot(stdout.String())
	if err != nil {
		return nil, fmt.Errorf("module %q: %s printed an invalid graph for %s: %w", module, path, program, err)
	}
	return snapshot, nil
}

// programOf returns the path of a module's program, as listed in Lumi.yaml.
func programOf(w *workspace.Workspace, module string) (string, error) {
	if program, ok := w.Modules[module]; ok {
		return program, nil
	}
	names := w.Names()
	help := "its modules are " + strings.Join(names, ", ")
	switch near := suggest.Name(module, names); {
	case len(names) == 0:
		return "", fmt.Errorf("%s has no program: add modules: {NAME: FILE}", w.File)
	case near != "":
		help = fmt.Sprintf("did you mean %q?", near)
	case len(names) == 1:
		help = "its only module is " + names[0]
	}
	return "", fmt.Errorf("module %q is not in %s; %s", module, workspace.FileName, help)
}

// find returns the path of lumi-program. Like npm, it searches node_modules in the program's folder and its parents,
// then $PATH.
func find(folder, program string) (string, error) {
	for dir := filepath.Dir(filepath.Join(folder, program)); ; dir = filepath.Dir(dir) {
		// LookPath adds .cmd on Windows.
		if path, err := exec.LookPath(filepath.Join(dir, "node_modules", ".bin", command)); err == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf(`%s is not installed: run "npm install @lumi/lumi" in %s`, command, folder)
	}
	return path, nil
}

// text is a writer that keeps only the first room bytes.
type text struct {
	strings.Builder
	room int64
}

func (t *text) Write(data []byte) (int, error) {
	kept := min(int64(len(data)), t.room-int64(t.Len()))
	t.Builder.Write(data[:kept])
	return len(data), nil
}
