package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
	"github.com/lumi-idl/lumi/lang/yaql"
	"github.com/spf13/cobra"
)

// newMuranoCommand groups the commands for application catalogues.
func newMuranoCommand(con *console.Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "murano",
		Short: "check and run MuranoPL",
		Long: `MuranoPL describes environments as objects: classes in YAML declare properties with contracts, and methods
that deploy them. docs/muranopl.md explains the language.`,
		Annotations: console.ExitCodes("the command succeeded", "the classes have errors, or the method failed", console.ElseFailed),
	}
	console.AddCommands(c, "Commands", newMuranoCheckCommand(con), newMuranoModelCommand(con), newMuranoRunCommand(con))
	return c
}

func newMuranoCheckCommand(con *console.Console) *cobra.Command {
	var schemas []string
	c := &cobra.Command{
		Use:   "check DIR|ARCHIVE...",
		Short: "report every problem in MuranoPL classes",
		Long: `It checks the classes in folders and package archives, which may use each other, and reports every problem
in YAML, manifests, names, parents, contracts and methods. The word in brackets is the kind of error. Keys
that have no effect are warnings.

With --schema, types of resources and the names of their properties are checked, too.

With --json, each problem is an object on a line of its own, with "file", "line", "column", "kind",
"message" and, for a warning, "warning": true. Nothing is printed if there are none.`,
		Annotations: console.ExitCodes("no class has errors", "a class has errors", "a file cannot be read, the command was used wrongly, or the system failed"),
		Example: console.Examples(
			"Check the classes of a folder.", "lumi murano check murano",
			"Check the resources that workflows ask for.", "cidlc idl --out-schema=schema.json && lumi murano check --schema=schema.json murano",
			"All problems, for a program.", "lumi murano check --json murano",
		),
		RunE: func(*cobra.Command, []string) error { return checkClasses(con, schemas) },
	}
	c.Flags().StringArrayVar(&schemas, "schema", nil, "read types of resources from a schema `FILE` of cidlc; may be repeated")
	_ = c.MarkFlagFilename("schema", "json")
	return c
}

func checkClasses(con *console.Console, schemas []string) error {
	packages, err := readSchemas(con, schemas)
	if err != nil {
		return err
	}
	classes, err := openClasses(con, con.Args)
	if classes == nil {
		return err
	}
	known := muranopl.Known{Functions: []*yaql.Function{traceFunction(nil)}, Resources: desired.Resources(packages)}
	con.Doing("checking %s", console.Count(len(classes.Declarations), "class"))
	names := slices.Sorted(maps.Keys(classes.Declarations))
	errs := slices.Concat(classes.Errors, muranopl.Check(muranopl.Resolvers{classes, desired.Library(nil)}, names, known))
	warnings := 0
	for _, one := range errs {
		if one.Warning {
			warnings++
		}
	}
	if err = PrintClassErrors(con, classes, errs); warnings == len(errs) {
		err = nil
	}
	switch {
	case con.JSON:
	case err == nil && warnings == 0:
		con.Printf("%s: nothing wrong, %s\n", term.Visible(strings.Join(con.Args, ", ")), console.Count(len(classes.Declarations), "class"))
	default:
		con.Separate()
		found := console.Count(len(errs)-warnings, "error")
		if warnings > 0 {
			found += ", " + console.Count(warnings, "warning")
		}
		con.Say("%s in %s", found, strings.Join(con.Args, ", "))
	}
	return err
}

// openClasses reads folders and archives. If classes have errors, it returns those, too.
func openClasses(con *console.Console, names []string) (*catalog.Catalog, error) {
	con.Doing("reading %s", strings.Join(names, ", "))
	classes, err := catalog.Open(names...)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fileError(path.Path, err)
	}
	if err == nil && len(classes.Errors) > 0 {
		err = classes.Errors
	}
	return classes, err
}

// PrintClassErrors prints errors in classes and models: for people on standard error, with --json on standard output. It returns
// errWrong instead of these.
func PrintClassErrors(con *console.Console, classes *catalog.Catalog, err error) error {
	if one, ok := errors.AsType[*muranopl.Error](err); ok {
		err = catalog.Errors{one}
	}
	errs, ok := errors.AsType[catalog.Errors](err)
	if !ok {
		return err
	}
	for _, one := range errs {
		if !con.JSON {
			con.Separate()
			printClassError(con, classes.Sources, one)
			continue
		}
		if err := con.PrintJSON(struct {
			File    string `json:"file"`
			Line    int    `json:"line,omitempty"`
			Column  int    `json:"column,omitempty"`
			Kind    string `json:"kind"`
			Message string `json:"message"`
			Warning bool   `json:"warning,omitempty"`
		}{one.Pos.File, one.Pos.Line, one.Pos.Column, string(one.Kind), one.Message, one.Warning}); err != nil {
			return err
		}
	}
	return console.ErrWrong
}

// printClassError prints an error, the line of the source and the calls that led to it.
func printClassError(con *console.Console, sources map[string]string, wrong *muranopl.Error) {
	where, kind := "", string(wrong.Kind)
	if wrong.Kind == muranopl.Thrown && len(wrong.Names) > 0 {
		kind = wrong.Names[0]
	}
	if wrong.Pos != (muranopl.Position{}) {
		where = con.Err.Paint(term.Bold, term.Visible(wrong.Pos.String())+":") + " "
	}
	severity, color := "error:", term.BoldRed
	if wrong.Warning {
		severity, color = "warning:", term.BoldYellow
	}
	fmt.Fprintf(con.Stderr, "%s%s %s\n", where, con.Err.Paint(color, severity), term.Paragraph(wrong.Message+" ["+kind+"]"))
	if src, ok := sources[wrong.Pos.File]; ok && wrong.Pos.Line > 0 && !isSigned(src) {
		at := 0
		for range wrong.Pos.Line - 1 {
			at += strings.IndexByte(src[at:], '\n') + 1
		}
		for range wrong.Pos.Column - 1 {
			_, size := utf8.DecodeRuneInString(src[at:])
			at += size
		}
		(&term.Snippet{Stream: con.Err, Source: src}).Print(con.Stderr, wrong.Pos.Line, at, at+1, color)
	}
	for line := range strings.Lines(wrong.StackTrace()) {
		fmt.Fprintf(con.Stderr, "  %s\n", term.Visible(strings.TrimSuffix(line, "\n")))
	}
}
