package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/internal/yamltree"
)

// mostBytes is the maximum size of a file, which also limits parsing time.
const mostBytes = 1 << 18

// keys lists the top-level keys of the file with example values.
var keys = []struct{ name, example string }{
	{"package", "NAME"},
	{"program", "FILE"},
	{"modules", "{NAME: FILE}"},
	{"environment", "NAME"},
	{"environments", "{NAME: {}}"},
	{"plugins", "{PACKAGE: FILE}"},
	{"provisioners", "{NAME: [TYPE]}"},
	{"config", "{KEY: VALUE}"},
	{"providers", "{PACKAGE: {PROPERTY: VALUE}}"},
	{"drift", "{ignore: [TYPE.PATH]}"},
	{"state", "FILE"},
	{"project", "NAME"},
}

const (
	keyList     = "valid keys are package, program, modules, environment, environments, plugins, provisioners, config, providers, drift, state, and project"
	invalid     = `invalid YAML; align keys, put a space after each colon, close brackets, and quote values that contain ": "`
	unsupported = "anchors, aliases and tags are not supported; write the value itself"

	packageWords = `[a-z][a-z0-9_-]*(?:/[a-z][a-z0-9_-]*)*`
	wordsHelp    = "must be words joined by /, each a lowercase letter followed by lowercase letters, digits, -, or _"
	sourceHelp   = "must be the path of a .ts or .js file below this folder, with forward slashes"
)

type form struct {
	pattern *regexp.Regexp
	help    string
	// hidden is set if messages must not quote the value, which may contain a secret by mistake.
	hidden bool
}

var (
	packageForm     = form{pattern: regexp.MustCompile(`^` + packageWords + `$`), help: wordsHelp}
	environmentForm = form{
		pattern: regexp.MustCompile(`^[^\s\p{Z}:\p{C}\x{fffd}]+$`), help: "must be a word without colons or spaces",
	}
	keyForm = form{
		pattern: regexp.MustCompile(`^(?:passphrase|age:age1[0-9a-z]+(?:, *age1[0-9a-z]+)*|exec:\P{C}*[^\p{Z}\p{C}]\P{C}*)$`),
		help:    "must be passphrase, age:RECIPIENT[,RECIPIENT…], or exec:COMMAND",
		hidden:  true,
	}
	namesForm   = form{pattern: regexp.MustCompile(`^unique$`), help: "must be unique"}
	programForm = form{
		pattern: regexp.MustCompile(`^(?:(?:[^./\\\p{C}]|\.[^./\\\p{C}]|\.\.[^/\\\p{C}])[^/\\\p{C}]*/)*[^/\\\p{C}]+\.[cm]?[jt]s$`), help: sourceHelp,
	}
	executableForm  = form{pattern: regexp.MustCompile(`^\P{C}+$`), help: "must be the path of an executable file"}
	pathForm        = form{pattern: executableForm.pattern, help: "must be a path without control characters"}
	provisionerForm = form{
		pattern: regexp.MustCompile(`^[a-z][a-z0-9_-]*$`),
		help:    "must be a lowercase letter followed by lowercase letters, digits, -, or _",
	}
	protocolForm = form{pattern: regexp.MustCompile(`^(?:grpc|json)$`), help: "must be grpc or json"}
	historyForm  = form{pattern: regexp.MustCompile(`^[1-9][0-9]{0,5}d?$`), help: "must be a number of deployments, such as 500, or of days, such as 90d"}
	wordForm     = form{pattern: executableForm.pattern, help: "must contain only nonempty strings without control characters", hidden: true}
	typeForm     = form{
		pattern: regexp.MustCompile(`^` + packageWords + `:[^:/\\\s\p{Z}\p{C}]+(?:/[^:/\\\s\p{Z}\p{C}]+)*:(?:\*|[\p{L}_][\p{L}\p{Nd}_]*)$`),
		help:    "must be a type such as aws:rds:Instance, or aws:rds:* for all types of a module",
	}
)

// reader converts YAML nodes to a workspace and collects problems.
type reader struct {
	file     string
	problems []Problem
	// later is called once all modules are known.
	later []func()
}

