package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/lumi-idl/lumi/test/kit/must"
)

var update = flag.Bool("update", false, "write the golden files in the scripts instead of comparing with them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"cidlc": main})
}

// TestScripts runs the scripts in testdata/script. Each runs in a module named example.com/work that can import the
// marker package of this checkout; its go.mod is added unless the script has one. With -update, the test rewrites the
// expected output in the scripts.
func TestScripts(t *testing.T) {
	repo := must.Get(filepath.Abs("../.."))(t)
	goEnv := toolEnv(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: false,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"publish": publish},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, goEnv...)
			// Do not use the user's cache folder.
			home := filepath.Join(env.WorkDir, ".home")
			env.Vars = append(env.Vars, "HOME="+home, "XDG_CACHE_HOME="+home, "LocalAppData="+home, "LUMI="+repo)
			file := filepath.Join(env.WorkDir, "go.mod")
			if _, err := os.Stat(file); err == nil {
				return nil
			}
			return os.WriteFile(file, []byte(workModule(repo)), 0o644)
		},
	})
}

// publish is the command "publish MODULE VERSION DIR", which adds a module to the proxy in the folder proxy.
func publish(script *testscript.TestScript, _ bool, args []string) {
	version := module.Version{Path: args[0], Version: args[1]}
	dir := script.MkAbs(args[2])
	base := filepath.Join(script.Getenv("WORK"), "proxy", filepath.FromSlash(version.Path), "@v", version.Version)
	script.Check(os.MkdirAll(filepath.Dir(base), 0o755))
	archive, err := os.Create(base + ".zip")
	script.Check(err)
	script.Check(zip.CreateFromDir(archive, version, dir))
	script.Check(archive.Close())
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	script.Check(err)
	script.Check(os.WriteFile(base+".mod", content, 0o644))
	script.Check(os.WriteFile(base+".info", []byte(`{"Version": "`+version.Version+`"}`), 0o644))
}

// workModule returns the go.mod of a module that can import the marker package of this checkout.
func workModule(repo string) string {
	return "module example.com/work\n\ngo 1.26.0\n\nrequire github.com/lumi-idl/lumi v0.0.0\n\n" +
		"replace github.com/lumi-idl/lumi => " + repo + "\n"
}

// toolEnv returns the environment of the go command in a script. It shares the user's Go caches and disables the
// network.
func toolEnv(t *testing.T) []string {
	t.Helper()
	out := must.Get(exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output())(t)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return []string{
		"GOCACHE=" + lines[0], "GOMODCACHE=" + lines[1],
		"GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local",
	}
}
