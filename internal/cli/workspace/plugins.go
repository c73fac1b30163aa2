package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// PluginPrefix is the prefix of the names of plugin executables.
const PluginPrefix = "lumi-resource-"

// FindPlugin returns the path of the plugin with the given name or path. It returns an error if the plugin is missing
// or not executable.
func FindPlugin(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is not on $PATH; give a path such as %s", name, "."+string(filepath.Separator)+name)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: no such file", name)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%s is not an executable file", name)
	}
	return "", fmt.Errorf("%s: %w", name, errors.Unwrap(err))
}

// Installed returns the paths of the executables in folders whose names start with prefix, by name. If a name occurs
// more than once, the first folder wins. Relative folders are ignored, as in [exec.LookPath].
func Installed(prefix string, folders []string) map[string]string {
	all := map[string]string{}
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			continue
		}
		entries, _ := os.ReadDir(folder) // folders on $PATH need not exist
		for _, entry := range entries {
			name := strings.TrimSuffix(entry.Name(), ".exe")
			if !strings.HasPrefix(name, prefix) || all[name] != "" {
				continue
			}
			if path, err := exec.LookPath(filepath.Join(folder, entry.Name())); err == nil {
				all[name] = path
			}
		}
	}
	return all
}

// ProgramFolder returns the folder of a module's program or object model. It is the working directory of the module's
// providers and the base of relative paths.
func (s *Session) ProgramFolder(module string) string {
	return s.Path(filepath.Dir(filepath.FromSlash(cmp.Or(s.Workspace.Modules[module], s.Workspace.Models[module].File))))
}

// Plugin returns the command that starts the plugin for a package. The plugin is configured in Lumi.yaml, in the folder
// of lumi, or on $PATH.
func (s *Session) Plugin(pkg string) (plugin.Command, error) {
	log := &ProviderLog{Session: s, Name: fmt.Sprintf("plugin for package %q", pkg), Level: slog.LevelWarn}
	c := plugin.Command{Env: secret.Environ(), Log: log}
	if path := s.Workspace.Plugins[pkg]; path != "" {
		c.Path = s.Path(path)
		_, err := FindPlugin(c.Path)
		if err != nil {
			err = fmt.Errorf("%s: plugins.%s: %w", s.Workspace.File, pkg, err)
		}
		return c, err
	}
	name := PluginPrefix + strings.ReplaceAll(pkg, "/", "_")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if c.Path = filepath.Join(OwnFolder(), name); c.Path != name {
		if _, err := FindPlugin(c.Path); err == nil {
			return c, nil
		}
	}
	var err error
	if c.Path, err = exec.LookPath(name); err != nil {
		return c, fmt.Errorf(`no plugin for package %q: install %s on $PATH or next to lumi, or add "plugins: {%[1]s: FILE}" to %[3]s`,
			pkg, name, s.Workspace.File)
	}
	return c, nil
}

// OwnFolder returns the folder of this executable, or "" if it is unknown.
func OwnFolder() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Dir(self)
}
