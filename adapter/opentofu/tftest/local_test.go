package tftest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/adapter/opentofu/tftest"
	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The example works by OpenTofu's rules.
func TestLocal(t *testing.T) {
	fixture := must.Get(filepath.Abs("../../../examples/local/fixture.json"))(t)
	t.Chdir(t.TempDir())
	must.Do(t, copyFile(fixture, "fixture.json"))
	plugin := serve.Plugin{Package: "local", Resources: local.Resources(), Functions: local.Functions()}
	tftest.Run(t, plugin, lumischema.JSON, "fixture.json", tftest.CreateFirst("page", "pages", "password"))
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
