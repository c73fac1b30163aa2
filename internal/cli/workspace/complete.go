package workspace

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lumi-idl/lumi/deploy/graph"
	encoding "github.com/lumi-idl/lumi/deploy/state"
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/deploy/store/memory"
	lumiyaml "github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// The functions in this file complete arguments from Lumi.yaml and the store. They return nothing on errors, print
// nothing, and do not need a key.

// InStore calls f with a read transaction on the store of the workspace and the command's environment, which is "" if
// it is not known yet. On errors, f is not called.
func InStore(c *cobra.Command, f func(w *lumiyaml.Workspace, tx store.Tx, environment string)) {
	w, err := Find()
	if err != nil {
		return
	}
	s := &Session{Workspace: w}
	if s.openStore(c.Context(), false) != nil {
		s.Store = memory.New() // names in Lumi.yaml can still be completed
	}
	defer func() { _ = s.Store.Close() }()
	given, _ := c.Flags().GetString("environment")
	name, _ := EnvironmentName(w, given)
	_ = s.Store.Read(c.Context(), func(tx store.Tx) error {
		f(w, tx, name)
		return nil
	})
}

// Completed returns the printable names in names, sorted and without duplicates.
func Completed(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return name != term.Visible(name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// CompleteEnvironments completes the environments of the workspace.
func CompleteEnvironments(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	InStore(c, func(w *lumiyaml.Workspace, tx store.Tx, _ string) {
		names = append(names, w.Environments...)
		if w.Environment != "" {
			names = append(names, w.Environment)
		}
		all, _ := tx.Environments()
		for _, e := range all {
			names = append(names, e.Name)
		}
	})
	return Completed(names), cobra.ShellCompDirectiveNoFileComp
}

// outline returns the graph of an environment without its resources, or an empty graph on errors.
func outline(tx store.Tx, environment string) *graph.Graph {
	g, err := encoding.Codec{}.Outline(tx, store.Environment{Name: environment})
	if err != nil {
		return &graph.Graph{}
	}
	return g
}

// CompleteModules completes the modules of the workspace and the environment. If none matches, the shell completes file
// names.
func CompleteModules(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	InStore(c, func(w *lumiyaml.Workspace, tx store.Tx, environment string) {
		names = append(outline(tx, environment).Modules(), w.Names()...)
	})
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) })
	return Completed(names), cobra.ShellCompDirectiveDefault
}

// CompleteOutputs completes a module and then the outputs of that module.
func CompleteOutputs(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	InStore(c, func(_ *lumiyaml.Workspace, tx store.Tx, environment string) {
		g := outline(tx, environment)
		if len(args) == 0 {
			names = g.Modules()
		} else if v := g.Newest(args[0]); v != nil && len(args) == 1 {
			names = NamesOf(v)
		}
	})
	return Completed(names), cobra.ShellCompDirectiveNoFileComp
}

// CompleteDeployments completes queued deployments. For a rollback, it instead completes the successful ones among the
// last hundred deployments, newest first.
func CompleteDeployments(c *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	InStore(c, func(_ *lumiyaml.Workspace, tx store.Tx, environment string) {
		rows, _ := tx.Queue(environment)
		if c.Name() == "rollback" {
			rows, _ = tx.History(environment, 0, 100)
			rows = slices.DeleteFunc(rows, func(d store.Job) bool { return d.State != store.Done || d.Kind != "deploy" })
		}
		for _, d := range rows {
			if d.Number > 0 && len(args) == 0 {
				names = append(names, fmt.Sprintf("%s[%d]\t%s", d.Module, d.Number, d.State))
			}
		}
	})
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// CompleteResources completes the resources of the environment or, for 'lumi resolve', the resources that need an
// answer. It returns unique names, and URNs for all other resources. Once a URN is being typed, it returns all URNs.
func CompleteResources(c *cobra.Command, _ []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	all := map[urn.URN]string{} // names by URN
	InStore(c, func(_ *lumiyaml.Workspace, tx store.Tx, environment string) {
		if c.Name() != "resolve" {
			rows, _ := tx.Vertices(environment)
			for _, row := range rows {
				if u := encoding.URN(row); u != "" {
					all[u] = u.Name()
				}
			}
			return
		}
		queued, _ := tx.Queue(environment)
		for _, d := range queued {
			steps, _ := tx.Steps(d.ID)
			for _, s := range steps {
				if s.State == store.Unknown && (d.State == store.Ask || d.State == store.Failed) {
					all[urn.URN(s.URN)] = urn.URN(s.URN).Name()
				}
			}
		}
	})
	count := map[string]int{}
	for _, name := range all {
		count[name]++
	}
	for u, name := range all {
		if count[name] > 1 || strings.HasPrefix(typed, "urn:") {
			name = string(u)
		}
		names = append(names, name)
	}
	return Completed(names), cobra.ShellCompDirectiveNoFileComp
}

// CompleteTypes completes a package and then, by starting its plugin, the package's resource types.
func CompleteTypes(c *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
	w, err := Find()
	pkg, _, isPackage := strings.Cut(typed, ":")
	switch {
	case err != nil || len(args) > 0:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case !isPackage:
		names = slices.Collect(maps.Keys(w.Plugins))
		for name := range Installed(PluginPrefix, append(filepath.SplitList(os.Getenv("PATH")), OwnFolder())) {
			names = append(names, strings.TrimPrefix(name, PluginPrefix))
		}
		for i := range names {
			names[i] += ":"
		}
		return Completed(names), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if command, err := (&Session{Workspace: w}).Plugin(pkg); err == nil {
		command.Log = io.Discard
		ctx, cancel := context.WithTimeout(c.Context(), 5*time.Second)
		defer cancel()
		if p, err := plugin.Start(ctx, command); err == nil {
			defer func() { _ = p.Close() }()
			types, _ := p.Describe(ctx)
			for _, t := range types {
				if !t.Function {
					names = append(names, string(t.Type))
				}
			}
		}
	}
	return Completed(names), cobra.ShellCompDirectiveNoFileComp
}

// NamesOf returns the names of the outputs of v.
func NamesOf(v *graph.Version) (names []string) {
	for _, p := range v.Outputs() {
		names = append(names, p.Name)
	}
	return names
}
