package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lumi-idl/lumi/internal/cli/workspace"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/test/kit/postgres"
)

var update = flag.Bool("update", false, "write the golden files in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	workspace.WorkFactor = 10
	testscript.Main(m, map[string]func(){"lumi": main})
}

// TestScripts runs the scripts in testdata/script. With -update, it rewrites the expected output in the scripts.
func TestScripts(t *testing.T) {
	plugin, folder := testPlugin(t), providertest.Build(t, "../../examples/provisioners/folder/lumi-provisioner-folder")
	var server *postgres.Server
	if postgres.Find() != "" {
		server = postgres.Start(t)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Condition: func(name string) (bool, error) {
			if name != "postgres" {
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return server != nil, nil
		},
		Setup: func(env *testscript.Env) error {
			schema, err := filepath.Abs("../../examples/local/schema.json")
			if err != nil {
				return err
			}
			env.Setenv("SCHEMA", schema)
			env.Setenv("PLUGIN", plugin)
			if server != nil {
				env.Setenv("POSTGRES", server.URL())
			}
			env.Setenv("PROVISIONERS", filepath.Dir(folder))
			env.Setenv("LUMI_PASSPHRASE", "correct horse")
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state")) // stores the state of tasks on this machine
			path := []string{env.Getenv("PATH"), filepath.Dir(plugin), filepath.Dir(localPlugin(t))}
			env.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
			return nil
		},
	})
}

func testPlugin(t *testing.T) string {
	return providertest.Build(t, "./testdata/lumi-resource-library")
}

func localPlugin(t *testing.T) string {
	return providertest.Build(t, "../../examples/local/provider/lumi-resource-local")
}
