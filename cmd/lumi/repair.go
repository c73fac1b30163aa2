package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/file"
	"github.com/lumi-idl/lumi/lumigl/repair"
)

// mender is one run of 'lumi repair'.
type mender struct {
	env     *environment
	options repair.Options
	yes     bool
	asked   bool // whether somebody was asked whether to do it
}

func repairCommand(env *environment) *cobra.Command {
	m := mender{env: env}
	var drop, pending string
	c := &cobra.Command{
		Use:   "repair FILE",
		Short: "repair a LumiGL file that is not accepted",
		Long: `It mends syntax where there is no doubt what was meant, and puts resources in order. What else is
wrong it mends if told how:

  --retarget          point references to what is not there at what was probably meant, where a
                      message ends in "did you mean"; --drop is for the others
  --drop=references   drop references to what is not there: the property, or the element of a list
  --drop=resources    drop the resources that hold such references, and what refers to these in turn;
                      what a provider made for them then stays, and nobody knows of it
  --pending=dead      drop entries of an unfinished deployment that have no meaning any more
  --pending=all       drop all entries of an unfinished deployment

It shows every step and asks before it writes. Where it cannot ask, it writes only with --yes. It
writes only what is accepted; the file as it was is kept beside it, as FILE.backup. A snapshot
with a lineage gets the next serial, so that whoever has loaded the old one is told, and is locked
meanwhile by FILE.lock, which stays. Standard input, -, is written to standard output, and needs
--yes too if there is anything to repair. A file that is accepted is left alone.

With --json, an object says what was done or would be: "file", "steps", "dead" and "written", and for
standard input "document", the graph or snapshot that became of it. What takes a guess is in "faults",
each as 'lumi check' has it; then "steps" are those of syntax only.`,
		Annotations: exits("nothing is to be repaired, or all was", "something is to be repaired and was not, since it takes a guess or a consent", elseFailed),
		Example: examples(
			"What would be done? The exit code is 1 if anything would, as long as nobody agrees.", "lumi repair broken.json </dev/null",
			"Do it.", "lumi repair --yes broken.json",
			"Point mistyped references at what was meant.", "lumi repair --retarget --yes mistyped.json",
			"Drop references to what is not there.", "lumi repair --drop=references --yes dangling.json",
			"Forget what a deployment that was killed has left behind.", "lumi repair --pending=dead --yes prod.json",
		),
		RunE: func(c *cobra.Command, _ []string) error {
			if drop != "nothing" {
				m.options.Drop = repair.Drop(drop)
			}
			if pending != "keep" {
				m.options.Pending = repair.Pending(pending)
			}
			if name := env.args[0]; name != stdinArg {
				return m.file(c.Context(), name)
			}
			return m.filter()
		},
	}
	flags := c.Flags()
	flags.BoolVar(&m.options.Retarget, "retarget", false, "point references that lead to nothing at the nearest key, where there is one like it")
	choiceVar(c, flags, &drop, "drop", "nothing", "`WHAT` goes where a reference leads to nothing", "nothing", "references", "resources")
	choiceVar(c, flags, &pending, "pending", "keep", "`WHICH` entries go of an unfinished deployment", "keep", "dead", "all")
	flags.BoolVarP(&m.yes, "yes", "y", false, "do not ask")
	return c
}

// repaired is what was done, or would be, for programs.
type repaired struct {
	File    string     `json:"file"`
	Steps   []jsonStep `json:"steps"`
	Dead    []jsonStep `json:"dead,omitempty"`
	Written bool       `json:"written"`
	// Faults are what takes a guess. If there are any, Steps are those of syntax only.
	Faults []jsonFault `json:"faults,omitempty"`
	// Document is what became of standard input.
	Document json.RawMessage `json:"document,omitempty"`
}

// file repairs a file in place.
func (m *mender) file(ctx context.Context, name string) error {
	in, err := m.env.read(name)
	if err != nil {
		return err
	}
	result, err := m.plan(in)
	switch {
	case err != nil:
		return err
	case len(result.Steps) == 0:
		return m.report(in, result, false)
	case !m.agreed(in, result):
		return m.declined(in, result)
	}
	m.env.doing("writing %s", in.name)
	if err := m.save(ctx, in, name, result); err != nil {
		return err
	}
	if m.env.json {
		return m.report(in, result, true)
	}
	m.env.say("%s is repaired; the file as it was is %s", in.name, backupOf(name))
	return nil
}

// backupOf is where the backup of a file is, for people: beside the file, even if what they call it is a symbolic link.
func backupOf(name string) string {
	path, err := file.BackupPath(name)
	if link, linkErr := os.Lstat(name); err != nil || linkErr == nil && link.Mode().IsRegular() {
		return name + ".backup"
	}
	return path
}

// filter repairs standard input.
func (m *mender) filter() error {
	in, err := m.env.read(stdinArg)
	if err != nil {
		return err
	}
	result, err := m.plan(in)
	if err != nil {
		return err
	}
	steps := len(result.Steps) > 0
	if steps && !m.yes {
		return m.declined(in, result)
	}
	if err := m.env.withhold(in.name, in.src, withheld); err != nil {
		return err
	}
	switch {
	case m.env.json:
		return m.report(in, result, steps)
	case steps:
		_, err = m.env.stdout.Write(result.Text)
	default:
		_, err = m.env.stdout.WriteString(in.src)
	}
	return err
}

