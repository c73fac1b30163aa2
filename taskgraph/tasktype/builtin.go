package tasktype

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
)

type builtin struct {
	parameters []parameter
	// check returns problems with the combination of individually valid parameters. It may be nil.
	check   func(p map[string]any) []string
	nothing bool
	// any accepts all parameters.
	any bool
	run func(ctx context.Context, c *Call) error
}

type parameter struct {
	name string
	kind kind
	// required means that the parameter must be set.
	required bool
}

// kind returns a description of the expected value, or "" if v is valid.
type kind func(v any) string

// common lists the parameters of all types, which [taskgraph.Check] validates.
var common = []string{"timeout", "retries", "interval", "strategy"}

// Builtin returns the built-in types.
func Builtin() Registry {
	nothing := builtin{nothing: true, run: func(context.Context, *Call) error { return nil }}
	skipped := nothing
	skipped.any = true // a skipped task keeps the parameters of the task that it replaces
	return Registry{
		"shell": builtin{parameters: []parameter{{"cmd", text, true}, {"cwd", place, false}}, run: shell},
		"upload_file": builtin{
			parameters: []parameter{
				{"path", place, true}, {"data", anyText, false}, {"src", inside, false}, {"template", inside, false}, {"permissions", mode, false},
			},
			check: func(p map[string]any) []string {
				given := 0
				for _, name := range []string{"data", "src", "template"} {
					if p[name] != nil {
						given++
					}
				}
				if given != 1 {
					return []string{"upload_file requires exactly one of data, src, and template"}
				}
				return nil
			}, run: uploadFile,
		},
		"copy_files": builtin{
			parameters: []parameter{{"files", pairs, true}, {"permissions", mode, false}, {"dir_permissions", mode, false}}, run: copyFiles,
		},
		"sync": builtin{
			parameters: []parameter{{"src", inside, true}, {"dst", place, true}},
			check: func(p map[string]any) []string {
				if dst := str(p, "dst"); isPrecious(dst) {
					return []string{precious(dst)}
				}
				return nil
			}, run: syncFolder,
		},
		"reboot": builtin{parameters: []parameter{{"command", text, false}, {"boot_id", text, false}}, run: reboot},
		"puppet": builtin{
			parameters: []parameter{{"puppet_manifest", place, true}, {"puppet_modules", text, false}, {"cwd", place, false}}, run: puppet,
		},
		taskgraph.StageType: nothing, taskgraph.GroupType: nothing, taskgraph.AnchorType: nothing, taskgraph.SkippedType: skipped,
	}
}

func (b builtin) Run(ctx context.Context, c *Call) error { return b.run(ctx, c) }

func (b builtin) Check(p map[string]any) []string {
	var all []string
	if taskgraph.IsExpression(p) {
		return nil
	}
	names := slices.Clone(common)
	for _, known := range b.parameters {
		names = append(names, known.name)
		v, has := p[known.name]
		if !has && known.required {
			all = append(all, fmt.Sprintf("missing parameter %s", known.name))
		}
		if has && !taskgraph.HasExpression(v) {
			if want := known.kind(v); want != "" {
				all = append(all, fmt.Sprintf("parameters.%s must be %s", known.name, want))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !b.any && !slices.Contains(names, name) {
			all = append(all, fmt.Sprintf("unknown parameter %q%s", name, suggest.DidYouMean(name, names)))
		}
	}
	if len(all) == 0 && b.check != nil && !taskgraph.HasExpression(p) {
		return b.check(p)
	}
	return all
}

func text(v any) string {
	s, ok := v.(string)
	switch {
	case !ok || s == "":
		return "a non-empty string"
	case strings.Contains(s, "\x00"): // OpenSSH closes the connection if an argument contains NUL
		return "a string without NUL characters"
	}
	return ""
}

// place accepts a path on a node.
func place(v any) string {
	s, _ := v.(string)
	if first, _, _ := strings.Cut(s, "/"); text(v) == "" && strings.HasPrefix(first, "~") && first != "~" {
		return "a path; " + first + " is not expanded, so use an absolute path, or ./" + first + " for a file with this name"
	}
	return text(v)
}

func inside(v any) string {
	if s, _ := v.(string); text(v) != "" || !filepath.IsLocal(filepath.FromSlash(s)) {
		return "a path inside the workspace, such as files/app.conf"
	}
	return ""
}

func anyText(v any) string {
	if _, ok := v.(string); !ok {
		return "a string"
	}
	return ""
}

var octal = regexp.MustCompile(`^0?[0-7]{3}$`)

// mode accepts only strings, since YAML and JSON disagree on the value of 0644.
func mode(v any) string {
	if s, _ := v.(string); !octal.MatchString(s) {
		return `an octal mode in quotes, such as "0644"`
	}
	return ""
}

func pairs(v any) string {
	list, _ := v.([]any)
	for _, item := range list {
		p, _ := item.(map[string]any)
		if text(p["src"]) != "" || text(p["dst"]) != "" || len(p) != 2 {
			return "a list of {src, dst}"
		}
		for _, name := range []struct {
			key  string
			kind kind
		}{{"src", inside}, {"dst", place}} {
			if want := name.kind(p[name.key]); want != "" {
				return "a list of {src, dst}, where " + name.key + " is " + want
			}
		}
	}
	if len(list) == 0 {
		return "a list of {src, dst}"
	}
	return ""
}

func shell(ctx context.Context, c *Call) error {
	return c.Command(ctx, "shell", str(c.Task.Parameters, "cmd"), str(c.Task.Parameters, "cwd"))
}

func puppet(ctx context.Context, c *Call) error {
	p := c.Task.Parameters
	script := "PATH=$PATH:/opt/puppetlabs/bin\n" +
		"command -v puppet >/dev/null || { echo 'puppet is not installed on this node'; exit 127; }\nexec puppet apply --detailed-exitcodes --color=false"
	if modules := str(p, "puppet_modules"); modules != "" {
		var folders []string
		for folder := range strings.SplitSeq(modules, ":") {
			folders = append(folders, host.QuotePath(folder))
		}
		script += " --modulepath " + strings.Join(folders, ":")
	}
	// puppet exits with status 2 if it succeeds and makes changes.
	return c.Command(ctx, "puppet", script+" "+host.QuotePath(str(p, "puppet_manifest")), str(p, "cwd"), 2)
}
