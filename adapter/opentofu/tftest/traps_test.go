package tftest_test

import (
	"testing"

	"github.com/lumi-idl/lumi/adapter/opentofu/tftest"
	traps "github.com/lumi-idl/lumi/adapter/opentofu/tftest/internal/traps/provider"
	"github.com/lumi-idl/lumi/adapter/opentofu/tftest/internal/traps/provider/lumischema"
)

// Properties of each kind work by OpenTofu's rules, and nothing is left.
func TestTraps(t *testing.T) {
	t.Parallel()
	var memory traps.Memory
	t.Cleanup(func() {
		if left := memory.Left(); left > 0 {
			t.Errorf("%d resources are left", left)
		}
	})
	tftest.Run(t, memory.Plugin(), lumischema.JSON, "testdata/traps.json", tftest.CreateFirst("first", "all"))
}
