package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/atomicfile"
	"github.com/lumi-idl/lumi/internal/linediff"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// formatter is one run of 'lumi fmt'.
type formatter struct {
	env                   *console
	check, stdout, silent bool
}

func newFmtCommand(env *console) *cobra.Command {
	f := formatter{env: env}
	c := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "format LumiGL files",
		Long: `It rewrites files in place: resources in order, two spaces a level, keys of snapshots sorted. A file
that is canonical already is not touched. Standard input, -, is written to standard output; so is
what comes of it if no file is given. Files with faults are left alone.

With --json, there is an object for each file on a line of its own, with "file", "changed" and
"written", and for standard input "document", what became of it; or one for each fault as 'lumi check'
has them.`,
		Annotations: exitCodes("all files are canonical, or were made so", "a file has faults; with --check also: a file would change", elseFailed),
		Example: examples(
			"Rewrite a file.", "lumi fmt prod.json",
			"What would change? The exit code is 1 if anything would.", "lumi fmt --check prod.json",
			"As a filter.", "lumi fmt - <prod.json >canonical.json",
		),
		RunE: func(*cobra.Command, []string) error {
			files, err := env.inputs()
			if err != nil {
				return err
			}
			switch {
			case f.check && f.stdout:
				return misused("--check and --stdout contradict each other")
			case env.json && f.stdout:
				return misused("--json says what was done to files, and standard output is where the file goes")
			}
			return env.each(files, f.one)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.check, "check", false, "write nothing: print what would change as a diff, and exit with 1 if anything would")
	flags.BoolVar(&f.stdout, "stdout", false, "write to standard output in place of the files")
	flags.BoolVarP(&f.silent, "quiet", "q", false, "do not name the files that were rewritten")
	return c
}

// formatted is what was done to a file, for programs.
type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Written bool   `json:"written"`
	// Document is what became of standard input.
	Document json.RawMessage `json:"document,omitempty"`
}

func (f *formatter) one(name string) error {
	in, err := f.env.read(name)
	if err != nil {
		return err
	}
	doc, err := lumigl.Parse(in.src)
	if err != nil {
		return f.refuse(in, err)
	}
	f.env.doing("formatting %s", in.name)
	out, err := lumigl.Append(make([]byte, 0, len(in.src)), doc)
	if err != nil {
		return err
	}
	result := formatted{File: in.name, Changed: string(out) != in.src}
	switch {
	case f.check:
		err = f.compare(in, out, &result)
	case name == stdinArg || f.stdout:
		if err := f.env.withhold(in.name, string(out), withheld); err != nil {
			return err
		}
		if !f.env.json {
			_, err = f.env.stdout.Write(out)
			return err
		}
		result.Written, result.Document = result.Changed, out
	case result.Changed:
		f.env.doing("writing %s", in.name)
		if err := f.rewrite(in, name, out); err != nil {
			return err
		}
		result.Written = true
		if !f.silent && !f.env.json {
			f.env.printf("%s: rewritten\n", term.Visible(in.name))
		}
	}
	if f.env.json {
		if err := f.env.printJSON(result); err != nil {
			return err
		}
	}
	return err
}

// rewrite replaces the text of a file, if it is still what was read.
func (f *formatter) rewrite(in *input, name string, text []byte) error {
	writing.Lock()
	defer writing.Unlock()
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // Reading a pipe again would wait forever.
		return fmt.Errorf("cannot use %s: it is not a regular file", name)
	}
	now, err := f.env.read(name)
	if err != nil {
		return err
	}
	if now.src != in.src {
		return fmt.Errorf("%s has changed in the meantime, and is left as it is: start again", name)
	}
	return atomicfile.Write(name, text)
}

// refuse says what is wrong with a file, which is left alone.
func (f *formatter) refuse(in *input, err error) error {
	refusal := f.env.refuse(in, err)
	invalid, ok := errors.AsType[*lumigl.InvalidError](err)
	if f.env.json || !errors.Is(refusal, errWrong) || !ok {
		return refusal
	}
	f.env.separate()
	f.env.say("%s has %s, and is left as it is", in.name, count(len(invalid.Faults), "fault"))
	return refusal
}

// compare prints what would change, and returns errWrong if anything would.
func (f *formatter) compare(in *input, out []byte, result *formatted) error {
	if !result.Changed {
		return nil
	}
	if !f.env.json {
		f.env.doing("comparing %s with its canonical form", in.name)
		src, canonical := in.src, string(out)
		name, hide := filepath.ToSlash(in.name), secretsIn(src)
		if hide.all() {
			f.env.printDiff("", term.Visible(name)+" would change; the diff may contain secrets and is not shown")
			return errWrong
		}
		before, after := hide.mask(src), secretsIn(canonical).mask(canonical)
		linediff.Unified(name, before, name, after, func(sign, line string) { f.env.printDiff(sign, line) })
		if before == after {
			f.env.printDiff("", term.Visible(name)+" would change within a secret")
		}
	}
	return errWrong
}

// printDiff prints a line of a unified diff, coloured where there is colour. On a terminal nothing in it acts on the
// terminal.
func (e *console) printDiff(sign, line string) {
	if e.out.Terminal || e.out.Color {
		style := term.Plain
		switch {
		case sign == "-":
			style = term.BoldRed
		case sign == "+":
			style = term.Green
		case sign != "":
		case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			style = term.Bold
		case strings.HasPrefix(line, "@@"):
			style = term.BoldCyan
		}
		line = e.out.Paint(style, term.Visible(strings.ReplaceAll(sign+line, "\t", "    ")))
		sign = ""
	}
	for _, part := range [...]string{sign, line, "\n"} {
		_, _ = e.stdout.WriteString(part) // Its errors need no looking at.
	}
}
