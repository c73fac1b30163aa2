package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
)

func newTasksCheckCommand(con *console.Console) *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "check FILE...", Short: "report all errors in files with tasks",
		Long: `Check files with tasks without an environment: attributes, types, parameters, references to other
tasks, and cycles. FILE is a file, a folder, or - for standard input. A folder means all files named
tasks.yaml in it and below, except in hidden folders, which together are one graph.

Each FILE is a layer: attributes in later ones override those in earlier ones, as after uploads. So
list the release first, followed by the environment's file and those of plugins. Tasks that no FILE
contains are unknown. Graphs of different types are checked separately.

The summary counts the spellings, such as role or cross-depends, that are synonyms of an attribute.
With --strict, they are errors.

With --json, it prints one object with "files", "tasks" (numbers), "errors", "warnings" (lists of
objects with "file", "task", "attribute", "line", "column", and "message"), and "synonyms" (a number
for each spelling).`,
		Annotations: console.ExitCodes("no errors", "a file has errors", console.ElseFailed),
		Example: console.Examples(
			"Check all files named tasks.yaml in this folder and below.", "lumi tasks check .",
			"Check what a layer changes.", "echo '[{id: install, type: skipped}]' | lumi tasks check tasks.yaml -",
			"Which lines should be changed to have only canonical names?", "lumi tasks check --strict --json tasks.yaml | jq '.errors[]'",
		),
		RunE: func(c *cobra.Command, _ []string) error { return check(con, strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "refuse synonyms of attributes")
	return c
}

// located is an error or a warning in a file.
type located struct {
	File string `json:"file"`
	taskgraph.Problem
}

func check(con *console.Console, strict bool) error {
	if err := document.StdinOnce(con.Args); err != nil {
		return err
	}
	var files []*taskgraph.File
	failed := document.Each(con, con.Args, func(arg string) error {
		names, err := graphFiles(arg)
		for _, name := range names {
			in, err := document.ReadFile(con, name)
			if err != nil {
				return err
			}
			files = append(files, &taskgraph.File{Name: in.Name, Src: []byte(in.Src), Layer: slices.Index(con.Args, arg)})
		}
		return err
	})
	if failed != nil {
		return failed
	}
	complete := taskgraph.CheckFiles(files, strict, tasktype.Builtin().Check)
	tasks, all, warnings, synonyms := 0, []located{}, []located{}, map[string]int{}
	for _, f := range files {
		tasks += len(f.Tasks)
		for _, p := range f.Errors {
			all = append(all, located{f.Name, p})
		}
		for _, p := range f.Warnings {
			warnings = append(warnings, located{f.Name, p})
		}
		for _, s := range f.Synonyms {
			synonyms[s.Spelling]++
		}
		if !con.JSON {
			printFile(con, f)
		}
	}
	var wrong error
	if len(all) > 0 {
		wrong = console.ErrWrong
	}
	if con.JSON {
		return cmp.Or(con.PrintJSON(struct {
			Files    int            `json:"files"`
			Tasks    int            `json:"tasks"`
			Errors   []located      `json:"errors"`
			Warnings []located      `json:"warnings"`
			Synonyms map[string]int `json:"synonyms"`
		}{len(files), tasks, all, warnings, synonyms}), wrong)
	}
	con.Printf("%s in %s: %s, %s\n", console.Count(tasks, "task"), console.Count(len(files), "file"), console.Count(len(all), "error"), console.Count(len(warnings), "warning"))
	if !complete {
		con.Printf("Merged tasks were not checked, since a file cannot be read\n")
	}
	if len(synonyms) > 0 {
		var counts []string
		for _, spelling := range slices.Sorted(maps.Keys(synonyms)) {
			counts = append(counts, fmt.Sprintf("%s (%d)", spelling, synonyms[spelling]))
		}
		con.Printf("Synonyms: %s\n", strings.Join(counts, ", "))
	}
	return wrong
}

// printFile prints the errors and warnings in a file in source order.
func printFile(con *console.Console, f *taskgraph.File) {
	isError := map[taskgraph.Problem]bool{}
	for _, p := range f.Errors {
		isError[p] = true
	}
	for _, p := range f.Locate(slices.Concat(f.Errors, f.Warnings)) {
		severity := con.Err.Paint(term.BoldYellow, "warning:")
		if isError[p] {
			severity = con.Err.Paint(term.BoldRed, "error:")
		}
		printTaskProblem(con, f.Name, p, severity)
	}
}

// graphFiles returns arg or, if it is a folder, the files named tasks.yaml in it and below, sorted by path.
func graphFiles(arg string) (names []string, err error) {
	if info, err := os.Stat(arg); arg == document.StdinArg || err != nil || !info.IsDir() {
		return []string{arg}, nil // reading it reports the error
	}
	err = filepath.WalkDir(arg, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return document.FileError(name, err)
		case e.IsDir() && name != arg && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case !e.IsDir() && e.Name() == "tasks.yaml":
			names = append(names, name)
		}
		return nil
	})
	if err == nil && names == nil {
		err = errors.New(arg + ": no tasks.yaml in this folder or below")
	}
	return names, err
}
