package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// writer generates the OpenTofu configuration for a change.
type writer struct {
	settings *settings
	change   *provisioner.Change
	// planning is true if the configuration is for a plan, so that values may be unknown.
	planning bool
	// addresses maps the keys of new resources to their addresses. resources maps the addresses of old and new resources to
	// the resources.
	addresses map[string]string
	resources map[string]*provisioner.Resource
	// newest maps URNs to the latest versions of the new resources.
	newest map[urn.URN]*provisioner.Resource
	// variables maps the names of variables to secret values.
	variables map[string]any
}

func newWriter(s *settings, c *provisioner.Change) (*writer, error) {
	old, new, err := s.addresses(c)
	if err != nil {
		return nil, err
	}
	w := &writer{settings: s, change: c, addresses: new, variables: map[string]any{}}
	w.resources, w.newest = map[string]*provisioner.Resource{}, map[urn.URN]*provisioner.Resource{}
	for _, list := range []struct {
		of        []*provisioner.Resource
		addresses map[string]string
	}{{c.Old, old}, {c.New, new}} {
		for _, r := range list.of {
			w.resources[list.addresses[r.Key]] = r
		}
	}
	for _, r := range byKey(c.New) {
		if before := w.newest[r.URN]; before == nil || len(before.Key) <= len(r.Key) { // version 10 follows version 9
			w.newest[r.URN] = r
		}
	}
	return w, nil
}

type object = map[string]any

// reserved maps the names of properties with a special meaning in OpenTofu to advice for error messages.
var reserved = map[string]string{
	"count":      "create one resource for each element",
	"for_each":   "create one resource for each element",
	"depends_on": "use the dependsOn option",
	"//":         "comments are not properties",
}

// write writes the configuration and the values of its variables to files in a folder.
func (w *writer) write(folder string) error {
	configuration := object{}
	resources := object{}
	for _, r := range w.change.New {
		body, err := w.body(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.URN.Name(), err)
		}
		t, name, _ := strings.Cut(w.addresses[r.Key], ".")
		if resources[t] == nil {
			resources[t] = object{}
		}
		resources[t].(object)[name] = body
	}
	if len(resources) > 0 {
		configuration["resource"] = resources
	}
	if err := w.configure(configuration); err != nil {
		return err
	}
	if len(w.variables) > 0 {
		variables := object{}
		for name := range w.variables {
			variables[name] = object{"sensitive": true}
		}
		configuration["variable"] = variables
	}
	if err := writeJSON(filepath.Join(folder, configurationFile), configuration); err != nil {
		return err
	}
	return writeJSON(filepath.Join(folder, variablesFile), w.variables)
}

func (w *writer) body(r *provisioner.Resource) (object, error) {
	body := object{}
	for _, name := range slices.Sorted(maps.Keys(r.Properties)) {
		attribute := snake(name)
		if help := reserved[attribute]; help != "" {
			return nil, fmt.Errorf("%s cannot be set: %s", name, help)
		}
		if body[attribute] != nil {
			return nil, fmt.Errorf("two properties map to %s in OpenTofu: remove %s", attribute, name)
		}
		v, err := w.value(r.Properties[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		body[attribute] = v
	}
	var after []string
	for _, u := range r.Dependencies {
		if on := w.newest[u]; on != nil && on != r {
			after = append(after, w.addresses[on.Key])
		}
	}
	if after != nil {
		body["depends_on"] = after
	}
	return body, nil
}

// configure adds the settings of the backend and the providers to a configuration. It omits unused providers, which may not
// be installed.
func (w *writer) configure(configuration object) error {
	required, providers := object{}, object{}
	for address, r := range w.resources {
		names := []string{address[:strings.IndexAny(address+"_", "_.")]}
		if alias, ok := r.Properties["provider"].(string); ok {
			alias, _, _ = strings.Cut(alias, ".")
			names = append(names, alias)
		}
		for _, name := range names {
			p, ok := w.settings.Providers[name]
			if !ok {
				continue
			}
			requirement := object{}
			if p.Source != "" {
				requirement["source"] = p.Source
			}
			if p.Version != "" {
				requirement["version"] = p.Version
			}
			required[name] = requirement
			if p.Configuration != nil {
				providers[name] = p.Configuration
			}
		}
	}
	terraform := object{}
	if len(required) > 0 {
		terraform["required_providers"] = required
	}
	if w.settings.Backend != nil {
		text, err := json.Marshal(w.settings.Backend)
		if err != nil {
			return err
		}
		filled := strings.NewReplacer("{environment}", inner(w.change.Environment), "{module}", inner(w.change.Module)).Replace(string(text))
		terraform["backend"] = json.RawMessage(filled)
	}
	if len(terraform) > 0 {
		configuration["terraform"] = terraform
	}
	if len(providers) > 0 {
		configuration["provider"] = providers
	}
	return nil
}

func writeJSON(file string, v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o600)
}
