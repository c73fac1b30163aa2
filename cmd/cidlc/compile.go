package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/record"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
)

// compiler is the state of one run of cidlc.
type compiler struct {
	*options
	stdout, stderr io.Writer
	terminal       term.Stream // capabilities of stderr
	started        time.Time
	progress       *term.Progress
	warnings       []string
	records        record.Store
}

func newCompiler(opts *options, stdout, stderr io.Writer, getenv func(string) string) *compiler {
	t := term.Inspect(stderr, opts.color, getenv)
	out := term.Inspect(stdout, opts.color, getenv)
	progress := term.NewProgress(stderr, t, time.Now())
	if opts.quiet {
		progress = term.NewProgress(stderr, term.Stream{}, time.Now())
	}
	return &compiler{
		options: opts, stdout: progress.Before(out.Filter(stdout)), stderr: progress.Before(t.Filter(stderr)), terminal: t,
		started: time.Now(), progress: progress, records: recordStore(),
	}
}

// run compiles the IDL and writes the outputs. It writes nothing unless all checks pass.
func (c *compiler) run(ctx context.Context) error {
	defer c.progress.Clear()
	for _, t := range c.targets {
		if t.stdout() {
			continue
		}
		if err := t.checkOverlap(c.idl); err != nil {
			return err
		}
	}
	c.step("loading %s", c.idl)
	pkg, diags, err := c.load(ctx, c.idl, false)
	if err != nil {
		return err
	}
	if len(diags) == 0 {
		if diags, err = c.collisions(pkg); err != nil {
			return err
		}
	}
	if err := c.report(diags); err != nil {
		return err
	}
	return c.emit(ctx, pkg)
}

// collisions reports names of the IDL that an output cannot have.
func (c *compiler) collisions(pkg *schema.Package) (diags []diag.Diagnostic, err error) {
	for _, t := range c.targets {
		if t.check != nil {
			found, err := t.check(pkg, c.idl, t.place(c.idl))
			if err != nil {
				return nil, err
			}
			diags = append(diags, found...)
		}
	}
	return diag.Sort(diags), nil
}

// load compiles the IDL in dir with the options of the command line.
func (c *compiler) load(ctx context.Context, dir string, older bool) (*schema.Package, []diag.Diagnostic, error) {
	return compile.Load(ctx, compile.Options{
		Dir: dir, Package: c.packageName, Tokens: compile.TokenForm(c.tokens), Markers: c.markers, Older: older,
	})
}

// emit generates all outputs, then writes or compares them.
func (c *compiler) emit(ctx context.Context, pkg *schema.Package) error {
	c.step("generating")
	tightenGC()
	var digests schema.Digests
	if !c.check { // --check ignores records and renders every file
		digests = pkg.Digests()
	}
	var tasks []*task
	var errs []error // from all outputs
	for _, t := range c.targets {
		if !t.stdout() {
			task, err := c.prepare(pkg, t, digests)
			tasks, errs = append(tasks, task), append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.step("writing")
	if c.check {
		return c.compareOnly(pkg, tasks)
	}
	for _, t := range c.targets { // write these first, since standard output cannot be staged like files
		if t.stdout() {
			files, _, err := t.generate(pkg, "", "", nil)
			if err == nil {
				_, err = c.stdout.Write(files[0].Content)
			}
			if err != nil {
				return fmt.Errorf("cannot write the schema to standard output: %w", err)
			}
		}
	}
	var updates []*gen.Update
	for _, t := range tasks {
		updates = append(updates, t.update)
	}
	total, err := gen.Write(ctx, updates...)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		t.record.Save()
		c.list(t)
	}
	c.warn()
	if len(tasks) == 0 {
		c.sum("%s, no errors", contents(pkg))
		return nil
	}
	c.sum("%s; %s written, %d unchanged, %d removed", contents(pkg), console.Count(total.Written, "file"),
		total.Unchanged, total.Removed)
	return nil
}

// report prints diagnostics. It returns [console.ErrWrong] if any of them is an error.
func (c *compiler) report(diags []diag.Diagnostic) error {
	if err := c.print(diags, os.ReadFile); err != nil {
		return err
	}
	if diag.Errors(diags) > 0 {
		return console.ErrWrong
	}
	return nil
}

// print prints diagnostics in the format of --diagnostics. Source returns the content of a file.
func (c *compiler) print(diags []diag.Diagnostic, source func(file string) ([]byte, error)) error {
	var err error
	switch c.diagnostics {
	case "json":
		err = diag.JSON(c.stdout, diags)
	case "github":
		err = diag.GitHub(c.stdout, diags)
	default:
		err = diag.Text(c.stderr, diags, diag.TextOptions{
			Source: source, Color: c.terminal.Color, Width: c.terminal.Width,
		})
	}
	if err != nil {
		return fmt.Errorf("cannot print diagnostics: %w", err)
	}
	return nil
}

// compareOnly implements --check. It prints the pending changes and returns [console.ErrWrong] if there are any.
func (c *compiler) compareOnly(pkg *schema.Package, tasks []*task) error {
	var diff bytes.Buffer
	var total gen.Result
	for _, t := range tasks {
		part, err := t.update.Diff()
		if err != nil {
			return err
		}
		diff.Write(part)
		total.Add(t.update.Counts())
	}
	// Keep the diff out of the stream of machine-readable diagnostics.
	out := c.stdout
	if c.diagnostics != "text" {
		out = c.stderr
	}
	if _, err := out.Write(diff.Bytes()); err != nil {
		return fmt.Errorf("cannot print the diff: %w", err)
	}
	c.warn()
	if total.Written+total.Removed == 0 {
		c.sum("%s; %s up to date", contents(pkg), console.Count(total.Unchanged, "file"))
		return nil
	}
	c.sum("%s would be written, %d unchanged, %d removed; run cidlc without --check", console.Count(total.Written, "file"),
		total.Unchanged, total.Removed)
	return console.ErrWrong
}

// list prints the changed files if --verbose is set.
func (c *compiler) list(t *task) {
	if !c.verbose {
		return
	}
	if t.folder != "" {
		c.say("rendered %s for %s", console.Count(t.record.Rendered(), "file"), t.place)
	}
	for _, change := range t.update.Changes() {
		what := "wrote"
		if change.Remove {
			what = "removed"
		}
		c.say("%s %s", what, t.update.At(change.Path))
	}
}

// step shows the current step on a terminal, and logs it if --verbose is set.
func (c *compiler) step(format string, args ...any) {
	c.progress.Show(format, args...)
	if c.verbose {
		c.say("%s after %s", fmt.Sprintf(format, args...), elapsed(c.started))
	}
}

func (c *compiler) warn() {
	for _, w := range c.warnings {
		c.say("warning: %s", w)
	}
}

// sum prints a summary, unless --quiet is set.
func (c *compiler) sum(format string, args ...any) {
	if !c.quiet {
		c.say(format+" (%s)", append(args, elapsed(c.started))...)
	}
}

// say prints a line to standard error. It ignores write errors.
func (c *compiler) say(format string, args ...any) {
	_, _ = fmt.Fprintln(c.stderr, "cidlc: "+term.Visible(fmt.Sprintf(format, args...)))
}

func elapsed(since time.Time) string { return fmt.Sprintf("%.2fs", time.Since(since).Seconds()) }

// contents counts the resources of a package, and its functions if it has any.
func contents(pkg *schema.Package) string {
	n := map[string]int{}
	for d := range pkg.Decls() {
		n[d.Head().Kind]++
	}
	text := console.Count(n["resource"], "resource")
	if n["function"] > 0 {
		text += ", " + console.Count(n["function"], "function")
	}
	return text
}
