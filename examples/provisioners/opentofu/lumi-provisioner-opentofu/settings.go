package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// settingsFile is relative to the folder that contains Lumi.yaml.
const settingsFile = "opentofu.yaml"

// settings holds the contents of opentofu.yaml.
type settings struct {
	// Types maps resource types to OpenTofu types.
	Types map[string]string `yaml:"types"`
	// Providers maps local names to the settings of OpenTofu's providers.
	Providers map[string]struct {
		Source        string         `yaml:"source"`
		Version       string         `yaml:"version"`
		Configuration map[string]any `yaml:"configuration"`
	} `yaml:"providers"`
	// Backend maps the type of the backend to its settings. The placeholders {environment} and {module} in the settings are
	// replaced.
	Backend map[string]map[string]any `yaml:"backend"`
	// Command is the name or path of the tofu command.
	Command string `yaml:"command"`
}

var unknownField = regexp.MustCompile(`^field (\S+) not found in type .*$`)

// readSettings reads and validates the settings. It returns the defaults if the file does not exist.
func readSettings(file string) (*settings, error) {
	s := &settings{}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var wrong *yaml.LoadErrors
	var syntax *yaml.LoadError
	switch err := decoder.Decode(s); {
	case errors.As(err, &wrong):
		first := wrong.Errors[0]
		message := unknownField.ReplaceAllString(first.Message,
			`unknown key "$1": the valid keys are types, providers, backend and command, and in each provider source, version and configuration`)
		return nil, fmt.Errorf("%s:%d: %s", file, first.Mark.Line, message)
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s:%d: %s", file, syntax.Mark.Line, syntax.Message)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if s.Command == "" {
		s.Command = "tofu"
	}
	for t, to := range s.Types {
		if to == "" || to != identifier(to) {
			return nil, fmt.Errorf("%s: types: %s: must be an OpenTofu type such as random_pet, got %q", file, t, to)
		}
	}
	switch text := fmt.Sprint(s.Backend); {
	case s.Backend == nil:
	case len(s.Backend) > 1:
		return nil, fmt.Errorf("%s: backend: must have one type, got %d", file, len(s.Backend))
	case !strings.Contains(text, "{environment}") || !strings.Contains(text, "{module}"):
		return nil, fmt.Errorf("%s: backend: the key or path must contain {environment} and {module}, so that each module has its own"+
			` state, such as "{environment}/{module}.tfstate"`, file)
	}
	return s, nil
}