// report says for programs what was done, or would be.
func (m *mender) report(in *input, result *repair.Result, written bool) error {
	if !m.env.json {
		return nil
	}
	r := repaired{File: in.name, Steps: jsonSteps(result.Steps), Dead: jsonSteps(result.Dead), Written: written}
	if in.name == stdinName && (written || len(result.Steps) == 0) {
		r.Document = result.Text
	}
	return m.env.printJSON(r)
}

// plan finds out what to do, and says so for people.
func (m *mender) plan(in *input) (*repair.Result, error) {
	m.env.doing("looking at what is wrong with %s", in.name)
	result, err := repair.Repair(in.src, m.options)
	var refusal *repair.RefusedError
	switch {
	case errors.As(err, &refusal):
		return nil, m.refuse(in, refusal)
	case err != nil:
		return nil, err
	}
	if len(result.Steps) > 0 {
		result.Steps = secretsIn(in.src).steps(result.Steps)
	}
	if m.env.json {
		return result, nil
	}
	for _, s := range result.Steps {
		m.env.printStep(in.name, "repair", s)
	}
	for _, s := range result.Dead {
		m.env.printStep(in.name, "with --pending=dead", s)
	}
	if len(result.Steps) == 0 {
		m.env.say("%s has no faults, and is left as it is", in.name)
	}
	return result, nil
}

// refuse says what takes a guess.
func (m *mender) refuse(in *input, refusal *repair.RefusedError) error {
	if m.env.json {
		_, steps := repair.Text(in.src)
		hide := secretsIn(in.src)
		r := repaired{File: in.name, Steps: jsonSteps(hide.steps(steps)), Faults: jsonFaults(in, refusal.Invalid, hide)}
		return cmp.Or(m.env.printJSON(r), errWrong)
	}
	err := m.env.refuse(in, refusal.Invalid)
	if !errors.Is(err, errWrong) {
		return err
	}
	hint := ""
	if refusal.Dangling {
		hint = "; "
		switch {
		case refusal.Astray:
			hint += "--retarget points references at what was probably meant, "
		case m.options.Retarget:
			hint += "--retarget finds no key that is near, "
		}
		hint += "--drop=references drops references to what is not there, --drop=resources what holds them"
	}
	m.env.separate()
	m.env.say("%s is left as it is: %s cannot be mended without a guess%s", in.name,
		count(len(refusal.Invalid.Faults), "fault"), hint)
	if backup := backupOf(in.name); m.hasGood(backup) {
		m.env.say("%s is without faults: it is the file before it was last saved or repaired", backup)
	}
	return err
}

// hasGood reports whether there is a file without faults.
func (m *mender) hasGood(name string) bool {
	in, err := m.env.read(name)
	if err != nil {
		return false
	}
	_, err = lumigl.Parse(in.src)
	return err == nil
}

// agreed asks whether to do it.
func (m *mender) agreed(in *input, result *repair.Result) bool {
	if m.yes || !m.env.in || !m.env.err.Terminal || m.env.json {
		return m.yes
	}
	m.asked = true
	fmt.Fprintf(m.env.stderr, "Repair %s in %s? [y/N] ", term.Visible(in.name), count(len(result.Steps), "step"))
	answer, err := bufio.NewReader(io.LimitReader(m.env.stdin, 100)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(m.env.stderr)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// declined says that nothing was done.
func (m *mender) declined(in *input, result *repair.Result) error {
	if err := m.report(in, result, false); err != nil || m.env.json {
		return cmp.Or(err, errWrong)
	}
	if m.asked {
		m.env.say("%s is left as it is", in.name)
		return errWrong
	}
	m.env.say("%s is left as it is: --yes repairs it in %s", in.name, count(len(result.Steps), "step"))
	return errWrong
}

// save writes the result, if the file is still what was read. What deployments write gets the next serial; a file
// without a lineage is one that only people write.
func (m *mender) save(ctx context.Context, in *input, name string, result *repair.Result) error {
	snapshot, ok := result.Document.(*lumigl.Snapshot)
	if !ok || snapshot.Lineage == "" {
		r := rewriter{env: m.env, command: "lumi repair", backup: true}
		return r.rewrite(ctx, in, name, result.Document, result.Text)
	}
	writing.Lock()
	defer writing.Unlock()
	locked, err := file.Open(ctx, name, file.Options{Command: "lumi repair"})
	if err != nil {
		return err
	}
	defer func() { _ = locked.Close() }() // The process is about to end, which unlocks it too.
	now, version, err := locked.Read()
	if err != nil {
		return err
	}
	if now != in.src {
		return errChanged(name)
	}
	version.Lineage, version.Serial = snapshot.Lineage, snapshot.Serial
	_, err = locked.Save(snapshot, version)
	return err
}
