// Lumi-provisioner-folder is a minimal provisioner that writes resources to JSON files. docs/provisioners.md explains it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve"
)

func main() { serve.MainProvisioner("folder", "1.0.0", folder{"resources"}) }

// folder writes resources to files below root.
type folder struct{ root string }

// Plan implements [provisioner.Provisioner].
func (f folder) Plan(_ context.Context, c *provisioner.Change) (*provisioner.Plan, error) {
	var text strings.Builder
	for _, r := range c.New {
		fmt.Fprintf(&text, "write %s\n", f.file(c, r))
	}
	for _, name := range f.removed(c) {
		fmt.Fprintf(&text, "remove %s\n", name)
	}
	return &provisioner.Plan{Text: text.String()}, nil
}

// Provision implements [provisioner.Provisioner]. The token contains everything that Status needs: the files, by key. The
// files contain secrets, so only the user may read them.
func (f folder) Provision(_ context.Context, c *provisioner.Change) (string, error) {
	files := map[string]string{}
	for _, r := range c.New {
		text, err := json.MarshalIndent(r.Properties, "", "  ")
		if err != nil {
			return "", err
		}
		name := f.file(c, r)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
		files[r.Key] = name
	}
	for _, name := range f.removed(c) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	token, err := json.Marshal(files)
	return string(token), err
}

// Status implements [provisioner.Provisioner].
func (f folder) Status(_ context.Context, token string) (*provisioner.Status, error) {
	var files map[string]string
	if err := json.Unmarshal([]byte(token), &files); err != nil {
		return nil, fmt.Errorf("token %q: %w", token, lumi.ErrNotFound)
	}
	s := &provisioner.Status{State: provisioner.Done, Metadata: map[string]provisioner.Properties{}}
	for key, name := range files {
		s.Metadata[key] = provisioner.Properties{"file": name}
	}
	return s, nil
}

// removed returns the files of resources that are only in Old.
func (f folder) removed(c *provisioner.Change) (names []string) {
	for _, old := range c.Old {
		isSame := func(r *provisioner.Resource) bool { return r.URN == old.URN }
		if !slices.ContainsFunc(c.New, isSame) {
			names = append(names, f.file(c, old))
		}
	}
	return names
}

func (f folder) file(c *provisioner.Change, r *provisioner.Resource) string {
	return filepath.Join(f.root, c.Environment, c.Module, r.Type.Name()+"-"+r.URN.Name()+".json")
}
