package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/atomicfile"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/linediff"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
)

// formatter is an invocation of 'lumi fmt'.
type formatter struct {
	con                   *console.Console
	check, stdout, silent bool
}

func newFmtCommand(con *console.Console) *cobra.Command {
	f := formatter{con: con}
	c := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "format LumiGL files",
		Long: `Rewrite files in canonical form, in place: two spaces of indentation, resources in order,
snapshot keys sorted. Files that are canonical or have errors are left alone. Standard input is
written to standard output.

With --json, it prints one object per file, one per line: "file", "changed", "written" and, for standard
input, "document".`,
		Annotations: console.ExitCodes("all files are in canonical form", "a file has errors, or, with --check, would change", console.ElseFailed),
		Example: console.Examples(
			"Rewrite a file.", "lumi fmt prod.json",
			"What would change? The exit code is 1 if anything would.", "lumi fmt --check prod.json",
			"As a filter.", "lumi fmt - <prod.json >canonical.json",
		),
		RunE: func(*cobra.Command, []string) error {
			files, err := document.Inputs(con)
			if err != nil {
				return err
			}
			switch {
			case f.check && f.stdout:
				return console.Misused("--check and --stdout cannot be combined")
			case con.JSON && f.stdout:
				return console.Misused("--json and --stdout cannot be combined")
			}
			return document.Each(con, files, f.one)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.check, "check", false, "write nothing: print what would change as a diff, and exit with 1 if anything would")
	flags.BoolVar(&f.stdout, "stdout", false, "write to standard output instead of the files")
	flags.BoolVarP(&f.silent, "quiet", "q", false, "do not list rewritten files")
	return c
}

// formatted is the JSON form of the result for one file.
type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Written bool   `json:"written"`
	// Document is the formatted text of standard input.
	Document json.RawMessage `json:"document,omitempty"`
}

func (f *formatter) one(name string) error {
	in, err := document.ReadFile(f.con, name)
	if err != nil {
		return err
	}
	doc, err := lumigl.Parse(in.Src)
	if err != nil {
		return f.refuse(in, err)
	}
	f.con.Doing("formatting %s", in.Name)
	out, err := lumigl.Append(make([]byte, 0, len(in.Src)), doc)
	if err != nil {
		return err
	}
	result := formatted{File: in.Name, Changed: string(out) != in.Src}
	switch {
	case f.check:
		err = f.compare(in, out, &result)
	case name == document.StdinArg || f.stdout:
		if err := document.Withhold(f.con, in.Name, string(out), document.Withheld); err != nil {
			return err
		}
		if !f.con.JSON {
			_, err = f.con.Stdout.Write(out)
			return err
		}
		result.Written, result.Document = result.Changed, out
	case result.Changed:
		f.con.Doing("writing %s", in.Name)
		if err := f.rewrite(in, name, out); err != nil {
			return err
		}
		result.Written = true
		if !f.silent && !f.con.JSON {
			f.con.Printf("%s: rewritten\n", term.Visible(in.Name))
		}
	}
	if f.con.JSON {
		if err := f.con.PrintJSON(result); err != nil {
			return err
		}
	}
	return err
}

// rewrite replaces the content of a file. It returns an error if the file has changed since it was read.
func (f *formatter) rewrite(in *document.Input, name string, text []byte) error {
	console.Writing.Lock()
	defer console.Writing.Unlock()
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // reading a pipe again would block forever
		return fmt.Errorf("%s is not a regular file", name)
	}
	now, err := document.ReadFile(f.con, name)
	if err != nil {
		return err
	}
	if now.Src != in.Src {
		return fmt.Errorf("%s changed while it was being formatted, and was not rewritten: try again", name)
	}
	return atomicfile.Write(name, text)
}

// refuse prints the errors in a file and adds that it was not changed.
func (f *formatter) refuse(in *document.Input, err error) error {
	refusal := document.Refuse(f.con, in, err)
	invalid, ok := errors.AsType[*lumigl.InvalidError](err)
	if f.con.JSON || !errors.Is(refusal, console.ErrWrong) || !ok {
		return refusal
	}
	f.con.Separate()
	f.con.Say("%s has %s, and was not changed", in.Name, console.Count(len(invalid.Faults), "error"))
	return refusal
}

// compare prints the changes that formatting would make. It returns [console.ErrWrong] if there are any.
func (f *formatter) compare(in *document.Input, out []byte, result *formatted) error {
	if !result.Changed {
		return nil
	}
	if !f.con.JSON {
		f.con.Doing("comparing %s with its canonical form", in.Name)
		src, canonical := in.Src, string(out)
		name, hide := filepath.ToSlash(in.Name), document.SecretsIn(src)
		if hide.All() {
			printDiff(f.con, "", term.Visible(name)+" would change; the diff may contain secrets and is not shown")
			return console.ErrWrong
		}
		before, after := hide.Mask(src), document.SecretsIn(canonical).Mask(canonical)
		linediff.Unified(name, before, name, after, func(sign, line string) { printDiff(f.con, sign, line) })
		if before == after {
			printDiff(f.con, "", term.Visible(name)+" would change within a secret")
		}
	}
	return console.ErrWrong
}

// printDiff prints a line of a unified diff, in color if enabled. On a terminal, control characters are escaped.
func printDiff(con *console.Console, sign, line string) {
	if con.Out.Terminal || con.Out.Color {
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
		line = con.Out.Paint(style, term.Visible(strings.ReplaceAll(sign+line, "\t", "    ")))
		sign = ""
	}
	for _, part := range [...]string{sign, line, "\n"} {
		_, _ = con.Stdout.WriteString(part) // write errors are sticky
	}
}