// Parse parses src, the content of the named file. It returns an *[Error] with all problems, or with only the first one
// if src is not valid YAML.
func Parse(src []byte, file string) (*Workspace, error) {
	r := reader{file: file}
	w := &Workspace{File: file, config: map[scope][]Setting{}, providers: map[scope][]Setting{}}
	if root := r.load(src); root != nil {
		r.root(w, root)
	}
	if len(r.problems) == 0 {
		return w, nil
	}
	// Further problems at the same position are most likely caused by the first one.
	at := func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) }
	slices.SortStableFunc(r.problems, at)
	return nil, &Error{file, slices.CompactFunc(r.problems, func(a, b Problem) bool { return at(a, b) == 0 })}
}

// load returns the root node of the only document, or nil if the document is empty or invalid.
func (r *reader) load(src []byte) *yaml.Node {
	switch {
	case len(src) > mostBytes:
		r.problems = append(r.problems, Problem{Message: "larger than 256 KiB"})
		return nil
	case !utf8.Valid(src):
		r.problems = append(r.problems, Problem{Message: "not valid UTF-8"})
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	var first, second yaml.Node
	err := decoder.Decode(&first)
	if err == nil {
		err = decoder.Decode(&second)
	}
	var wrong *yaml.LoadError
	switch {
	case errors.As(err, &wrong):
		p := Problem{max(wrong.Mark.Line, 1), max(wrong.Mark.Column, 1), invalid}
		if yamltree.IsTab(src, p.Line, p.Column) {
			p.Message = yamltree.Tab
		}
		r.problems = append(r.problems, p)
		return nil
	case err == nil:
		r.add(&second, "unexpected second YAML document; the file must contain only one")
		return nil
	case !errors.Is(err, io.EOF):
		r.problems = append(r.problems, Problem{1, 1, invalid})
		return nil
	case len(first.Content) == 0:
		return nil
	}
	return first.Content[0]
}

func (r *reader) add(at *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{at.Line, at.Column, fmt.Sprintf(format, args...)})
}

func (r *reader) root(w *Workspace, root *yaml.Node) {
	switch kind := kindOf(root); {
	case kind == "no value":
		return
	case kind != "an object":
		r.add(root, `expected lines such as "package: my/cluster", got %s`, kind)
		return
	}
	found := map[string]*yaml.Node{}
	var program string
	var environment *yaml.Node
	r.entries("", root, func(name string, key, value *yaml.Node) {
		found[name] = key
		p := property{name, name, key, value}
		switch name {
		case "package":
			w.Package = r.name(p, packageForm)
		case "program":
			program = r.text(p, "FILE", programForm, "program")
		case "modules":
			w.Modules, w.Models = r.modules(w, p)
		case "environment":
			w.Environment, environment = r.name(p, environmentForm), value
		case "environments":
			r.environments(w, p)
		case "plugins":
			w.Plugins = r.plugins(p)
		case "provisioners":
			w.Provisioners = r.provisioners(p)
		case "config":
			r.later = append(r.later, func() { r.config(w, p, "") })
		case "providers":
			r.providerSettings(w, p, "")
		case "drift":
			w.IgnoredDrift = r.drift(p)
		case "state":
			w.State = r.text(p, "FILE", pathForm, "state")
		case "project":
			w.Project = r.name(p, provisionerForm)
		default:
			r.unknown(name, key)
		}
	})
	switch {
	case found["modules"] != nil && found["package"] != nil:
		r.add(found["package"], "package cannot be combined with modules, whose keys are the module names; remove it")
	case found["program"] != nil && found["package"] == nil && found["modules"] == nil:
		r.add(found["program"], "program requires package, the name of its module; add package: NAME")
	}
	if found["modules"] != nil && found["program"] != nil {
		r.add(found["program"], "program cannot be combined with modules; move it into modules")
	}
	if found["state"] != nil && found["project"] == nil {
		r.add(found["state"], "state requires project, which separates its environments from those of other workspaces; add project: NAME")
	}
	if w.Environment != "" && found["environments"] != nil && !slices.Contains(w.Environments, w.Environment) {
		r.add(environment, "environment %s is not listed in environments%s", quote(w.Environment), near(w.Environment, w.Environments))
	}
	if program != "" {
		w.Modules = map[string]string{w.Package: program}
	}
	for _, read := range r.later {
		read()
	}
}

func (r *reader) unknown(name string, key *yaml.Node) {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	help := near(name, names)
	if help == "" {
		help = "; " + keyList
	}
	r.add(key, "unknown key %s%s", quote(name), help)
}

