package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
	"github.com/lumi-idl/lumi/test/kit/tutorial"
)

// install is a command on the pages that requires network access. The test replaces it with offline.
const (
	install = `npm install --no-audit --no-fund --silent --save-dev tsx`
	offline = `ln -s "$LUMI"/runtime/typescript/node_modules/tsx node_modules/tsx`
)

func TestDeploy(t *testing.T) {
	if testing.Short() {
		t.Skip("deploys")
	}
	t.Parallel()
	checkout, env := deployer(t)
	for _, page := range []string{"deploy.md", "drift.md", "evolving.md", "import.md", "policy.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text := read(t, filepath.Join(checkout, "docs", page))
			steps := must.Get(tutorial.Steps(text, ""))(t)
			for i, step := range steps {
				steps[i].Text = strings.ReplaceAll(step.Text, install, offline)
			}
			r := &tutorial.Reader{Page: "docs/" + page, Dir: t.TempDir(), Env: env, Errors: true}
			r.Do(t, steps...)
		})
	}
}

// deployer returns the root of the repository, and environment variables for commands. DIST is a folder with the output of
// 'make dist', and LUMI_PASSPHRASE is empty.
func deployer(t *testing.T) (checkout string, env []string) {
	t.Helper()
	checkout = must.Get(filepath.Abs("../../.."))(t)
	dist := t.TempDir()
	commands.Build(t, checkout, dist, "cmd/cidlc", "cmd/lumi", "examples/local/provider/lumi-resource-local")
	node.Run(t, node.Package(t, checkout), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination="+dist)
	env = append(os.Environ(), "LUMI="+checkout, "DIST="+dist, "PATH="+dist+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"GOPROXY=off", "GOSUMDB=off", "GOFLAGS=", "GOWORK=off", "npm_config_offline=true", "npm_config_update_notifier=false", "npm_config_loglevel=error", "LUMI_PASSPHRASE=", "NO_COLOR=1")
	return checkout, env
}

// failures maps the cases in the table of docs/deploy.md to commands that reproduce them. The commands start in a folder
// with an empty program.
var failures = map[string]string{
	"the program is wrong": `add 'nonsense();'; lumi plan`,
	"`Check` of a provider refuses properties": `
		add 'new local.RandomString("pin", { length: 8, characters: "" });'; lumi plan`,
	"the plan is refused, as for a protected resource": `
		add 'new local.File({ path: "a", content: "" }, { protect: true });'; lumi deploy --yes; lumi destroy --yes`,
	"the plugin is missing": `
		add 'new local.File({ path: "a", content: "" });'
		cp "$DIST/lumi" .; PATH=$(dirname "$(command -v node)"):/usr/bin:/bin ./lumi plan`,
	"the plugin does not start":   `plugin 'exec sleep 60'; ./lumi plan`, // takes 30 seconds
	"a plugin writes without end": `plugin "yes | head -2000 >&2; exec '$DIST/lumi-resource-local'"; ./lumi plan`,
	"the key is missing":          `add 'new local.RandomString("pin", { length: 4 });'; lumi deploy --yes; LUMI_PASSPHRASE=a lumi deploy --yes; lumi destroy --yes`,
	"the key is wrong": `
		add 'new local.RandomString("pin", { length: 4 });'
		LUMI_PASSPHRASE=a lumi deploy --yes; LUMI_PASSPHRASE=b lumi deploy --yes`,
	"the plan is not the expected one": `lumi deploy --expect=0`,
	"`Create` fails":                   `add 'new local.Command("c", { create: "exit 1" });'; lumi deploy --yes`,
	"the outcome of `Create` is unknown": `
		add 'new local.Command("c", { create: "kill -9 $$" });'; lumi deploy --yes`,
	"a plugin dies": `add 'new local.Command("c", { create: "kill -9 $PPID" });'; lumi deploy --yes`,
	"the executor is killed": `
		add 'new local.Command("c", { create: "touch started; sleep 1" });'
		lumi deploy --yes & until test -e started; do sleep 0.1; done; kill -9 $!; wait; lumi status`,
	"another process deploys the module": `
		add 'new local.Command("c", { create: "touch started; until test -e planned; do sleep 0.1; done" });'
		lumi deploy --yes & until test -e started; do sleep 0.1; done; lumi plan; touch planned; wait`,
	"a deployment waits for a failed one": `
		mkdir site network
		cat main.ts - >network/main.ts <<<'lumi.provide("v", new local.Command("c", { create: "exit 1" }).stdout, lumi.string);'
		cat main.ts - >site/main.ts <<<'new local.File({ path: "v", content: lumi.module("network").use("v", lumi.string) });'
		sed -i.old 's/pack/..\/pack/' */main.ts
		echo '{modules: {network: network/main.ts, site: site/main.ts}, environment: dev}' >Lumi.yaml
		lumi deploy --yes`,
	"a deletion fails after the new version is in place": `
		cp main.ts empty.ts; add 'new local.Command("c", { create: "true", delete: "exit 1" });'; lumi deploy --yes
		mv empty.ts main.ts; lumi deploy --yes`,
}

// The commands in failures print the messages quoted in docs/deploy.md.
func TestDeployFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("deploys")
	}
	t.Parallel()
	checkout, env := deployer(t)
	_, table, _ := strings.Cut(read(t, filepath.Join(checkout, "docs", "deploy.md")), "## Errors\n")
	programs, _ := node.Workspace(t, checkout, "local")
	found := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \|`).FindAllStringSubmatch(table, -1) {
		commands := failures[row[1]]
		if row[1] == "case" || row[1] == "---" {
			continue
		} else if commands == "" {
			t.Errorf("failures has no commands for case %q", row[1])
		}
		found++
		t.Run(row[1], func(t *testing.T) {
			t.Parallel()
			dir := must.Get(os.MkdirTemp(programs, ""))(t)
			const begin = `add() { echo "$1" >>main.ts; }
				plugin() {
					add 'new local.File({ path: "a", content: "" });'; cp "$DIST/lumi" .
					printf '#!/bin/sh\n%s\n' "$1" >lumi-resource-local; chmod +x lumi-resource-local
				}
				echo '{package: notes, program: main.ts, environment: dev}' >Lumi.yaml
				echo 'import * as lumi from "@lumi/lumi"; import * as local from "../../pack/index.js"; lumi;' >main.ts` + "\n"
			cmd := exec.Command("bash", "-uc", begin+commands)
			cmd.Dir, cmd.Env = dir, env
			out, _ := cmd.CombinedOutput() // most commands fail on purpose
			for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
				if quoted[1] != "lumi status" && !strings.Contains(string(out), quoted[1]) {
					t.Errorf("output does not contain %q:\n%s", quoted[1], out)
				}
			}
		})
	}
	if found != len(failures) {
		t.Errorf("the table in docs/deploy.md has %d cases, want %d", found, len(failures))
	}
}
