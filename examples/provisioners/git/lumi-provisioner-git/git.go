package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// git runs git commands, with the configuration, credentials, and keys of the user.
type git struct {
	// repository is the URL or path of the remote, which may contain a password. Commands refer to the remote as "lumi".
	repository string
	// dir is the path of the local bare repository, or "" for commands that need none.
	dir string
	// env contains additional environment variables for commands.
	env []string
	// fault is an error that occurred in ask. If it is not nil, results derived from ask must not be used.
	fault error
}

// repositoryVariables lists the environment variables that change the repository or the behavior of git commands.
var repositoryVariables = strings.Fields(`GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE
	GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_GRAFT_FILE GIT_REPLACE_REF_BASE GIT_NO_REPLACE_OBJECTS GIT_SHALLOW_FILE GIT_PREFIX
	GIT_IMPLICIT_WORK_TREE GIT_QUARANTINE_PATH GIT_CONFIG GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_LITERAL_PATHSPECS LC_ALL`)

// environ returns the environment variables for commands. They disable password prompts and select English messages.
func (g *git) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(repositoryVariables, name)
	})
	env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "LUMI_GIT_REPOSITORY="+g.repository)
	return append(env, g.env...)
}

// commandError is the error of a failed command, with its standard error.
type commandError struct {
	command, stderr string
	err             error
}

func (e *commandError) Error() string {
	said := e.stderr
	if said == "" {
		said = e.err.Error()
	}
	return e.command + ": " + said
}

func (e *commandError) Unwrap() error { return e.err }

// run runs git and returns its standard output without the trailing newline. It disables hooks and diff helpers. It passes
// the repository in an environment variable, since other users of the machine can see the arguments.
func (g *git) run(ctx context.Context, input string, args ...string) (string, error) {
	all := []string{
		"--config-env=remote.lumi.url=LUMI_GIT_REPOSITORY", "-c", "core.hooksPath=" + os.DevNull, "-c", "i18n.commitEncoding=UTF-8",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.logAllRefUpdates=false",
	}
	if g.dir != "" {
		all = append(all, "--git-dir="+g.dir)
	}
	out, err := execute(ctx, input, g.environ(), append(append([]string{"git"}, all...), args...))
	if err == nil {
		return strings.TrimSuffix(out, "\n"), nil
	}
	failed := g.failed("git "+args[0], out, err)
	if ctx.Err() == nil && transient.MatchString(out) {
		return "", &lumi.RetryError{Err: failed}
	}
	return "", failed
}

// execute runs a command and returns its standard output, or its standard error if it fails. When ctx is done, the command
// and its child processes are stopped.
func execute(ctx context.Context, input string, env, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	ownGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	cmd.Env, cmd.Stdin = env, strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			return err.Error(), err
		}
		var said []string
		for line := range strings.Lines(stderr.String()) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "To ") {
				said = append(said, line)
			}
		}
		return strings.Join(said[max(0, len(said)-20):], "\n"), err
	}
	return stdout.String(), nil
}

// maxErrorOutput is the maximum number of bytes of output in an error.
const maxErrorOutput = 2000

// failed returns a commandError with the end of a command's output. It masks passwords before truncating the output, since
// a truncated password would not be recognized.
func (g *git) failed(command, said string, err error) *commandError {
	said = g.mask(said)
	return &commandError{command: command, stderr: strings.ToValidUTF8(said[max(0, len(said)-maxErrorOutput):], ""), err: err}
}

// transient matches the messages of transient errors.
var transient = regexp.MustCompile(`(?i)could not resolve|temporary failure|failed to connect|connection (timed out|refused|reset|closed)|` +
	`operation timed out|network is unreachable|no route to host|early EOF|hung up unexpectedly|unexpected disconnect|returned error: (429|5\d\d)`)

var userinfo = regexp.MustCompile(`(://)[^/\s'"]*:[^/\s'"]*@|(https?://)[^/\s'"]*@`)

// mask replaces user information in URLs, and all occurrences of the repository's password, with ***.
func (g *git) mask(text string) string {
	if u, err := url.Parse(g.repository); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" {
			_, raw, _ := strings.Cut(u.User.String(), ":")
			text = strings.NewReplacer(password, "***", raw, "***").Replace(text)
		}
	}
	return userinfo.ReplaceAllString(text, "$1$2***@")
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// ask runs a git command whose exit code answers a question. It returns the output, and whether the exit code is 0. If git
// could not run or was killed, it sets g.fault.
func (g *git) ask(ctx context.Context, args ...string) (answer string, yes bool) {
	answer, err := g.run(ctx, "", args...)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 0) {
		g.fault = err
	}
	return answer, err == nil
}

// has reports whether the local repository contains a commit.
func (g *git) has(ctx context.Context, commit string) bool {
	_, yes := g.ask(ctx, "cat-file", "-e", commit+"^{commit}")
	return yes
}

// contains reports whether commit is tip or an ancestor of tip.
func (g *git) contains(ctx context.Context, tip, commit string) bool {
	_, yes := g.ask(ctx, "merge-base", "--is-ancestor", commit, tip)
	return yes
}

// object returns the object id of a revision such as "main:lumi/dev", or "" if it does not exist.
func (g *git) object(ctx context.Context, revision string) string {
	id, _ := g.ask(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
	return id
}

// identity sets a default author and committer if the user has not configured them.
func (g *git) identity(ctx context.Context) {
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		if _, known := g.ask(ctx, "var", "GIT_"+role+"_IDENT"); !known {
			g.env = append(g.env, fmt.Sprintf("GIT_%s_NAME=Lumi", role), fmt.Sprintf("GIT_%s_EMAIL=lumi@localhost", role))
		}
	}
}
