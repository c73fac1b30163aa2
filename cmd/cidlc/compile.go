package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lumi-idl/lumi/gen"
	"github.com/lumi-idl/lumi/gen/gostubs"
	"github.com/lumi-idl/lumi/gen/record"
	"github.com/lumi-idl/lumi/gen/typescript"
	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/term"
)

// compiler is one run over one IDL.
type compiler struct {
	*options
	stdout, stderr io.Writer
	terminal       term.Stream // that of stderr
	started        time.Time
	progress       *term.Progress
	warnings       []string
	records        record.Store
}

func newCompiler(opts *options, stdout, stderr io.Writer, getenv func(string) string) *compiler {
	t := term.Inspect(stderr, opts.color, getenv)
	progress := term.NewProgress(stderr, t, time.Now())
	if opts.quiet {
		progress = term.NewProgress(stderr, term.Stream{}, time.Now())
	}
	return &compiler{
		options: opts, stdout: progress.Before(stdout), stderr: progress.Before(stderr), terminal: t,
		started: time.Now(), progress: progress, records: recordStore(),
	}
}

// run compiles. Everything is known to be well before the first file is touched.
func (c *compiler) run(ctx context.Context) error {
	defer c.progress.Clear()
	if err := c.checkFolders(); err != nil {
		return err
	}
	c.step("loading %s", c.idl)
	pkg, diags, err := compile.Load(ctx, compile.Options{
		Dir: c.idl, Package: c.packageName, Tokens: compile.TokenForm(c.tokens), Markers: c.markers,
	})
	if err != nil {
		return err
	}
	if err := c.report(diags); err != nil {
		return err
	}
	c.step("generating")
	tasks, err := c.plan(pkg)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.step("writing")
	if c.check {
		return c.compareOnly(pkg, tasks)
	}
	if c.schema == "-" { // first, since files can be staged and standard output cannot
		if err := schema.Write(c.stdout, pkg); err != nil {
			return fmt.Errorf("cannot write the schema to standard output: %w", err)
		}
	}
	total, err := write(ctx, tasks)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		c.list(t)
	}
	c.warn()
	if len(tasks) == 0 {
		c.sum("%s, nothing wrong", count(resources(pkg), "resource"))
		return nil
	}
	c.sum("%s; %s written, %d unchanged, %d removed", count(resources(pkg), "resource"), count(total.Written, "file"),
		total.Unchanged, total.Removed)
	return nil
}

// checkFolders refuses outputs that would get between the sources of the IDL.
func (c *compiler) checkFolders() error {
	if c.pack.asked {
		if err := apart("out-pack", c.pack.folder(c.idl, "pack"), c.idl); err != nil {
			return err
		}
	}
	if c.provider.asked {
		if err := apart("out-provider", c.provider.folder(c.idl, "provider"), c.idl); err != nil {
			return err
		}
	}
	if c.schema != "" && c.schema != "-" {
		file, err := resolve(c.schema)
		if err != nil {
			return err
		}
		dir, err := resolve(c.idl)
		if err != nil {
			return err
		}
		if within(file, dir) {
			return fmt.Errorf("--out-schema=%s: generated files never go into the folder of the IDL, %s",
				c.schema, c.idl)
		}
	}
	return nil
}

// report prints what is wrong with the IDL.
func (c *compiler) report(diags []diag.Diagnostic) error {
	var err error
	if c.diagnostics == "json" {
		err = diag.JSON(c.stdout, diags)
	} else {
		err = diag.Text(c.stderr, diags, diag.TextOptions{
			Source: os.ReadFile, Color: c.terminal.Color, Width: c.terminal.Width,
		})
	}
	if err != nil {
		return fmt.Errorf("cannot print diagnostics: %w", err)
	}
	if diag.Errors(diags) > 0 {
		return errWrong
	}
	return nil
}

// plan renders every output that may not be current, and compares it with the existing files. The errors of all outputs
// are joined.
func (c *compiler) plan(pkg *schema.Package) ([]*task, error) {
	var tasks []*task
	var errs []error
	add := func(t *task, err error) {
		tasks = append(tasks, t)
		errs = append(errs, err)
	}
	if c.pack.asked {
		add(c.planPack(pkg))
	}
	if c.provider.asked {
		add(c.planProvider(pkg))
	}
	if c.schema != "" && c.schema != "-" {
		add(c.planSchema(pkg))
	}
	return tasks, errors.Join(errs...)
}

