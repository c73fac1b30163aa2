package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/suggest"
)

// settingsFile is relative to the working directory of the plugin, which is the folder of the workspace.
const settingsFile = "git.yaml"

// settings holds the contents of git.yaml. Paths may contain the placeholders {environment} and {module}.
type settings struct {
	// Repository is a URL or path. It may contain a password.
	Repository string
	// Branch is the target branch, which the pipeline applies.
	Branch string
	// Path is the folder that contains the files.
	Path string
	// Review is "branch" to propose changes on separate branches, or "direct" to push them to the target branch.
	Review string
	// Status is the source of the pipeline's report: a file in a branch, or a command that prints the report.
	Status struct {
		Branch, File string
		Command      []string
	}
}

var (
	settingNames = []string{"repository", "branch", "path", "review", "status", "file", "command"}
	unknownKey   = regexp.MustCompile(`^field (.*) not found in type `)
	// Git quotes all other characters in its output, and some file systems reject them.
	pathForm   = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
	branchForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)*$`)
)

func readSettings() (*settings, error) {
	src, err := os.ReadFile(settingsFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("git.yaml not found: create it next to Lumi.yaml, with at least repository: URL")
	}
	if err != nil {
		return nil, err
	}
	return parseSettings(src)
}

// parseSettings parses and validates git.yaml. It returns the first error.
func parseSettings(src []byte) (*settings, error) {
	s := &settings{}
	err := yaml.Load(src, s, yaml.WithKnownFields(true), yaml.WithSingleDocument())
	var first *yaml.LoadError
	if all := (*yaml.LoadErrors)(nil); errors.As(err, &all) && len(all.Errors) > 0 {
		first = all.Errors[0]
	} else {
		errors.As(err, &first)
	}
	if len(strings.TrimSpace(string(src))) > 0 && first != nil {
		message := first.Message
		if key := unknownKey.FindStringSubmatch(message); key != nil {
			message = fmt.Sprintf("unknown key %q; see the provisioner's README.md", key[1])
			if near := suggest.Name(key[1], settingNames); near != "" {
				message = fmt.Sprintf("unknown key %q; did you mean %q?", key[1], near)
			}
		}
		return nil, fmt.Errorf("%s:%d:%d: %s", settingsFile, max(first.Mark.Line, 1), max(first.Mark.Column, 1), message)
	}
	if s.Status.Command != nil && s.Status.Branch+s.Status.File != "" {
		return nil, fmt.Errorf("%s: status.command cannot be combined with status.branch or status.file", settingsFile)
	}
	s.Branch, s.Review = cmp.Or(s.Branch, "main"), cmp.Or(s.Review, "branch")
	s.Path = cmp.Or(s.Path, "lumi/{environment}/{module}")
	s.Status.Branch, s.Status.File = cmp.Or(s.Status.Branch, "lumi-status"), cmp.Or(s.Status.File, "{environment}/{module}.json")
	const characters = "; must be a relative path of letters, digits, -, _ and ., with {environment} and {module}"
	for _, v := range []struct {
		name, value string
		valid       bool
		help        string
	}{
		{"repository", s.Repository, s.Repository != "", "; write repository: URL"},
		{"branch", s.Branch, isBranch(s.Branch), "; write branch: main"},
		{"path", s.Path, isPath(s.Path), characters},
		{"review", s.Review, s.Review == "branch" || s.Review == "direct", "; must be branch or direct"},
		{"status.branch", s.Status.Branch, isBranch(s.Status.Branch), "; write branch: lumi-status"},
		{"status.file", s.Status.File, isPath(s.Status.File), characters},
		{"status.command", "[]", s.Status.Command == nil || len(s.Status.Command) > 0, "; write command: [PROGRAM, ARGUMENT]"},
	} {
		if !v.valid {
			return nil, fmt.Errorf("%s: invalid %s %q%s", settingsFile, v.name, v.value, v.help)
		}
	}
	return s, nil
}

func isBranch(s string) bool {
	return branchForm.MatchString(s) && !strings.Contains(s, "..") && !strings.HasSuffix(s, ".lock") && !strings.HasSuffix(s, ".")
}

// isPath reports whether s is a relative path that is valid in git and on all file systems.
func isPath(s string) bool {
	s = strings.NewReplacer("{environment}", "e", "{module}", "m").Replace(s)
	return pathForm.MatchString(s) && path.Clean(s) == s
}
