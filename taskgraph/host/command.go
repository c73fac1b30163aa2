package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed wrapper.sh
var wrapper string

// shell implements [Host] on top of a transport.
type shell struct {
	transport
	// patience limits the time for which a lost connection is retried.
	patience time.Duration
	pruned   atomic.Bool
}

var variable = regexp.MustCompile(`(?s)^[A-Za-z_][A-Za-z0-9_]*=`)

func (s *shell) Run(ctx context.Context, c Command) (exit int, err error) {
	out := &lines{emit: c.Output}
	defer out.flush()
	var script strings.Builder
	for _, v := range c.Env {
		if !variable.MatchString(v) {
			name, _, _ := strings.Cut(v, "=")
			return 0, fmt.Errorf("invalid variable name %q", name)
		}
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&script, "export %s=%s; ", name, quote(value))
	}
	if c.Dir != "" {
		fmt.Fprintf(&script, "CDPATH= cd -- %s || exit; ", QuotePath(c.Dir))
	}
	script.WriteString(c.Script)
	if c.Token == "" {
		// The braces make sh read the whole script before it executes anything, so a truncated script has no effect.
		text := "exec 2>&1\n{ :\n" + script.String() + "\n} </dev/null\n"
		return s.exec(ctx, false, []string{"-s"}, strings.NewReader(text), out, out)
	}
	return s.runOnce(ctx, &once{c: c, script: script.String(), out: out})
}

// once is a command with a token, which must run only once.
type once struct {
	c      Command
	script string
	out    *lines
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// args returns the arguments for sh to run the wrapper.
func (o *once) args(mode string, prune bool) []string {
	known, flag := strconv.FormatInt(o.out.count(), 10), "0"
	if prune {
		flag = "1"
	}
	readable := unsafe.ReplaceAllString(o.c.Token, "_")
	hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16] }
	name, digest := fmt.Sprintf("%.60s-%s", readable, hash(o.c.Token)), hash(o.c.Dir+"\x00"+o.c.Script)
	return []string{"-c", `eval "$1"`, "lumi", wrapper, mode, name, digest, strconv.Itoa(len(o.script)), known, flag}
}

// runOnce waits until a command has ended. It reconnects if the connection is lost.
func (s *shell) runOnce(ctx context.Context, o *once) (int, error) {
	if err := s.connect(ctx); err != nil {
		return 0, err
	}
	following, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stopped := make(chan error, 1)
	unwatch := context.AfterFunc(ctx, func() {
		if isLeft(ctx) {
			stopped <- nil
			end()
			return
		}
		stopped <- s.stop(ctx, o)
		time.AfterFunc(2*time.Second, end)
	})
	var lost time.Time
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		exit, err := 0, s.connect(ctx)
		if err == nil {
			exit, err = s.follow(following, o)
		}
		switch {
		case err == nil || errors.Is(err, ErrUncertain):
		case ctx.Err() == nil && (errors.Is(err, errLost) || !lost.IsZero()):
			if lost.IsZero() {
				lost = time.Now()
				if o.c.Warn != nil {
					o.c.Warn(fmt.Sprintf("%v; trying to reconnect for up to %v", err, s.patience))
				}
			}
			if time.Since(lost) < s.patience {
				sleep(ctx, wait)
				continue
			}
			err = fmt.Errorf("%w: %w", ErrUnreached, err)
		}
		if unwatch() || err == nil {
			return exit, err
		}
		if stop := <-stopped; stop != nil {
			return 0, fmt.Errorf("%w: %w, and the command cannot be stopped: %w", ErrUnreached, ctx.Err(), stop)
		}
		return 0, ctx.Err()
	}
}

// isLeft reports whether commands should keep running after ctx is done.
func isLeft(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// follow starts the command unless it has been started before. It waits for the command and returns its exit status.
func (s *shell) follow(ctx context.Context, o *once) (int, error) {
	var control last
	exit, err := s.exec(ctx, false, o.args("run", s.pruned.CompareAndSwap(false, true)), strings.NewReader(o.script), o.out, &control)
	if err != nil {
		return 0, err
	}
	text := control.String()
	line := text[strings.LastIndexByte(text, '\n')+1:]
	verdict, isVerdict := strings.CutPrefix(line, "lumi: ")
	words := strings.Fields(verdict)
	switch {
	case !isVerdict || len(words) == 0:
		return 0, fmt.Errorf("cannot run the command: exit status %d%s", exit, control.reason())
	case words[0] == "uncertain":
		return 0, ErrUncertain
	case words[0] == "other":
		return 0, fmt.Errorf("a different command already ran as %q on the node", o.c.Token)
	case words[0] == "failed" || len(words) == 1:
		return 0, errors.New("cannot start the command: cannot write its state to ~/.local/state/lumi")
	case len(words) == 3 && words[2] == "timeout":
		return 0, fmt.Errorf("the command was stopped: %w", context.DeadlineExceeded)
	case len(words) == 3:
		return 0, fmt.Errorf("%w: it was stopped", ErrUncertain)
	}
	return strconv.Atoi(words[1])
}

// stop terminates the command or prevents it from starting.
func (s *shell) stop(ctx context.Context, o *once) error {
	mode := "cancel"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		mode = "timeout"
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer end()
	return s.do(ctx, true, o.args(mode, false), nil, io.Discard)
}

// do runs sh and returns an error unless the exit status is 0.
func (s *shell) do(ctx context.Context, urgent bool, args []string, stdin io.Reader, stdout io.Writer) error {
	var complaint last
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	exit, err := s.exec(ctx, urgent, args, stdin, stdout, &complaint)
	if err == nil && exit != 0 {
		err = fmt.Errorf("exit status %d%s", exit, complaint.reason())
	}
	return err
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// QuotePath returns a path as a word of a shell script. It expands ~ and ~/ at the beginning to the home directory.
func QuotePath(name string) string {
	switch rest, ok := strings.CutPrefix(name, "~/"); {
	case name == "~":
		return `"$HOME"`
	case ok:
		return `"$HOME"/` + quote(rest)
	}
	return quote(name)
}

const longest = 64 << 10

// lines is a writer that calls emit for each line.
type lines struct {
	mu      sync.Mutex
	emit    func(string)
	partial []byte
	n       int64
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += int64(len(b))
	for rest := b; len(rest) > 0; {
		line, _, ended := bytes.Cut(rest[:min(len(rest), longest-len(l.partial))], []byte("\n"))
		l.partial, rest = append(l.partial, line...), rest[len(line):]
		if ended {
			rest = rest[1:]
		}
		if ended || len(l.partial) == longest {
			l.end()
		}
	}
	return len(b), nil
}

func (l *lines) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *lines) end() {
	if l.emit != nil {
		l.emit(string(bytes.TrimSuffix(l.partial, []byte("\r"))))
	}
	l.partial = l.partial[:0]
}

func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.end()
	}
}

// last is a writer that keeps the last bytes written to it.
type last struct{ text []byte }

func (l *last) Write(b []byte) (int, error) {
	l.text = append(l.text, b...)
	l.text = l.text[max(0, len(l.text)-4<<10):]
	return len(b), nil
}

func (l *last) String() string { return strings.TrimSpace(string(l.text)) }

// reason returns the text in parentheses, or "" if it is empty.
func (l *last) reason() string {
	if text := l.String(); text != "" {
		return " (" + text + ")"
	}
	return ""
}
