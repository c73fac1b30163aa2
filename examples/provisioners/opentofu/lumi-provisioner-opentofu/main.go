// Lumi-provisioner-opentofu manages resources with OpenTofu. It generates a configuration from the resources of a module,
// runs tofu, and returns the attributes in OpenTofu's state. See README.md in the parent folder.
//
// It has no state apart from OpenTofu's. Lumi stores the address of each resource in the resource's metadata.
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

// opentofu implements [provisioner.Provisioner] for a workspace. workspace is the folder, or "" for the working directory.
type opentofu struct{ workspace string }

// Files generated in the folder of a module.
const (
	configurationFile = "main.tf.json"
	variablesFile     = "terraform.tfvars.json"
	outputFile        = "apply.log"
)

// Files and folders created by OpenTofu.
const (
	stateFile     = "terraform.tfstate"
	lockFile      = ".terraform.lock.hcl"
	providersPath = ".terraform/providers"
)

// Plan implements [provisioner.Provisioner]. It runs tofu in a temporary folder, on a copy of the state.
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
	defer os.RemoveAll(dir) //nolint:errcheck // The system cleans up temporary folders.
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

// withoutLegend removes the legend of symbols from the text of a plan. It keeps the text before the legend, which describes
// changes made outside of OpenTofu.
func withoutLegend(text string) string {
	before, rest, found := strings.Cut(text, "OpenTofu used the selected providers")
	if _, actions, ok := strings.Cut(rest, "will perform the following actions:\n"); found && ok {
		text = before + strings.TrimLeft(actions, "\n")
	}
	return strings.Trim(text, "\n") + "\n"
}

// Provision implements [provisioner.Provisioner]. It waits for tofu to finish, and is idempotent. The token depends only on
// the change. It is not empty if the change has new resources, since the engine needs it to get the metadata, even if the
// call changes nothing.
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

// Status implements [provisioner.Provisioner]. The state is always Done, since Provision waits for tofu. The metadata
// reflects OpenTofu's current state, including later changes.
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

// folder returns the folder of a module. It escapes the names, since a module's name may contain slashes, and an
// environment's name may be "..".
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

// copyFile copies a file. It does nothing if the file does not exist.
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
