// Package workspace reads Lumi.yaml, the file that describes a workspace: its modules and their programs or object models,
// environments, plugins and provisioners. The docs are in docs/workspace.md, and docs/schema/workspace.schema.json is its
// JSON Schema.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileName is the name of the file in the workspace's root folder.
const FileName = "Lumi.yaml"

// Workspace is the content of a Lumi.yaml. Its JSON is what lumi-program gets.
type Workspace struct {
	// File is the path of the file. Paths in it are relative to its folder.
	File string `json:"-"`
	// Package is the package of programs that are not those of Modules. It is empty unless the file sets it.
	Package string `json:"package,omitempty"`
	// Modules are the paths of programs by the names of their modules, with forward slashes. A lone program is the
	// module named by Package.
	Modules map[string]string `json:"modules,omitempty"`
	// Models are the object models of modules that have one in place of a program, by the names of the modules.
	Models map[string]Model `json:"models,omitempty"`
	// Environment is the default environment, or "".
	Environment string `json:"environment,omitempty"`
	// Environments are the environments that there are, in the order of the file, or nil if it does not list them.
	Environments []string `json:"environments,omitempty"`
	// Keys say how the data keys of environments are wrapped, by environment, as secret.ParseWrapper takes it. An
	// environment without an entry has the default, "passphrase". Only the form is checked: recipients may be malformed.
	Keys map[string]string `json:"keys,omitempty"`
	// Inventories are the paths of inventory files, by environment. They list the nodes that task graphs run on.
	Inventories map[string]string `json:"inventories,omitempty"`
	// Plugins are the paths of executables by the packages that they provide.
	Plugins map[string]string `json:"plugins,omitempty"`
	// Provisioners are the types that provisioners handle, by the names of the provisioners. A type is a token, or
	// package:module:* for all types of a module.
	Provisioners map[string][]string `json:"provisioners,omitempty"`
}

// Model is an object model in MuranoPL, with what it takes to evaluate it.
type Model struct {
	// File is the path of the object model.
	File string `json:"model"`
	// Classes are the paths of folders and package archives with classes.
	Classes []string `json:"classes"`
	// Schemas are the paths of the schema.json files with the types of resources.
	Schemas []string `json:"schemas,omitempty"`
}

// Names returns the names of all modules, sorted.
func (w *Workspace) Names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(w.Modules)), maps.Keys(w.Models))
	slices.Sort(names)
	return names
}

// Error holds every problem of a Lumi.yaml, in the order of the file.
type Error struct {
	File     string
	Problems []Problem
}

// Problem is an error at a place in the file. Lines and columns count from 1, columns in characters. Line is 0 if the
// problem concerns the whole file.
type Problem struct {
	Line, Column int
	Message      string
}

// mostProblems limits the lines of an error message.
const mostProblems = 10

// Error returns a line for each problem, up to ten.
func (e *Error) Error() string {
	var lines []string
	for i, p := range e.Problems {
		switch more := len(e.Problems) - i; {
		case i < mostProblems && p.Line == 0:
			lines = append(lines, fmt.Sprintf("%s: %s", e.File, p.Message))
		case i < mostProblems:
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", e.File, p.Line, p.Column, p.Message))
		case i == mostProblems && more == 1:
			lines = append(lines, e.File+": 1 more error")
		case i == mostProblems:
			lines = append(lines, fmt.Sprintf("%s: %d more errors", e.File, more))
		}
	}
	return strings.Join(lines, "\n")
}

// Find reads the nearest Lumi.yaml, in dir or above. The error wraps [fs.ErrNotExist] if there is none, and is an
// *[Error] if the file is not valid.
func Find(dir string) (*Workspace, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		file := filepath.Join(folder, FileName)
		src, err := os.ReadFile(file)
		switch {
		case err == nil:
			return Parse(src, file)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("cannot read the workspace: %w", err)
		case folder == filepath.Dir(folder):
			return nil, fmt.Errorf("no %s in %s or any parent directory: %w", FileName, start, fs.ErrNotExist)
		}
	}
}
