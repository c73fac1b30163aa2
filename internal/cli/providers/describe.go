package providers

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func newProviderDescribeCommand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "describe PLUGIN",
		Short: "list the resource types and functions that a provider serves, and their properties",
		Long: `Start the plugin, a path or a name on $PATH, and print the resource types and functions it
serves. The provider needs no configuration.

With --json, it prints one object: "plugin", "package", "version", "configurable", "types",
"functions".`,
		Annotations:       console.ExitCodes("the plugin is described", "", "the plugin cannot be started, or a usage or system error"),
		Example:           console.Examples("Which resource types does a plugin serve?", "lumi provider describe lumi-resource-library"),
		ValidArgsFunction: completePlugins,
		RunE:              func(c *cobra.Command, args []string) error { return describePlugin(c.Context(), con, args[0]) },
	}
}

// pluginDescription is the JSON output of 'lumi provider describe'. It is documented in docs/conformance.md.
type pluginDescription struct {
	Plugin       string            `json:"plugin"`
	Package      string            `json:"package"`
	Version      string            `json:"version,omitempty"`
	Configurable bool              `json:"configurable"`
	Types        []typeDescription `json:"types"`
	// Functions is omitted if the plugin serves none.
	Functions []functionDescription `json:"functions,omitempty"`
}

type functionDescription struct {
	Function   tokens.Type           `json:"function"`
	Properties []propertyDescription `json:"properties"`
}

type typeDescription struct {
	Type             tokens.Type           `json:"type"`
	Named            bool                  `json:"named"`
	CanFind          bool                  `json:"canFind"`
	IdempotentCreate bool                  `json:"idempotentCreate"`
	RepeatableChange bool                  `json:"repeatableChange"`
	Properties       []propertyDescription `json:"properties"`
}

type propertyDescription struct {
	Name    string    `json:"name"`
	Kind    lumi.Kind `json:"kind"`
	Options []string  `json:"options"`
}

func describePlugin(ctx context.Context, con *console.Console, name string) error {
	path, err := workspace.FindPlugin(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	con.Doing("starting %s", name)
	p, err := plugin.Start(ctx, plugin.Command{Path: path, Log: new(bytes.Buffer)}) // errors quote the relevant log lines
	if err != nil {
		return fmt.Errorf("cannot start the plugin: %w", err)
	}
	defer func() { _ = p.Close() }() // the answer is complete, so the error does not matter
	types, err := p.Describe(ctx)
	if err != nil {
		return fmt.Errorf("%s cannot describe its types: %w", name, err)
	}
	d := pluginDescription{
		Plugin: name, Package: p.Package, Version: p.Version, Configurable: p.Configurable, Types: []typeDescription{},
	}
	for _, t := range types {
		described := describedType(t)
		if t.Function {
			d.Functions = append(d.Functions, functionDescription{described.Type, described.Properties})
		} else {
			d.Types = append(d.Types, described)
		}
	}
	if con.JSON {
		return con.PrintJSON(d)
	}
	d.print(con)
	return nil
}

func describedType(t *lumi.Description) typeDescription {
	d := typeDescription{
		Type: t.Type, Named: t.Named, CanFind: t.CanFind, IdempotentCreate: t.IdempotentCreate, RepeatableChange: t.RepeatableChange,
		Properties: []propertyDescription{},
	}
	for _, p := range t.Properties {
		options := []string{}
		for _, option := range []struct {
			name string
			has  bool
		}{
			{"required", p.Required}, {"out", p.Flags&lumi.Out != 0}, {"fixed", p.Flags&lumi.Fixed != 0}, {"computed", p.Flags&lumi.Computed != 0},
			{"in", p.Flags&lumi.In != 0},
			{"replaces", p.Flags&lumi.Replaces != 0}, {"secret", p.Flags&lumi.Secret != 0},
		} {
			if option.has {
				options = append(options, option.name)
			}
		}
		if p.Equality != nil && p.Equality.As != "" {
			options = append(options, "equal="+p.Equality.As)
		}
		if t.Named && p.Name == "name" {
			options = append(options, nameOptions(t.Name)...)
		}
		d.Properties = append(d.Properties, propertyDescription{p.Name, p.Kind, options})
	}
	return d
}

// nameOptions formats the constraints on names like the IDL.
func nameOptions(n lumi.NameRules) (options []string) {
	for _, option := range []struct{ name, value string }{
		{"minLength", strings.TrimPrefix(strconv.Itoa(n.MinLength), "0")}, {"maxLength", strings.TrimPrefix(strconv.Itoa(n.MaxLength), "0")},
		{"pattern", n.Pattern}, {"nameScope", n.Scope},
	} {
		if option.value != "" {
			options = append(options, option.name+"="+option.value)
		}
	}
	return options
}

func (d *pluginDescription) print(con *console.Console) {
	con.Printf("%s\n", pluginHeader(con, d.Plugin, d.Package, d.Version, len(d.Types), len(d.Functions)))
	for _, t := range d.Types {
		var notes []string
		if !t.Named {
			notes = append(notes, "named by the provider")
		}
		if t.CanFind {
			notes = append(notes, "can be found after a lost response")
		}
		if t.IdempotentCreate {
			notes = append(notes, "idempotent create")
		}
		if t.RepeatableChange {
			notes = append(notes, "repeatable changes")
		}
		text := ""
		if len(notes) > 0 {
			text = " (" + strings.Join(notes, ", ") + ")"
		}
		printProperties(con, t.Type, text, t.Properties)
	}
	for _, f := range d.Functions {
		printProperties(con, f.Function, " (function)", f.Properties)
	}
}

func printProperties(con *console.Console, of tokens.Type, notes string, properties []propertyDescription) {
	con.Printf("\n%s%s\n", con.Out.Paint(term.Bold, string(of)), notes)
	width := 0
	for _, p := range properties {
		width = max(width, term.Width(term.Visible(p.Name)))
	}
	for _, p := range properties {
		name := term.Visible(p.Name)
		line := name + strings.Repeat(" ", width-term.Width(name)) + "  " + string(p.Kind)
		if len(p.Options) > 0 {
			line += ", " + strings.Join(p.Options, ", ")
		}
		con.Printf("  %s\n", line)
	}
}

// pluginHeader formats the heading for a plugin.
func pluginHeader(con *console.Console, name, pkg, version string, types, functions int) string {
	serves := console.Count(types, "type")
	if functions > 0 {
		serves += ", " + console.Count(functions, "function")
	}
	if version != "" {
		pkg += " " + version
	}
	return fmt.Sprintf("%s: package %s, %s", con.Out.Paint(term.Bold, term.Visible(name)), term.Visible(pkg), serves)
}

// completePlugins completes the names of plugins on $PATH. The shell also completes file names.
func completePlugins(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all := slices.Sorted(maps.Keys(workspace.Installed(workspace.PluginPrefix, filepath.SplitList(os.Getenv("PATH")))))
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, typed) }), cobra.ShellCompDirectiveDefault
}
