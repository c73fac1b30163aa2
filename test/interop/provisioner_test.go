package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// A provisioner written in Node passes the conformance tests.
func TestProvisioner(t *testing.T) {
	path, files := filepath.Join(t.TempDir(), "lumi-provisioner-files"), t.TempDir()
	if err := os.Symlink(filepath.Join(scripts(t), "provisioner.mjs"), path); err != nil {
		t.Fatal(err)
	}
	one := providertest.ProvisionerResource("demo:index:Text", "a", provisioner.Properties{
		"text": provisioner.Secret{Value: "a secret text"},
	})
	providertest.RunProvisioner(t, providertest.Provisioner{
		Command: plugin.Command{Path: path, Dir: files, Log: t.Output()},
		Changes: []provisioner.Change{{New: []*provisioner.Resource{one}}},
		Observe: func() (string, error) {
			all, err := os.ReadDir(files)
			var text strings.Builder
			for _, f := range all {
				content, _ := os.ReadFile(filepath.Join(files, f.Name())) // an unreadable file counts as empty
				text.WriteString(f.Name() + ": " + string(content) + "\n")
			}
			return text.String(), err
		},
	})
}
