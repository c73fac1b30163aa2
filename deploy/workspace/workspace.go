// Package workspace reads Lumi.yaml, the file that describes a workspace: its modules with their programs or object
// models, its environments, plugins, and provisioners. See docs/workspace.md for a description and
// docs/schema/workspace.schema.json for the JSON Schema.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FileName is the name of the workspace file, located in the root folder of the workspace.
const FileName = "Lumi.yaml"

// Workspace is the content of a Lumi.yaml. Its JSON form is sent to lumi-program.
type Workspace struct {
	// File is the path of the Lumi.yaml. All other paths are relative to its folder.
	File string `json:"-"`
	// Package is the package of programs not in Modules, or "" if it is not set.
	Package string `json:"package,omitempty"`
	// Modules maps module names to the paths of programs, with forward slashes. The key of a single program is Package.
	Modules map[string]string `json:"modules,omitempty"`
	// Models maps the names of modules that have no program to their object models.
	Models map[string]Model `json:"models,omitempty"`
	// Environment is the default environment, or "" if it is not set.
	Environment string `json:"environment,omitempty"`
	// Environments lists the environments in file order. It is nil if the file does not list any.
	Environments []string `json:"environments,omitempty"`
	// Keys maps environments to the configuration of their data key, in the syntax of secret.ParseWrapper. The default
	// is "passphrase". Only the syntax is checked; recipients may be malformed.
	Keys map[string]string `json:"keys,omitempty"`
	// Inventories maps environments to the paths of inventory files, which list the nodes that task graphs run on.
	Inventories map[string]string `json:"inventories,omitempty"`
	// UniqueNames contains the environments whose new resources get unique names unless the program names them.
	UniqueNames map[string]bool `json:"uniqueNames,omitempty"`
	// Histories maps environments to the limits of their histories, in the syntax of [ParseHistory].
	Histories map[string]string `json:"histories,omitempty"`
	// State is the path or URL of a store that workspaces share, or "" for the workspace's own store. Project is then set, and
	// separates the environments of this workspace from those of others.
	State   string `json:"state,omitempty"`
	Project string `json:"project,omitempty"`
	// Plugins maps packages to the paths of executables.
	Plugins map[string]string `json:"plugins,omitempty"`
	// Provisioners holds the provisioners by name.
	Provisioners map[string]Provisioner `json:"provisioners,omitempty"`
	// IgnoredDrift lists properties that never count as drifted: a resource type followed by a path, such as
	// "aws:ec2:Instance.tags.scanner".
	IgnoredDrift []string `json:"-"`

	// config and providers hold the settings by scope. The module of a provider's scope is its package.
	config, providers map[scope][]Setting
}

// Model is an object model in MuranoPL with the files needed to evaluate it.
type Model struct {
	// File is the path of the object model.
	File string `json:"model"`
	// Classes lists the paths of folders and package archives that contain classes.
	Classes []string `json:"classes"`
	// Schemas lists the paths of schema.json files that contain resource types.
	Schemas []string `json:"schemas,omitempty"`
}

// Names returns the names of all modules, sorted.
func (w *Workspace) Names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(w.Modules)), maps.Keys(w.Models))
	slices.Sort(names)
	return names
}

// ParseHistory parses the limit of a history: a number of deployments, such as "500", or of days, such as "90d".
func ParseHistory(s string) (deployments int, age time.Duration, err error) {
	if !historyForm.pattern.MatchString(s) {
		return 0, 0, fmt.Errorf("%q %s", s, historyForm.help)
	}
	digits, isAge := strings.CutSuffix(s, "d")
	n, err := strconv.Atoi(digits)
	if isAge {
		return 0, time.Duration(n) * 24 * time.Hour, err
	}
	return n, 0, err
}

// Error lists all problems of a Lumi.yaml in source order.
type Error struct {
	File     string
	Problems []Problem
}

// Problem is an error at a position in the file. Line and Column start at 1; Column counts characters. Line is 0 if the
// problem has no position.
type Problem struct {
	Line, Column int
	Message      string
}

// mostProblems is the maximum number of problems in an error message.
const mostProblems = 10

// Error returns up to ten problems, one per line.
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

// Find reads the nearest Lumi.yaml in dir or one of its parent directories. It returns an error wrapping
// [fs.ErrNotExist] if there is none, and an *[Error] if the file is invalid.
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
