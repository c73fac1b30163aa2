package runs

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/internal/suggest"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// provisioners finds provisioner plugins in the folder of lumi and on $PATH, and the commands in Lumi.yaml.
type provisioners struct {
	*workspace.Session
	paths map[string]string // paths by provisioner name
	known sync.Map          // cached results of the method of: a [handledBy] for each type
}

type handledBy struct {
	name string
	err  error
}

func findProvisioners(s *workspace.Session) *provisioners {
	p := &provisioners{Session: s, paths: map[string]string{}}
	folders := append([]string{workspace.OwnFolder()}, filepath.SplitList(os.Getenv("PATH"))...)
	for executable, path := range workspace.Installed(lumirpc.ProvisionerPrefix, folders) {
		if name := strings.TrimPrefix(executable, lumirpc.ProvisionerPrefix); lumirpc.IsProvisionerName(name) {
			p.paths[name] = path
		}
	}
	for name, of := range s.Workspace.Provisioners {
		if len(of.Command) == 0 {
			continue
		}
		if p.paths[name] = of.Command[0]; strings.ContainsAny(of.Command[0], "/"+string(filepath.Separator)) {
			p.paths[name] = s.Path(of.Command[0])
		}
	}
	return p
}

func (p *provisioners) names() []string { return slices.Sorted(maps.Keys(p.paths)) }

// of returns the name of the provisioner for a type, or "" if the type is handled by its provider. If neither is
// installed, it returns an error that explains how to configure one.
func (p *provisioners) of(t tokens.Type) (string, error) {
	known, ok := p.known.Load(t)
	if !ok {
		name, err := p.find(t)
		known, _ = p.known.LoadOrStore(t, handledBy{name, err})
	}
	return known.(handledBy).name, known.(handledBy).err
}

func (p *provisioners) find(t tokens.Type) (string, error) {
	name, err := p.Workspace.Provisioner(t)
	switch {
	case err == nil && len(p.Workspace.Provisioners[name].Command) > 0:
		if _, err := workspace.FindPlugin(p.paths[name]); err != nil {
			return "", fmt.Errorf("%s: provisioners.%s.command: %w", p.Workspace.File, name, err)
		}
		return name, nil
	case err != nil || p.paths[name] != "" || name == "" && t == lumigl.ModuleType:
		return name, err
	case name == "":
		pkg, _, _ := strings.Cut(string(t), ":")
		_, err := p.Plugin(pkg)
		if err != nil && p.Workspace.Plugins[pkg] == "" {
			example := cmp.Or(append(p.names(), "NAME")...)
			module := t[:strings.LastIndexByte(string(t), ':')]
			err = fmt.Errorf(`%w; or map it to a provisioner with "provisioners: {%s: [%s:*]}" (%s)`, err, example, module, p.installed())
		}
		return "", err
	}
	found := p.installed()
	if near := suggest.Name(name, p.names()); near != "" {
		found = fmt.Sprintf("did you mean %s?", near)
	}
	return "", fmt.Errorf("%s maps the type to provisioner %s, but no executable %s%[2]s is on $PATH or next to lumi; %[4]s",
		p.Workspace.File, name, lumirpc.ProvisionerPrefix, found)
}

func (p *provisioners) installed() string {
	return "installed: " + cmp.Or(strings.Join(p.names(), ", "), "none")
}

// all returns all provisioners by name.
func (p *provisioners) all() map[string]plan.Provisioner {
	all := map[string]plan.Provisioner{}
	for name := range p.paths {
		if p.Simulates {
			all[name] = &provision.SimulatedProvisioner{Desired: func() []*lumigl.Snapshot { return p.Evaluated }}
			continue
		}
		all[name] = &provision.External{Name: name, Command: p.command}
	}
	return all
}

func (p *provisioners) command(name string) (plugin.Command, error) {
	called := "provisioner " + name
	events := func(e lumi.Event) {
		e.Message = called + ": " + e.Message // the message is not about a single resource
		p.Event(e)
	}
	of := p.Workspace.Provisioners[name]
	return plugin.Command{
		Path: p.paths[name], Args: of.Command[min(1, len(of.Command)):], JSON: of.Protocol == "json",
		Env: secret.Environ(), Dir: p.Folder(), Events: events,
		Log: &workspace.ProviderLog{Session: p.Session, Name: called, Level: slog.LevelInfo}, // the tools run by provisioners mostly write noise
	}, nil
}
