package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// commandProviderOpsImpl implements commands. Create is not idempotent, and only the user can resolve an uncertain outcome.
type commandProviderOpsImpl struct{ ledger[*command] }

type commandState = lumi.State[*command]

const (
	// maxStdout is the maximum size of the stored standard output. maxVariable is the maximum size of the part that is
	// passed in stdoutVariable.
	maxStdout, maxVariable = 1 << 20, 64 << 10
	// maxLine is the maximum length of a line of standard error. Longer lines are split.
	maxLine = 4 << 10
	// patience is the maximum time that a command may run after SIGTERM.
	patience = 3 * time.Second
	// stdoutVariable is the environment variable that contains the previous standard output.
	stdoutVariable = "LUMI_STDOUT"
)

// Check implements [CommandProviderOps].
func (*commandProviderOpsImpl) Check(_ context.Context, want *commandState) error {
	p, unknown := want.Properties, want.Unknown
	var faults []error
	texts := map[lumi.Path]*string{Command_Create: &p.Create, Command_Update: p.Update, Command_Delete: p.Delete}
	for _, path := range []lumi.Path{Command_Create, Command_Update, Command_Delete} {
		if text := texts[path]; text != nil && !unknown.Has(path) && strings.TrimSpace(*text) == "" {
			faults = append(faults, lumi.Faultf(path, "must not be empty"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Environment)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || name == stdoutVariable {
			faults = append(faults, lumi.Faultf(lumi.Path(Command_Environment).Key(name), "is not a valid variable name"))
		}
	}
	if program := lumi.Path(Command_Interpreter).Index(0); p.Interpreter != nil && !unknown.Has(Command_Interpreter) {
		if len(p.Interpreter) == 0 {
			faults = append(faults, lumi.Faultf(Command_Interpreter, "must not be empty"))
		} else if p.Interpreter[0] == "" && !unknown.Has(program) {
			faults = append(faults, lumi.Faultf(program, "must not be empty"))
		}
	}
	return errors.Join(faults...)
}

// effective lists the properties whose changes make Update run the update command.
var effective = []lumi.Path{Command_Create, Command_Environment, Command_Triggers, Command_Interpreter}

// InspectChange implements [lumi.Inspector]. It ignores a change of the name, which is used only in the URN.
func (*commandProviderOpsImpl) InspectChange(_ context.Context, _, want *commandState, diff *lumi.Diff) error {
	diff.DeleteBeforeReplace()
	diff.Ignore(Command_Name)
	if want.Properties.Update != nil {
		return nil
	}
	for _, path := range effective {
		diff.Replace(path)
	}
	return nil
}

// Create implements [CommandProviderOps].
func (ops *commandProviderOpsImpl) Create(ctx context.Context, want *commandState) (lumi.ID, error) {
	p := want.Properties
	stdout, err := run(ctx, "create", p.Create, p, "")
	if err != nil {
		return "", err
	}
	p.Stdout = stdout
	id, _ := ops.add(want.Token, new(*p))
	return id, nil
}

// Update implements [CommandProviderOps].
func (ops *commandProviderOpsImpl) Update(ctx context.Context, old, want *commandState, diff *lumi.Diff) error {
	p := want.Properties
	if p.Update != nil && slices.ContainsFunc(effective, diff.Changed) {
		stdout, err := run(ctx, "update", *p.Update, p, old.Properties.Stdout)
		if err != nil {
			return err
		}
		p.Stdout = cmp.Or(stdout, p.Stdout)
	}
	ops.set(old.ID, entry[*command]{properties: new(*p)})
	return nil
}

// Delete implements [CommandProviderOps].
func (ops *commandProviderOpsImpl) Delete(ctx context.Context, old *commandState) error {
	if p := old.Properties; p.Delete != nil {
		if _, err := run(ctx, "delete", *p.Delete, p, p.Stdout); err != nil {
			return err
		}
	}
	return ops.ledger.Delete(ctx, old)
}

// run runs a command, logs its standard error, and returns its standard output. what is the name of the operation, and
// before the previous standard output.
func run(ctx context.Context, what, text string, p *command, before string) (string, error) {
	args := slices.Concat(p.Interpreter, []string{text})
	if p.Interpreter == nil {
		args = append(slices.Clone(shell), text)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = os.Environ()
	for _, name := range slices.Sorted(maps.Keys(p.Environment)) {
		cmd.Env = append(cmd.Env, name+"="+p.Environment[name])
	}
	if before != "" && len(before) <= maxVariable {
		cmd.Env = append(cmd.Env, stdoutVariable+"="+before)
	}
	stdout, stderr := new(head), &lines{show: func(line string) { lumi.Log(ctx).Info(line) }}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, patience
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	lumi.Progress(ctx, "running the command %s", what)
	err := cmd.Wait()
	stderr.flush()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // a background process started by the command keeps the output open
	}
	var exit *exec.ExitError
	switch {
	case err != nil && ctx.Err() != nil:
		killGroup(cmd)
		return "", fmt.Errorf("%s: interrupted: %w", what, ctx.Err())
	case errors.As(err, &exit) && exit.Exited():
		return "", fmt.Errorf("%s: %w%s", what, err, stderr.quoted())
	case err != nil:
		return "", lumi.Uncertain(fmt.Errorf("%s: %w%s", what, err, stderr.quoted()))
	}
	if stdout.dropped {
		lumi.Log(ctx).Warn("standard output truncated", "command", what, "bytes", maxStdout)
	}
	return strings.TrimRight(strings.ToValidUTF8(stdout.kept.String(), "\uFFFD"), "\r\n"), nil
}

// head is a writer that keeps the beginning of the output, up to a maximum size.
type head struct {
	kept    bytes.Buffer
	dropped bool
}

func (h *head) Write(data []byte) (int, error) {
	room := maxStdout - h.kept.Len()
	h.dropped = h.dropped || len(data) > room
	h.kept.Write(data[:min(len(data), room)])
	return len(data), nil
}

// lines is a writer that passes each line to show.
type lines struct {
	show          func(line string)
	partial, last string
}

func (l *lines) Write(data []byte) (int, error) {
	l.partial += string(data)
	for {
		line, rest, found := strings.Cut(l.partial, "\n")
		if !found && len(l.partial) < maxLine {
			return len(data), nil
		}
		l.partial = line
		l.flush()
		l.partial = rest
	}
}

// flush passes the last line to show if it has no newline.
func (l *lines) flush() {
	line := strings.TrimRight(strings.ToValidUTF8(l.partial, "\uFFFD"), "\r")
	if l.partial = ""; strings.TrimSpace(line) != "" {
		l.last = line
		l.show(line)
	}
}

// quoted returns the last line as the suffix of an error message, or "" if there is none.
func (l *lines) quoted() string {
	if l.last == "" {
		return ""
	}
	return ": " + l.last
}
