// Package interop tests that provider.proto and docs/protocol.md are enough to write either side of the protocol in
// another language: folder node has a client and a provider that know nothing else. It holds tests only.
package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/lumi-idl/lumi/internal/interop/depot" // so that go test runs this again when the plugin has changed
	"github.com/lumi-idl/lumi/internal/testkit/node"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/providertest"
	_ "github.com/lumi-idl/lumi/runtime/serve" // for the same reason
)

// TestClient drives a plugin from Node. The script compares every answer; here it matters that it makes every call.
func TestClient(t *testing.T) {
	plugin := providertest.Build(t, "./lumi-resource-depot")
	out := node.Run(t, scripts(t), "node", "client.mjs", plugin)
	var made, want []string
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("the client wrote %q: %v", out, err)
	}
	service := lumirpc.File_lumirpc_provider_proto.Services().ByName("ResourceProvider").Methods()
	for i := range service.Len() {
		want = append(want, string(service.Get(i).Name()))
	}
	slices.Sort(made)
	slices.Sort(want)
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("the client does not make every call (-want +got):\n%s", diff)
	}
}

// scripts returns the folder of the scripts. It looks at each, so that go test runs this again when one has changed.
func scripts(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@grpc")); err != nil {
		t.Fatalf("gRPC for Node is missing: run 'npm ci' in %s", dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../runtime/lumirpc/provider.proto") {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