// entries calls visit for each entry of an object except invalid and duplicate keys, which it records as problems.
func (r *reader) entries(path string, object *yaml.Node, visit func(name string, key, value *yaml.Node)) {
	lines := map[string]int{}
	for i := 0; i < len(object.Content); i += 2 {
		key, value := object.Content[i], object.Content[i+1]
		kind := kindOf(key)
		if kind == "" {
			r.add(key, unsupported)
			continue
		}
		if kind != "a string" {
			help := ""
			if key.Kind == yaml.ScalarNode && key.Value != "" {
				help = "; write " + quote(key.Value)
			}
			r.add(key, "keys must be strings, got %s%s", kind, help)
			continue
		}
		if line := lines[key.Value]; line > 0 {
			r.add(key, "%s is already set on line %d; remove one of them", join(path, key.Value), line)
			continue
		}
		lines[key.Value] = key.Line
		visit(key.Value, key, value)
	}
}

// property is an entry of the file. path is its full name in messages.
type property struct {
	path, name string
	key, value *yaml.Node
}

// is reports whether the value is of the given kind. If not, it records a problem.
func (r *reader) is(p property, kind, example string) bool {
	switch found := kindOf(p.value); found {
	case kind:
		return true
	case "":
		r.add(p.key, unsupported)
	case "no value":
		r.add(p.key, "%s has no value; write %s: %s", p.path, p.name, example)
	default:
		r.add(p.value, "%s must be %s, got %s; write %s: %s", p.path, kind, found, p.name, example)
	}
	return false
}

// name returns the string value of a property whose form is f, or "" if it is not a string.
func (r *reader) name(p property, f form) string { return r.text(p, "NAME", f, p.path) }

// text returns the string value of a property, or "" if it is not a string. what is its name in messages.
func (r *reader) text(p property, example string, f form, what string) string {
	scalar := p.value.Kind == yaml.ScalarNode && kindOf(p.value) != "no value"
	if scalar && f.pattern.MatchString(p.value.Value) {
		example = quote(p.value.Value)
	}
	if !r.is(p, "a string", example) {
		return ""
	}
	r.check(p.value, what, f)
	return p.value.Value
}

// check reports whether a string matches a form. If not, it records a problem.
func (r *reader) check(n *yaml.Node, what string, f form) bool {
	switch {
	case f.pattern.MatchString(n.Value):
		return true
	case f.hidden:
		r.add(n, "%s %s", what, f.help)
	default:
		r.add(n, "%s %s: %s", what, quote(n.Value), f.help)
	}
	return false
}

// object calls visit for each entry with a valid key. It returns false, after recording a problem, if the property is
// not an object.
func (r *reader) object(p property, what string, names form, visit func(property)) bool {
	if !r.is(p, "an object", exampleOf(p.name)) {
		return false
	}
	r.entries(p.path, p.value, func(name string, key, value *yaml.Node) {
		if r.check(key, what, names) {
			visit(property{join(p.path, name), name, key, value})
		}
	})
	return true
}

func (r *reader) plugins(p property) map[string]string {
	found := map[string]string{}
	r.object(p, "plugin", packageForm, func(p property) { found[p.name] = r.text(p, "FILE", executableForm, "plugin") })
	return found
}

func (r *reader) modules(w *Workspace, p property) (programs map[string]string, models map[string]Model) {
	programs, models = map[string]string{}, map[string]Model{}
	r.object(p, "module", packageForm, func(p property) {
		if kindOf(p.value) != "an object" {
			programs[p.name] = r.text(p, "FILE", programForm, "program")
		} else if program, m := r.module(w, p); program != nil {
			programs[p.name] = *program
		} else {
			models[p.name] = m
		}
	})
	return programs, models
}

