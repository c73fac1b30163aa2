// Package commands gives tests the commands of the checkout.
package commands

import (
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// Build builds commands of the checkout, such as "cmd/lumi", and copies them to a folder.
func Build(t *testing.T, checkout, dir string, pkgs ...string) {
	t.Helper()
	for _, pkg := range pkgs {
		// If this process wrote the copies, one that it starts meanwhile could keep them open: they would be busy.
		node.Run(t, dir, "cp", providertest.Build(t, filepath.Join(checkout, pkg)), ".")
	}
}
