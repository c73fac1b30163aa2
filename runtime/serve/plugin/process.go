package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	defaultStart = 30 * time.Second
	// defaultGrace is longer than the time a plugin allows its calls to end.
	defaultGrace = 15 * time.Second
	// pipeDelay is the maximum time to read output after the process has exited, since its children may keep the pipe
	// open.
	pipeDelay = 2 * time.Second
)

type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	grace time.Duration
	// answer is the standard output of a provisioner that speaks JSON, and nil for other plugins.
	answer *answer
	log    *output // combined standard output and standard error
	first  *firstLine
	said   *tail
	ended  chan struct{} // closed when the process has exited
	err    error         // the result of cmd.Wait, valid once ended is closed

	// stop stops the process, killing it after the grace period. Further calls return the same error.
	stop func() error
}

func startProcess(c Command, log *output, secret string) (*process, error) {
	p := &process{
		cmd:   exec.Command(c.Path, c.Args...),
		grace: cmp.Or(c.Grace, defaultGrace),
		log:   log,
		first: &firstLine{rest: log, line: make(chan string, 1)},
		said:  &tail{},
		ended: make(chan struct{}),
	}
	p.stop = sync.OnceValue(p.end)
	p.cmd.Env = c.environment(secret)
	if p.cmd.Dir = c.Dir; c.Dir != "" {
		// A relative path is resolved against the working directory of this process, not the plugin's.
		var err error
		if p.cmd.Path, err = filepath.Abs(p.cmd.Path); err != nil {
			return nil, err
		}
		if _, err := os.Stat(c.Dir); err != nil { // The error of Start would blame the executable.
			return nil, fmt.Errorf("working directory of the plugin: %w", err)
		}
	}
	p.cmd.Stdout = p.first
	if c.JSON {
		p.answer = &answer{}
		p.cmd.Stdout, p.cmd.Env = p.answer, c.Env
	}
	p.cmd.Stderr = io.MultiWriter(p.said, log)
	p.cmd.WaitDelay = pipeDelay
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	ownGroup(p.cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // The kernel kills the process when this thread exits.
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		if started <- err; err == nil {
			p.err = p.cmd.Wait()
			log.report(true)
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// port waits until the plugin prints its port and returns the port. It returns an error if the plugin exits or prints
// anything else, or if ctx is done.
func (p *process) port(ctx context.Context) (uint16, error) {
	var line string
	select {
	case line = <-p.first.line:
	case <-p.ended:
		select {
		case line = <-p.first.line:
		default:
			return 0, fmt.Errorf("the plugin exited before it was ready: %w", cmp.Or(p.err, errNoReason))
		}
	case <-ctx.Done():
		return 0, fmt.Errorf("the plugin is not ready: %w", ctx.Err())
	}
	port, err := strconv.ParseUint(strings.TrimSuffix(line, "\r"), 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("the plugin's first line on standard output is not a port: %q", line)
	}
	return uint16(port), nil
}

var errNoReason = errors.New("exit status 0")

func (p *process) end() error {
	_ = p.stdin.Close() // It fails only if the process has already exited.
	if p.answer != nil {
		select {
		case <-p.ended:
			return nil
		default:
			terminateGroup(p.cmd.Process)
			defer killGroup(p.cmd.Process) // kills the children that are left
		}
	}
	select {
	case <-p.ended:
	case <-time.After(p.grace):
		p.kill()
		return fmt.Errorf("the plugin did not exit within %v and was killed", p.grace)
	}
	if p.answer == nil && p.err != nil && !errors.Is(p.err, exec.ErrWaitDelay) {
		return fmt.Errorf("the plugin did not exit cleanly: %w", p.err)
	}
	return nil
}

// kill kills the process group and waits for the process to exit.
func (p *process) kill() {
	killGroup(p.cmd.Process)
	<-p.ended
}

// firstLine is a writer that sends the first line to the channel line and writes everything after it to rest.
type firstLine struct {
	rest io.Writer
	line chan string
	got  []byte
	done bool
}

// maxLine is the maximum length of the first line, which is more than enough for a port. Longer lines are truncated.
const maxLine = 80

func (f *firstLine) Write(data []byte) (int, error) {
	if f.done {
		return f.rest.Write(data)
	}
	f.got = append(f.got, data...)
	line, rest, found := bytes.Cut(f.got, []byte("\n"))
	if !found && len(f.got) < maxLine {
		return len(data), nil
	}
	f.done = true
	f.line <- string(line[:min(len(line), maxLine)])
	if len(rest) > 0 {
		_, err := f.rest.Write(rest)
		return len(data), err
	}
	return len(data), nil
}

// tail is a writer that retains the last maxTail bytes.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const maxTail = 4 << 10

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, data...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "�")
}
