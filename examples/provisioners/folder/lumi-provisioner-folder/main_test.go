package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

func TestConformance(t *testing.T) {
	dir := t.TempDir()
	one := func(name, size string) *provisioner.Resource {
		return providertest.ProvisionerResource("demo:index:Disk", name, provisioner.Properties{
			"size": size, "key": provisioner.Secret{Value: "correct horse"},
		})
	}
	providertest.RunProvisioner(t, providertest.Provisioner{
		Command: plugin.Command{Path: providertest.Build(t, "."), Dir: dir, Log: t.Output()},
		Changes: []provisioner.Change{
			{New: []*provisioner.Resource{one("a", "small"), one("b", "small")}},
			{New: []*provisioner.Resource{one("a", "large"), one("c", "small")}},
			{},
		},
		Observe: func() (string, error) { return files(filepath.Join(dir, "resources")) },
	})
}

// files returns the names and contents of all files in a directory tree, as text.
func files(folder string) (string, error) {
	var text strings.Builder
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&text, "%s %s\n", d.Name(), content)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return text.String(), err
}