func (c *compiler) planSchema(pkg *schema.Package) (*task, error) {
	var content bytes.Buffer
	if err := schema.Write(&content, pkg); err != nil {
		return nil, err
	}
	plan, err := gen.CompareFile(c.schema, content.Bytes())
	return &task{plan: plan}, err
}

func (c *compiler) planPack(pkg *schema.Package) (*task, error) {
	root := c.pack.folder(c.idl, "pack")
	t := c.recorded(pkg, "TypeScript", root, "")
	if t.current {
		return t, nil
	}
	files, warnings, err := typescript.Generate(pkg, typescript.Options{Existing: existing(root)})
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", root, err)
	}
	for _, w := range warnings {
		c.warnings = append(c.warnings, filepath.Join(root, "package.json")+": "+w)
		t.forget() // A run that skips rendering could not repeat the warning.
	}
	return t, t.compare(files)
}

func (c *compiler) planProvider(pkg *schema.Package) (*task, error) {
	root := c.provider.folder(c.idl, "provider")
	path, err := importPath(root)
	if err != nil {
		return nil, err
	}
	t := c.recorded(pkg, "Go", root, path)
	if t.current {
		return t, nil
	}
	files, err := gostubs.Generate(pkg, gostubs.Options{ImportPath: path})
	if err != nil {
		return nil, err
	}
	return t, t.compare(files)
}

// existing returns the folder as the generators look at it, or nil where there is none.
func existing(root string) fs.FS {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil
	}
	return os.DirFS(root)
}

// compareOnly prints what would change, for --check.
func (c *compiler) compareOnly(pkg *schema.Package, tasks []*task) error {
	var diff bytes.Buffer
	var written, removed, unchanged int
	for _, t := range tasks {
		part, err := t.plan.Diff()
		if err != nil {
			return err
		}
		diff.Write(part)
		unchanged += t.plan.Unchanged()
		for _, change := range t.plan.Changes() {
			switch {
			case change.Remove:
				removed++
			case !change.Scaffold:
				written++
			}
		}
	}
	// The diff goes where diagnostics do not, lest it gets between lines of JSON.
	out := c.stdout
	if c.diagnostics == "json" {
		out = c.stderr
	}
	if _, err := out.Write(diff.Bytes()); err != nil {
		return fmt.Errorf("cannot print the diff: %w", err)
	}
	c.warn()
	if written+removed == 0 {
		c.sum("%s; %s current", count(resources(pkg), "resource"), count(unchanged, "file"))
		return nil
	}
	c.sum("%s would be written, %d unchanged, %d removed: run cidlc without --check", count(written, "file"), unchanged,
		removed)
	return errWrong
}

// list says what a task has done, for --verbose.
func (c *compiler) list(t *task) {
	if !c.verbose {
		return
	}
	if t.current {
		c.say("%s is as recorded", t.root)
		return
	}
	for _, change := range t.plan.Changes() {
		what := "wrote"
		if change.Remove {
			what = "removed"
		}
		c.say("%s %s", what, change.Path)
	}
}

// step notes what is going on, for whoever waits and for --verbose.
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

// sum prints the last line, unless the user wants none.
func (c *compiler) sum(format string, args ...any) {
	if !c.quiet {
		c.say(format+" (%s)", append(args, elapsed(c.started))...)
	}
}

// say prints a line on standard error. That it cannot be printed is no reason to fail.
func (c *compiler) say(format string, args ...any) {
	_, _ = fmt.Fprintln(c.stderr, "cidlc: "+term.Visible(fmt.Sprintf(format, args...)))
}

func elapsed(since time.Time) string { return fmt.Sprintf("%.2fs", time.Since(since).Seconds()) }

// count renders a number of things, in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func resources(pkg *schema.Package) int {
	n := 0
	for d := range pkg.Decls() {
		if _, ok := d.(*schema.Resource); ok {
			n++
		}
	}
	return n
}
