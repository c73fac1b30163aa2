// Package commands builds the checkout's commands for tests.
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
		// Copy in another process: if this one wrote the files, its concurrently started children could keep them open, and
		// running them would fail with ETXTBSY.
		node.Run(t, dir, "cp", providertest.Build(t, filepath.Join(checkout, pkg)), ".")
	}
}
