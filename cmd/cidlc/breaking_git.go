package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// git reads files of a commit. It has an index of its own, so that nothing in the repository changes.
type git struct {
	ref   string
	idl   string // a folder in the working tree
	index string
}

// export writes the Go code of the commit, and what Go needs to load it, into a new folder. It returns the path of the
// IDL's folder in it, with slashes.
func (g *git) export(ctx context.Context, dir string) (prefix string, err error) {
	top, err := g.run(ctx, g.idl, nil, "rev-parse", "--show-toplevel")
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("the git command is not on the PATH")
	} else if err != nil {
		return "", fmt.Errorf("%s is not in the working tree of a git repository", g.idl)
	}
	commit, err := g.run(ctx, g.idl, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", g.ref+"^{commit}")
	if err != nil {
		return "", errors.New("there is no such commit; a shallow clone may need 'git fetch' first")
	}
	if prefix, err = g.run(ctx, g.idl, nil, "rev-parse", "--show-prefix"); err != nil {
		return "", err
	}
	if _, err := g.run(ctx, top, nil, "read-tree", commit); err != nil {
		return "", err
	}
	files, err := g.run(ctx, top, nil, "ls-files", "-z", "--", "*.go", "*go.mod", "*go.sum", "*go.work", "*modules.txt")
	if err != nil {
		return "", err
	}
	if !strings.Contains("\x00"+files, "\x00"+prefix) {
		return "", fmt.Errorf("the commit has no Go files in %s", prefix)
	}
	_, err = g.run(ctx, top, []byte(files), "checkout-index", "-z", "--stdin", "--prefix="+filepath.ToSlash(dir)+"/")
	return prefix, err
}

// run runs a git command and returns what it printed, without the line's end.
func (g *git) run(ctx context.Context, dir string, stdin []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+g.index, "LC_ALL=C")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSuffix(string(out), "\n"), err
}
