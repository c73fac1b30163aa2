package workspace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// mostLevels is the maximum number of nested lists and objects in a setting.
const mostLevels = 100

// Setting is a configuration value for the programs of an environment, or a property of a provider's configuration. Its
// JSON form is sent to lumi-program.
type Setting struct {
	Key string `json:"key"`
	// Value is the value in JSON. It is nil if Exec is set, and for a sealed value that has not been opened.
	Value json.RawMessage `json:"value"`
	// Exec is the shell command that prints the value, or "".
	Exec string `json:"-"`
	// Own is set if the setting belongs to a single module, whose program must declare it. Other settings are shared.
	Own bool `json:"own,omitempty"`
	// Secret is set if the value must not be printed.
	Secret bool `json:"secret,omitempty"`
	// File, Line, and Column locate the value.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Places locates nested values.
	Places []Place `json:"places,omitempty"`
	// From is the path of the object that contains the setting, such as "environments.prod.config".
	From string `json:"-"`
}

// Place locates a value in a setting.
type Place struct {
	// Path lists the keys and indexes of the objects and lists that contain the value, outermost first.
	Path   []any `json:"path"`
	Line   int   `json:"line"`
	Column int   `json:"column"`
}

// String returns the full name of the setting with its position, for messages.
func (s Setting) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", s.File, s.Line, s.Column, join(s.From, s.Key))
}

// scope identifies a set of settings: of all environments if environment is "", and of all modules if module is "".
type scope struct {
	environment, module string
	// nested is set for the object config in the module's own entry in modules.
	nested bool
}

// Config returns the settings that apply to a module in an environment, sorted by key. Settings of the environment
// override the module's, which override the workspace's. Within an object, the module's own settings override shared
// ones. If module is "", Config returns the shared settings.
func (w *Workspace) Config(environment, module string) []Setting {
	scopes := []scope{{}, {module: module}, {module: module, nested: true}, {environment: environment}, {environment: environment, module: module}}
	return merged(w.config, scopes)
}

// Providers returns the configurations of providers in an environment by package: the properties of each, sorted.
// Properties in the environment override the workspace's.
func (w *Workspace) Providers(environment string) map[string][]Setting {
	all := map[string][]Setting{}
	for s := range w.providers {
		all[s.module] = merged(w.providers, []scope{{module: s.module}, {environment: environment, module: s.module}})
	}
	return all
}

func merged(all map[scope][]Setting, scopes []scope) []Setting {
	found := map[string]Setting{}
	for _, scope := range scopes {
		for _, s := range all[scope] {
			found[s.Key] = s
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
}

var (
	settingForm = form{
		pattern: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`), help: "must be a letter or _ followed by letters, digits, -, or _",
	}
	commandForm = form{
		pattern: regexp.MustCompile(`^\P{C}*[^\p{Z}\p{C}]\P{C}*$`), help: "must be a command without control characters", hidden: true,
	}
)

// config reads the object config of the workspace or an environment. A module's name is the key of its own settings.
func (r *reader) config(w *Workspace, p property, environment string) {
	modules := append(w.Names(), w.Package)
	r.settings(w.config, scope{environment: environment}, p, func(own property) bool {
		if own.name == "" || !slices.Contains(modules, own.name) {
			return false
		}
		r.settings(w.config, scope{environment: environment, module: own.name}, own, nil)
		return true
	})
}

// providerSettings reads the object providers of the workspace or an environment.
func (r *reader) providerSettings(w *Workspace, p property, environment string) {
	r.object(p, "provider", packageForm, func(p property) {
		r.settings(w.providers, scope{environment: environment, module: p.name}, p, nil)
	})
}

// settings adds the entries of an object to a scope, except those handled by isOther, which may be nil.
func (r *reader) settings(all map[scope][]Setting, to scope, p property, isOther func(property) bool) {
	if !r.is(p, "an object", "{KEY: VALUE}") {
		return
	}
	r.entries(p.path, p.value, func(name string, key, value *yaml.Node) {
		entry := property{join(p.path, name), name, key, value}
		if isOther != nil && isOther(entry) || !r.check(key, "key", settingForm) {
			return
		}
		s := Setting{Key: name, Own: to.module != "", File: r.file, Line: value.Line, Column: value.Column, From: p.path}
		if kindOf(value) == "no value" && value.Value == "" {
			s.Line, s.Column = key.Line, key.Column // the position of a missing value is the next line
		}
		if command, ok := r.command(entry); ok {
			s.Exec = command
		} else {
			s.Value = json.RawMessage(quote(r.plain(entry.path, value, &s.Places, nil)))
		}
		all[to] = append(all[to], s)
	})
}

// command returns the command of a value of the form {exec: COMMAND}.
func (r *reader) command(p property) (string, bool) {
	n := p.value
	if kindOf(n) != "an object" || len(n.Content) != 2 || kindOf(n.Content[0]) != "a string" || n.Content[0].Value != "exec" {
		return "", false
	}
	return r.text(property{join(p.path, "exec"), "exec", n.Content[0], n.Content[1]}, "COMMAND", commandForm, p.path+".exec"), true
}

// plain converts a YAML value to JSON. path is its name in messages. plain adds the places of nested values; within is the
// path of n in the setting.
func (r *reader) plain(path string, n *yaml.Node, places *[]Place, within []any) any {
	nested := func(path string, n *yaml.Node, key any) any {
		at := append(slices.Clip(within), key)
		*places = append(*places, Place{at, n.Line, n.Column})
		return r.plain(path, n, places, at)
	}
	switch kind := kindOf(n); {
	case kind == "":
		r.add(n, unsupported)
	case len(within) > mostLevels:
		r.add(n, "nested in more than %d lists and objects", mostLevels)
	case kind == "an object":
		object := map[string]any{}
		r.entries(path, n, func(name string, key, value *yaml.Node) {
			if name == wire.Signature { // it would turn the object into a secret or another special value
				r.add(key, "%s is a reserved key", quote(name))
			}
			object[name] = nested(join(path, name), value, name)
		})
		return object
	case kind == "a list":
		list := []any{}
		for i, element := range n.Content {
			list = append(list, nested(fmt.Sprintf("%s[%d]", path, i), element, i))
		}
		return list
	case kind == "a number":
		return r.number(path, n)
	case kind == "a boolean":
		return strings.EqualFold(n.Value, "true")
	case kind == "a string":
		return n.Value
	}
	return nil
}

// number returns the value of a number. It refuses numbers that JSON cannot represent and integers that programs would
// round.
func (r *reader) number(path string, n *yaml.Node) float64 {
	f, err := strconv.ParseFloat(n.Value, 64)
	isInteger := !strings.ContainsAny(n.Value, ".eE")
	if strings.HasPrefix(n.Value, "0x") || strings.HasPrefix(n.Value, "0o") {
		var i uint64
		i, err = strconv.ParseUint(n.Value, 0, 64)
		f, isInteger = float64(i), true
	}
	switch {
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		r.add(n, "%s must be a finite number, got %s", path, n.Value)
		return 0
	case isInteger && math.Abs(f) >= 1<<53:
		r.add(n, "%s is an integer of more than 53 bits, which programs would round; write it as a string", path)
	}
	return f
}
