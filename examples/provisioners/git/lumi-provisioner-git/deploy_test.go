package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/plan"
	"github.com/lumi-idl/lumi/deploy/provision"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/test/kit/commands"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// hook adds a shell script as a hook to a repository.
func (w *world) hook(repository, name, script string) {
	w.Helper()
	must.Do(w, os.WriteFile(filepath.Join(repository, "hooks", name), []byte("#!/bin/sh\n"+script), 0o700))
}

// The settings contain a status command, since a pipeline started by the repository would be killed along with a push.
func TestConformance(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct+"status:\n  command: [sh, applied.sh]\n")
	script := `printf '{"state": "applied", "outputs": {%s}}' "$(git --git-dir='` + w.remote + `' ls-tree --name-only "$1" lumi/test/app/ |
sed 's|.*/||; s|.*|"&": {"arn": "&"}|' | paste -sd, -)"`
	must.Do(t, os.WriteFile(filepath.Join(w.workspace, "applied.sh"), []byte(script), 0o600))
	self := must.Get(os.Executable())(t)
	path := filepath.Join(t.TempDir(), "lumi-provisioner-git")
	must.Do(t, os.Symlink(self, path))
	one := func(name string, size float64) *provisioner.Resource {
		return providertest.ProvisionerResource("aws:rds:Database", name, provisioner.Properties{"size": size})
	}
	key := regexp.MustCompile(`(?m)^.*"key": .*$`)
	providertest.RunProvisioner(t, providertest.Provisioner{
		Command: plugin.Command{Path: path, Dir: w.workspace, Env: w.env, Log: io.Discard},
		Changes: []provisioner.Change{{New: []*provisioner.Resource{one("main", 1), one("log", 1)}}, {New: []*provisioner.Resource{one("main", 2)}}},
		Observe: func() (string, error) {
			var text strings.Builder
			for _, name := range lines(w.git(w.remote, "ls-tree", "-r", "--name-only", "main")) {
				fmt.Fprintln(&text, name, key.ReplaceAllString(w.git(w.remote, "show", "main:"+name), ""))
			}
			return text.String(), nil
		},
	})
}

func TestExternal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, direct)
	self := must.Get(os.Executable())(t)
	external := &provision.External{Name: "git", Command: func(string) (plugin.Command, error) {
		return plugin.Command{Path: self, Dir: w.workspace, Env: w.env, Log: io.Discard}, nil
	}}
	r := resource("main", 1, nil)
	var size lumigl.ObjectBuilder
	size.Set("size", lumigl.IntOf(3))
	in := plan.Input{Environment: "dev", Module: "site", New: []plan.Vertex{{Resource: &graph.Resource{
		URN: r.URN, Deployment: 1, Inputs: size.Object(), Provisioner: "git",
	}}}}
	if details, err := external.Plan(t.Context(), in); err != nil || !strings.Contains(details.Text, "\n+    \"size\": 3\n") {
		t.Errorf("Plan = %v, %v, want a diff with the new size", details, err)
	}
	token := must.Get(external.Provision(t.Context(), in))(t)
	w.report(document{Commit: w.pull(), State: applied, Outputs: map[string]provisioner.Properties{fileName(r): {"arn": "a1"}}})
	status, err := external.Status(t.Context(), token)
	if err != nil || status.State != plan.Done {
		t.Fatalf("Status = %v, %v, want state %v", status, err, plan.Done)
	}
	if arn, _ := status.Metadata[r.Key].Get("arn").Text(); arn != "a1" || len(status.Metadata) != 1 {
		t.Errorf("metadata = %v, want only arn a1 of %s", status.Metadata, r.Key)
	}
}

// The commands at the end of README.md deploy with a provider and this provisioner in one plan. Another goroutine merges
// the change and acts as the pipeline.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme := must.Get(os.ReadFile("../README.md"))(t)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 4 {
		t.Fatalf("README.md has %d shell blocks, want 4", len(blocks))
	}
	checkout := must.Get(filepath.Abs("../../../.."))(t)
	bin := t.TempDir()
	commands.Build(t, checkout, bin, "cmd/lumi", "examples/local/provider/lumi-resource-local", "examples/provisioners/git/lumi-provisioner-git")
	programs, _ := node.Workspace(t, checkout, "local")
	w := newWorld(t, direct)
	w.env = append(w.env, "LUMI="+checkout, "LUMI_PASSPHRASE=demo", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	shell := func(script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
		cmd.Dir, cmd.Env, cmd.WaitDelay = programs, w.env, time.Second
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	if out, err := shell(blocks[1][1]); err != nil {
		t.Fatalf("running the setup in README.md: %v\n%s", err, out)
	}
	pushed := filepath.Join(t.TempDir(), "pushed")
	must.Do(t, exec.Command("mkfifo", pushed).Run())
	w.hook(filepath.Join(programs, "../infra.git"), "post-receive", "while read -r _ _ ref; do case $ref in refs/heads/lumi/*) : >"+pushed+";; esac; done")
	reviewed := make(chan error, 1)
	go func() {
		if _, err := os.ReadFile(pushed); err != nil {
			reviewed <- err
			return
		}
		out, err := shell(blocks[3][1])
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		reviewed <- err
	}()
	out, err := shell(strings.Replace(blocks[2][1], "lumi deploy", "lumi deploy --yes", 1))
	if err != nil {
		t.Fatalf("running the deployment in README.md: %v\n%s", err, out)
	}
	if err := <-reviewed; err != nil {
		t.Error(err)
	}
	for _, want := range []string{"Push to lumi/dev/local-example, to be merged into main:", "diff --git a/lumi/dev/local-example/RandomID-id-", `"bytes": 4`} {
		if !strings.Contains(out, want) {
			t.Errorf("output does not contain %q:\n%s", want, out)
		}
	}
	if id, err := os.ReadFile(filepath.Join(programs, "site", "id.txt")); err != nil || !regexp.MustCompile(`^[0-9a-f]{8}$`).Match(id) {
		t.Errorf("content of id.txt = %q, %v, want 8 hexadecimal digits", id, err)
	}
}
