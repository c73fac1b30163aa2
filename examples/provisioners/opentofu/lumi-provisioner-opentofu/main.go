// Lumi-provisioner-opentofu manages resources with OpenTofu. It generates a configuration of a module's resources, runs
// tofu, and returns their attributes in OpenTofu's state. See README.md in the parent folder.
//
// Apart from OpenTofu's state, it stores nothing: Lumi keeps the address of a resource in its metadata.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/wire"
)

func main() {
	serve.MainProvisioner("opentofu", "1.0.0", opentofu{})
}

// opentofu is the provisioner of a workspace: its folder, or "" for the current one.
type opentofu struct{ workspace string }

// The generated files in the folder of a module.
const (
	configurationFile = "main.tf.json"
	variablesFile     = "terraform.tfvars.json"
	outputFile        = "apply.log"
)

// OpenTofu's own files.
const (
	stateFile     = "terraform.tfstate"
	lockFile      = ".terraform.lock.hcl"
	providersPath = ".terraform/providers"
)

// Plan implements [provisioner.Provisioner]. It works on a copy of the state in a temporary folder.
func (o opentofu) Plan(ctx context.Context, c *provisioner.Change) (*provisioner.Plan, error) {
	s, err := o.settings()
	if err != nil {
		return nil, err
	}
	w, err := newWriter(s, c)
	if err != nil {
		return nil, err
	}
	w.planning = true
	real, err := filepath.Abs(o.folder(c.Environment, c.Module))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lumi-opentofu-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // The system removes what remains.
	for _, name := range []string{stateFile, lockFile} {
		if err := copyFile(filepath.Join(real, name), filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if providers := filepath.Join(real, filepath.FromSlash(providersPath)); exists(providers) {
		link := filepath.Join(dir, filepath.FromSlash(providersPath))
		if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(providers, link)); err != nil {
			return nil, err
		}
	}
	t := &tofu{command: s.Command, dir: dir, explain: w.explain}
	if err := w.write(dir); err != nil {
		return nil, err
	}
	if err := t.json(ctx, "init", "-json", "-input=false"); err != nil {
		return nil, err
	}
	if err := t.json(ctx, "plan", "-json", "-input=false", "-lock=false", "-out=plan"); err != nil {
		return nil, err
	}
	text, err := t.output(ctx, "show", "-no-color", "plan")
	if err != nil {
		return nil, err
	}
	return &provisioner.Plan{Text: withoutLegend(string(text))}, nil
}

// withoutLegend returns a plan without the legend of its symbols. Changes outside of OpenTofu come before the legend.
func withoutLegend(text string) string {
	before, rest, found := strings.Cut(text, "OpenTofu used the selected providers")
	if _, actions, ok := strings.Cut(rest, "will perform the following actions:\n"); found && ok {
		text = before + strings.TrimLeft(actions, "\n")
	}
	return strings.Trim(text, "\n") + "\n"
}

// Provision implements [provisioner.Provisioner]. It returns when tofu is done. Equal changes have equal tokens. A change
// with resources always has one: a repeated call finds nothing to change, but the engine still needs the metadata.
func (o opentofu) Provision(ctx context.Context, c *provisioner.Change) (string, error) {
	if c.Task != "" {
		return "", fmt.Errorf("unknown task %q: this provisioner has no tasks", c.Task)
	}
	s, err := o.settings()
	if err != nil {
		return "", err
	}
	folder := o.folder(c.Environment, c.Module)
	if len(c.New) == 0 && s.Backend == nil && !exists(folder) {
		return "", nil // everything was already destroyed
	}
	w, err := newWriter(s, c)
	if err != nil {
		return "", err
	}
	token, err := token{c.Environment, c.Module, w.addresses}.encode()
	if err != nil {
		return "", err
	}
	output, err := lock(ctx, folder)
	if err != nil {
		return "", err
	}
	defer output.Close()
	if err := w.write(folder); err != nil {
		return "", err
	}
	t := &tofu{command: s.Command, dir: folder, explain: w.explain}
	if err := t.json(ctx, "init", "-json", "-input=false"); err != nil {
		return "", err
	}
	if err := t.apply(ctx, output); err != nil {
		return "", err
	}
	if len(c.New) == 0 {
		return token, os.RemoveAll(folder)
	}
	return token, nil
}

// Status implements [provisioner.Provisioner]. A change with a token is done. The metadata is current even if later
// changes followed.
func (o opentofu) Status(ctx context.Context, text string) (*provisioner.Status, error) {
	t, err := decodeToken(text)
	if err != nil {
		return nil, fmt.Errorf("the token was not issued by this provisioner: %w", lumi.ErrNotFound)
	}
	done := &provisioner.Status{State: provisioner.Done}
	if len(t.Addresses) == 0 {
		return done, nil
	}
	s, err := o.settings()
	if err != nil {
		return nil, err
	}
	folder := o.folder(t.Environment, t.Module)
	if !exists(folder) {
		return nil, fmt.Errorf("folder %s not found: the change was made in another copy of the workspace or has since been destroyed: %w",
			folder, lumi.ErrNotFound)
	}
	state, err := (&tofu{command: s.Command, dir: folder}).output(ctx, "show", "-json")
	if err != nil {
		return nil, err
	}
	secrets, err := os.ReadFile(filepath.Join(folder, variablesFile))
	if err != nil {
		return nil, err
	}
	variables, known := object{}, wire.NewSecrets(nil)
	if err := json.Unmarshal(secrets, &variables); err != nil {
		return nil, err
	}
	secretsIn(variables, known)
	if done.Metadata, err = metadata(state, t.Addresses, known); err != nil {
		return nil, err
	}
	if len(done.Metadata) == 0 {
		return nil, fmt.Errorf("the state in %s contains none of the resources: %w", folder, lumi.ErrNotFound)
	}
	return done, nil
}

func (o opentofu) settings() (*settings, error) {
	return readSettings(filepath.Join(o.workspace, settingsFile))
}

// folder returns the folder of a module. Module names may contain slashes, and an environment's name may be "..".
func (o opentofu) folder(environment, module string) string {
	escaped := func(name string) string {
		name = url.PathEscape(name)
		if strings.HasPrefix(name, ".") {
			return "%2E" + name[1:]
		}
		return name
	}
	return filepath.Join(o.workspace, ".lumi", "opentofu", escaped(environment), escaped(module))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// copyFile copies a file if it exists.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
