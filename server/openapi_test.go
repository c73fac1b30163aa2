package server_test

import (
	"flag"
	"os"
	"testing"

	"github.com/lumi-idl/lumi/server"
	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

// The published document, from which the client is generated, is up to date.
func TestOpenAPI(t *testing.T) {
	const file = "../docs/openapi.json"
	now := server.OpenAPI()
	if *update {
		must.Do(t, os.WriteFile(file, now, 0o644))
	}
	if string(must.Get(os.ReadFile(file))(t)) != string(now) {
		t.Errorf("%s is out of date; run 'make golden generate'", file)
	}
}
