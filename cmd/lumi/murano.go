package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
	"github.com/lumi-idl/lumi/lang/muranopl/desired"
)

// muranoCommand groups the commands for application catalogues.
func muranoCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:   "murano",
		Short: "check, run and document MuranoPL",
		Long: `MuranoPL describes environments as objects: classes in YAML declare properties with contracts, and methods
that deploy them. docs/muranopl.md explains the language.`,
		Annotations: exits("the command succeeded", "the classes have errors, or the method failed", elseFailed),
	}
	add(c, "Commands", muranoCheckCommand(env), muranoDocCommand(env), muranoModelCommand(env), muranoRunCommand(env))
	return c
}

func muranoCheckCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "check DIR|ARCHIVE...",
		Short: "report every problem in MuranoPL classes",
		Long: `It checks the classes in folders and package archives, which may use each other, and reports every problem
in YAML, manifests, names, parents, contracts and methods. The word in brackets is the kind of error.

With --json, each error is an object on a line of its own, with "file", "line", "column", "kind" and
"message". Nothing is printed if there are none.`,
		Annotations: exits("no class has errors", "a class has errors", "a file cannot be read, the command was used wrongly, or the system failed"),
		Example: examples(
			"Check the classes of a folder.", "lumi murano check murano",
			"All errors, for a program.", "lumi murano check --json murano",
		),
		RunE: func(*cobra.Command, []string) error { return env.checkClasses() },
	}
}

func (e *environment) checkClasses() error {
	classes, err := e.openClasses(e.args)
	if classes == nil {
		return err
	}
	e.doing("checking %s", count(len(classes.Declarations), "class"))
	names := slices.Sorted(maps.Keys(classes.Declarations))
	errs := slices.Concat(classes.Errors, muranopl.Check(muranopl.Resolvers{classes, desired.Library(nil)}, names))
	switch {
	case len(errs) == 0 && !e.json:
		e.printf("%s: nothing wrong, %s\n", term.Visible(strings.Join(e.args, ", ")), count(len(classes.Declarations), "class"))
	case len(errs) > 0:
		err = e.printErrors(classes, errs)
		if !e.json {
			e.separate()
			e.say("%s in %s", count(len(errs), "error"), strings.Join(e.args, ", "))
		}
	}
	return err
}

// openClasses reads folders and archives. If classes have errors, it returns those, too.
func (e *environment) openClasses(names []string) (*catalog.Catalog, error) {
	e.doing("reading %s", strings.Join(names, ", "))
	classes, err := catalog.Open(names...)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fileError(path.Path, err)
	}
	if err == nil && len(classes.Errors) > 0 {
		err = classes.Errors
	}
	return classes, err
}

// printErrors prints errors in classes and models: for people on standard error, with --json on standard output. It returns
// errWrong instead of these.
func (e *environment) printErrors(classes *catalog.Catalog, err error) error {
	if one, ok := errors.AsType[*muranopl.Error](err); ok {
		err = catalog.Errors{one}
	}
	errs, ok := errors.AsType[catalog.Errors](err)
	if !ok {
		return err
	}
	for _, one := range errs {
		if !e.json {
			e.separate()
			e.printError(classes.Sources, one)
			continue
		}
		if err := e.printJSON(struct {
			File    string `json:"file"`
			Line    int    `json:"line,omitempty"`
			Column  int    `json:"column,omitempty"`
			Kind    string `json:"kind"`
			Message string `json:"message"`
		}{one.Pos.File, one.Pos.Line, one.Pos.Column, string(one.Kind), one.Message}); err != nil {
			return err
		}
	}
	return errWrong
}

// printError prints an error, the line of the source and the calls that led to it.
func (e *environment) printError(sources map[string]string, wrong *muranopl.Error) {
	where, kind := "", string(wrong.Kind)
	if wrong.Kind == muranopl.Thrown && len(wrong.Names) > 0 {
		kind = wrong.Names[0]
	}
	if wrong.Pos != (muranopl.Position{}) {
		where = e.err.Paint(term.Bold, term.Visible(wrong.Pos.String())+":") + " "
	}
	fmt.Fprintf(e.stderr, "%s%s %s\n", where, e.err.Paint(term.BoldRed, "error:"), term.Paragraph(wrong.Message+" ["+kind+"]"))
	if src, ok := sources[wrong.Pos.File]; ok && wrong.Pos.Line > 0 && !isSigned(src) {
		at := 0
		for range wrong.Pos.Line - 1 {
			at += strings.IndexByte(src[at:], '\n') + 1
		}
		for range wrong.Pos.Column - 1 {
			_, size := utf8.DecodeRuneInString(src[at:])
			at += size
		}
		(&term.Snippet{Stream: e.err, Source: src}).Print(e.stderr, wrong.Pos.Line, at, at+1, term.BoldRed)
	}
	for line := range strings.Lines(wrong.StackTrace()) {
		fmt.Fprintf(e.stderr, "  %s\n", term.Visible(strings.TrimSuffix(line, "\n")))
	}
}
