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

// settingsFile is the file with settings, in the folder of Lumi.yaml.
const settingsFile = "opentofu.yaml"

// settings are the content of the file.
type settings struct {
	// Types are types of tofu by the tokens of types.
	Types map[string]string `yaml:"types"`
	// Providers are the settings of tofu's providers by their local names.
	Providers map[string]struct {
		Source        string         `yaml:"source"`
		Version       string         `yaml:"version"`
		Configuration map[string]any `yaml:"configuration"`
	} `yaml:"providers"`
	// Backend has the type of the backend with its settings. {environment} and {module} in these are replaced.
	Backend map[string]map[string]any `yaml:"backend"`
	// Command is the path of tofu.
	Command string `yaml:"command"`
}

var unknownField = regexp.MustCompile(`^field (\S+) not found in type .*$`)

// readSettings reads the file, which may be missing.
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
			`unknown key "$1": there are types, providers, backend and command, and in each provider source, version and configuration`)
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
			return nil, fmt.Errorf("%s: types: %s: %q is not a type of OpenTofu such as random_pet", file, t, to)
		}
	}
	switch text := fmt.Sprint(s.Backend); {
	case s.Backend == nil:
	case len(s.Backend) > 1:
		return nil, fmt.Errorf("%s: backend: %d types are set, and there can be only one", file, len(s.Backend))
	case !strings.Contains(text, "{environment}") || !strings.Contains(text, "{module}"):
		return nil, fmt.Errorf("%s: backend: write {environment} and {module} into its key or path, so that each module has a state of"+
			` its own, such as "{environment}/{module}.tfstate"`, file)
	}
	return s, nil
}