// module reads the object of a module, which has a program or, if program is nil, an object model.
func (r *reader) module(w *Workspace, module property) (program *string, m Model) {
	found := map[string]*yaml.Node{}
	r.entries(module.path, module.value, func(name string, key, value *yaml.Node) {
		found[name] = key
		p := property{join(module.path, name), name, key, value}
		switch name {
		case "program":
			file := r.text(p, "FILE", programForm, name)
			program = &file
		case "config":
			r.settings(w.config, scope{module: module.name, nested: true}, p, nil)
		case "model":
			m.File = r.text(p, "FILE", pathForm, name)
		case "classes":
			m.Classes = r.paths(p)
		case "schemas":
			m.Schemas = r.paths(p)
		default:
			help := cmp.Or(near(name, []string{"program", "model", "classes", "schemas", "config"}), `; valid keys are program, model, classes, schemas, and config`)
			r.add(key, "unknown key %s%s", quote(name), help)
		}
	})
	if program == nil && found["model"] == nil && found["classes"] == nil && found["schemas"] == nil {
		r.add(module.key, "%s has no program; write program: FILE", module.path)
	}
	for _, of := range [...][2]string{{"model", "FILE"}, {"classes", "FOLDER"}, {"schemas", ""}} {
		key, isSet := found[of[0]], found[of[0]] != nil
		switch {
		case program != nil && isSet:
			r.add(key, "%s cannot be combined with program; remove one of them", of[0])
		case program == nil && !isSet && of[1] != "":
			r.add(module.key, "%s has no %s; write %[2]s: %s", module.path, of[0], of[1])
		}
	}
	return program, m
}

// paths returns the paths in a property, which may be a string or a list of strings.
func (r *reader) paths(p property) []string {
	if kindOf(p.value) == "a string" {
		return []string{r.text(p, "PATH", pathForm, "path")}
	}
	return r.list(p, "[PATH]", "path", pathForm)
}

// environments reads the names and settings of all environments.
func (r *reader) environments(w *Workspace, p property) {
	w.Keys, w.Inventories, w.UniqueNames, w.Histories = map[string]string{}, map[string]string{}, map[string]bool{}, map[string]string{}
	r.object(p, "environment", environmentForm, func(p property) {
		w.Environments = append(w.Environments, p.name)
		if kindOf(p.value) == "no value" || !r.is(p, "an object", "{}") {
			return
		}
		r.entries(p.path, p.value, func(name string, key, value *yaml.Node) {
			setting := property{join(p.path, name), name, key, value}
			switch name {
			case "key":
				w.Keys[p.name] = r.text(setting, "passphrase", keyForm, setting.path)
			case "inventory":
				w.Inventories[p.name] = r.text(setting, "FILE", pathForm, setting.path)
			case "config":
				r.later = append(r.later, func() { r.config(w, setting, p.name) })
			case "providers":
				r.providerSettings(w, setting, p.name)
			case "names":
				w.UniqueNames[p.name] = r.text(setting, "unique", namesForm, setting.path) == "unique"
			case "history":
				if number := *value; kindOf(value) == "a number" {
					number.Style, setting.value = yaml.DoubleQuotedStyle, &number
				}
				w.Histories[p.name] = r.text(setting, "90d", historyForm, setting.path)
			default:
				r.add(key, `unknown key %s; valid keys are key, inventory, names, history, config, and providers`, quote(name))
			}
		})
	})
}

// list returns the strings of a list, or nil if the property is not a list. what is the name of an element in messages.
func (r *reader) list(p property, example, what string, f form) []string {
	if !r.is(p, "a list", example) {
		return nil
	}
	all := []string{}
	for i, element := range p.value.Content {
		switch kind := kindOf(element); kind {
		case "a string":
			r.check(element, what, f)
			all = append(all, element.Value)
		case "":
			r.add(element, unsupported)
		default:
			r.add(element, "%s[%d] must be a string, got %s", p.path, i, kind)
		}
	}
	return all
}

func exampleOf(key string) string {
	for _, k := range keys {
		if k.name == key {
			return k.example
		}
	}
	return ""
}

// Non-string scalars of the YAML 1.2 core schema. The library partly follows YAML 1.1 instead.
var (
	null   = regexp.MustCompile(`^(?:~|null|Null|NULL)?$`)
	truth  = regexp.MustCompile(`^(?:true|True|TRUE|false|False|FALSE)$`)
	number = regexp.MustCompile(`^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// kindOf returns a description of the node's kind. It returns "" for an alias and for a node with an anchor or a tag.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Tag == "!":
		return ""
	case n.Kind == yaml.MappingNode:
		return "an object"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return "a string"
	case null.MatchString(n.Value):
		return "no value"
	case truth.MatchString(n.Value):
		return "a boolean"
	case number.MatchString(n.Value):
		return "a number"
	}
	return "a string"
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func near(name string, names []string) string {
	if found := suggest.Name(name, names); found != "" {
		return "; did you mean " + quote(found) + "?"
	}
	return ""
}

func quote(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // Encoding JSON values cannot fail.
	return strings.TrimSuffix(b.String(), "\n")
}
