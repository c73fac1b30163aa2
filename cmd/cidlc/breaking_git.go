package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// checkout writes the Go files of a commit, and the files needed to load them, to the empty folder dir. Idl is a folder
// in the working tree; prefix is its path inside dir. A separate index keeps the repository unchanged.
func checkout(ctx context.Context, idl, ref, dir string) (prefix string, err error) {
	// Git sets these variables when it runs hooks. With them, it would treat any folder as the working tree.
	env := slices.DeleteFunc(append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(dir, ".index")), func(set string) bool {
		return strings.HasPrefix(set, "GIT_DIR=") || strings.HasPrefix(set, "GIT_WORK_TREE=")
	})
	git := func(at, stdin string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Stdin = at, strings.NewReader(stdin)
		cmd.Env = env
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return string(out), err
	}
	out, err := git(idl, "", "rev-parse", "--show-toplevel", "--show-prefix")
	top, prefix, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git command not found in PATH")
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", idl, err)
	}
	commit, err := git(top, "", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", errors.New("commit not found; a shallow clone may need 'git fetch' first")
	}
	if _, err := git(top, "", "read-tree", strings.TrimSpace(commit)); err != nil {
		return "", err
	}
	files, err := git(top, "", "ls-files", "-z", "--", "*.go", "*go.mod", "*go.sum", "*go.work", "*modules.txt")
	if err != nil {
		return "", err
	}
	if !strings.Contains("\x00"+files, "\x00"+prefix) {
		return "", fmt.Errorf("no Go files at this commit in %s", prefix)
	}
	_, err = git(top, files, "checkout-index", "-z", "--stdin", "--prefix="+filepath.ToSlash(dir)+"/")
	return prefix, err
}
