// Package commands builds this repository's commands for tests.
package commands

import (
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// Build builds the commands in the given packages of checkout, such as "cmd/lumi", and copies the binaries to dir.
func Build(t *testing.T, checkout, dir string, pkgs ...string) {
	t.Helper()
	for _, pkg := range pkgs {
		// Copy in a separate process. Otherwise, children started concurrently by this process could inherit the open file,
		// and running it would fail with ETXTBSY.
		node.Run(t, dir, "cp", providertest.Build(t, filepath.Join(checkout, pkg)), ".")
	}
}
