package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

const (
	// lockTime is the maximum time that tofu waits for the state lock.
	lockTime = 10 * time.Minute
	// stopTime is the maximum time that the plugin waits for an interrupted tofu. It must be less than ten seconds, the
	// time that engines wait for a plugin.
	stopTime = 8 * time.Second
	// followTime is the interval for polling the output and the lock of a running tofu.
	followTime = 100 * time.Millisecond
)

// tofu runs the tofu command in a folder.
type tofu struct {
	command, dir string
	// explain returns additional text for an error, if it is not nil.
	explain func(diagnostic) string
	// patience overrides stopTime if it is not 0.
	patience time.Duration
}

// prepare returns a command that runs in its own process group. Otherwise, an interrupt from the terminal would reach tofu
// twice, and a second interrupt makes tofu lose track of resources being created.
func (t *tofu) prepare(args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(t.command)
	if err != nil {
		return nil, fmt.Errorf("%w: install OpenTofu, or set its path in %s, as command: PATH", err, settingsFile)
	}
	if path, err = filepath.Abs(path); err != nil { // t.command may be relative to the workspace
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "TF_IN_AUTOMATION=1")
	ownGroup(cmd)
	return cmd, nil
}

// output runs tofu and returns its standard output. The subcommand must be read-only, since tofu is killed when ctx is
// done.
func (t *tofu) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd, err := t.prepare(args...)
	if err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { killGroup(cmd) })()
	if err = cmd.Wait(); err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	messages := messages{explain: t.explain}
	messages.read(out.Bytes(), func(string) {})
	messages.other = append(messages.other, said.Bytes()...)
	return nil, messages.error(args[0], err)
}

// json runs a subcommand that prints JSON messages, and returns their errors.
func (t *tofu) json(ctx context.Context, args ...string) error {
	_, err := t.output(ctx, args...)
	return err
}

// lock waits until no other tofu runs in a folder, creating the folder if necessary, and returns the locked output file.
// The file remains locked until this process and tofu, which uses it as standard output, have closed it. Child processes of
// tofu do not keep it locked.
func lock(ctx context.Context, folder string) (*os.File, error) {
	name := filepath.Join(folder, outputFile)
	for {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if !tryLock(file) {
			lumi.Progress(ctx, "waiting for another tofu in %s to finish", folder)
		} else if is, err := os.Stat(name); err == nil {
			if mine, err := file.Stat(); err == nil && os.SameFile(is, mine) { // the file may have been removed before it was locked
				return file, file.Truncate(0)
			}
		}
		_ = file.Close() // nothing was written
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(followTime):
		}
	}
}

// apply runs tofu apply with its output in a locked file, so that tofu can finish even if this process is killed.
func (t *tofu) apply(ctx context.Context, file *os.File) error {
	cmd, err := t.prepare("apply", "-json", "-auto-approve", "-input=false", "-lock-timeout="+lockTime.String())
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	follow := follower{file: file, messages: messages{explain: t.explain}}
	show := func(line string) { lumi.Progress(ctx, "%s", line) }
	tick := time.NewTicker(followTime)
	defer tick.Stop()
	stop, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case err := <-ended:
			follow.read(show)
			if err != nil {
				killGroup(cmd) // child processes of a failed tofu may still be running
			}
			switch {
			case err == nil:
				return nil
			case ctx.Err() != nil:
				return fmt.Errorf("tofu apply was interrupted: %w", context.Cause(ctx))
			}
			return follow.messages.error("apply", err)
		case <-tick.C:
			follow.read(show)
		case <-stop:
			stop, late = nil, time.After(cmp.Or(t.patience, stopTime))
			_ = interrupt(cmd) // fails only if tofu has exited
		case <-late:
			// Do not interrupt tofu again, which would make it lose track of resources being created. The file remains
			// locked until tofu exits.
			slog.Warn("tofu was interrupted and is still finishing; the next deployment waits for it", "process", cmd.Process.Pid, "output", file.Name())
			return fmt.Errorf("tofu apply was interrupted and is still running as process %d: %w", cmd.Process.Pid, context.Cause(ctx))
		}
	}
}

// follower reads lines as they are appended to a file.
type follower struct {
	file     *os.File
	offset   int64
	messages messages
}

// read processes all complete lines appended since the previous call.
func (f *follower) read(show func(string)) {
	text, err := io.ReadAll(io.NewSectionReader(f.file, f.offset, 1<<30))
	if err != nil {
		return // the next call tries again, and the exit code reports failures
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	f.messages.read(text[:end], show)
	f.offset += int64(end)
}

// diagnostic is an error or a warning from OpenTofu.
type diagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	Address  string `json:"address"`
	Snippet  struct {
		// Context identifies the block, such as resource.random_pet.x. The code of the snippet is omitted, since it may
		// contain secrets.
		Context string `json:"context"`
	} `json:"snippet"`
}

// messages collects the errors in the output of tofu.
type messages struct {
	explain func(diagnostic) string
	errors  []string
	other   []byte // output that is not JSON, such as a panic
}

// read processes lines of output, and passes progress messages to show.
func (m *messages) read(lines []byte, show func(string)) {
	for line := range bytes.Lines(lines) {
		var message struct {
			Text       string     `json:"@message"`
			Type       string     `json:"type"`
			Diagnostic diagnostic `json:"diagnostic"`
		}
		if json.Unmarshal(line, &message) != nil {
			m.other = append(m.other, line...)
			continue
		}
		d := message.Diagnostic
		switch kind, _, _ := strings.Cut(message.Type, "_"); {
		case d.Severity == "error":
			if d.Address == "" {
				d.Address, _ = strings.CutPrefix(d.Snippet.Context, "resource.")
			}
			text := d.Summary
			if d.Detail != "" {
				text += ": " + d.Detail
			}
			if m.explain != nil {
				text += m.explain(d)
			}
			m.errors = append(m.errors, text)
		case kind == "apply" || kind == "provision":
			show(message.Text)
		case strings.HasPrefix(message.Text, "Acquiring state lock"):
			show("waiting for the state lock, held by another tofu")
		}
	}
}

// error returns the collected errors as one error. If there are none, it returns err with the output that is not JSON.
func (m *messages) error(command string, err error) error {
	text := strings.Join(m.errors, "\n")
	if text == "" {
		text = strings.TrimSpace(fmt.Sprintf("tofu %s: %v\n%s", command, err, m.other))
	}
	return errors.New(text) // package serve masks secrets and truncates the text
}
