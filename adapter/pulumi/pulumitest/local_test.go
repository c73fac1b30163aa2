package pulumitest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/adapter/pulumi/pulumitest"
	local "github.com/lumi-idl/lumi/examples/local/provider"
	"github.com/lumi-idl/lumi/examples/local/provider/lumischema"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The example works by Pulumi's rules.
func TestLocal(t *testing.T) {
	fixture := must.Get(os.ReadFile(must.Get(filepath.Abs("../../../examples/local/fixture.json"))(t)))(t)
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("fixture.json", fixture, 0o600))
	plugin := serve.Plugin{Package: "local", Resources: local.Resources(), Functions: local.Functions()}
	pulumitest.Run(t, plugin, lumischema.JSON, "fixture.json")
}
