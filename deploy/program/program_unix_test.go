//go:build unix

package program_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/deploy/program"
	"github.com/lumi-idl/lumi/deploy/workspace"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// thing is the start of each program. It imports modules and defines a resource type.
const thing = `import * as lumi from "@lumi/lumi";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

class Thing extends lumi.NamedResource {
    constructor(name, args) {
        super("test:index:Thing", name, args, { value: lumi.optional(lumi.any) });
    }
}
`

// project writes the programs of modules and a Lumi.yaml that lists them. If lumi, the folder of @lumi/lumi, is not
// empty, npm's installation of it is imitated in the parent folder.
func project(t *testing.T, lumi string, programs map[string]string) *workspace.Workspace {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	folder := filepath.Join(root, "site")
	for _, dir := range []string{folder, filepath.Join(root, "node_modules", ".bin"), filepath.Join(root, "node_modules", "@lumi")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	if lumi != "" {
		must.Do(t, os.Symlink(lumi, filepath.Join(root, "node_modules", "@lumi", "lumi")))
		must.Do(t, os.Symlink(filepath.Join(lumi, "node_modules", "tsx"), filepath.Join(root, "node_modules", "tsx")))
		must.Do(t, os.Symlink(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), filepath.Join(root, "node_modules", ".bin", "lumi-program")))
	}
	must.Do(t, os.WriteFile(filepath.Join(root, "package.json"), []byte(`{"type": "module"}`), 0o644))
	text := "environments: {dev: , prod: }\nmodules:\n"
	for file, src := range programs {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(folder, file), []byte(src), 0o644))
		text += fmt.Sprintf("  %s: %s\n", strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), file)
	}
	if len(programs) == 0 {
		text = "environment: dev\n"
	}
	must.Do(t, os.WriteFile(filepath.Join(folder, "Lumi.yaml"), []byte(text), 0o644))
	w, err := workspace.Find(folder)
	must.Do(t, err)
	return w
}

// values maps the name of each resource to its string property "value".
func values(t *testing.T, s *lumigl.Snapshot) map[string]string {
	t.Helper()
	found := map[string]string{}
	for v := range s.Vertices() {
		p, err := v.URN().Parts()
		must.Do(t, err)
		value, kind := v.Properties.Get("value"), ""
		if secret, ok := value.Secret(); ok {
			value, kind = secret, "secret "
		}
		text, _ := value.Text()
		found[p.Environment+" "+p.Package+" "+p.Name] = kind + text
	}
	return found
}

func TestEvaluate(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js not installed")
	}
	checkout, err := filepath.Abs("../..")
	must.Do(t, err)
	lumi := node.Package(t, checkout)
	must.Do(t, os.Chmod(filepath.Join(lumi, "dist", "bin", "lumi-program.js"), 0o755)) // as npm does
	t.Setenv("LUMI_PASSPHRASE", "hunter2")
	t.Setenv("LUMI_AGE_IDENTITY", "AGE-SECRET-KEY-1")
	t.Setenv("GREETING", "hello")

	for _, test := range []struct {
		name, file, src string
		environment     string // default dev
		arguments       []string
		config          []workspace.Setting
		maxSize         int64
		want            map[string]string
		code            int    // of the ExitError
		err             string // in which ROOT is the folder with node_modules
		stderr          string
	}{
		{
			name: "typescript", file: "net/web.ts",
			src:  "console.log('hi' as string);\nnew Thing('a', { value: 'x' });\nnew Thing('b', { value: lumi.secret('s') });",
			want: map[string]string{"dev web a": "x", "dev web b": "secret s"}, stderr: "hi\n",
		},
		{
			name: "environment", file: "web.js", src: "new Thing('a');", environment: "prod",
			want: map[string]string{"prod web a": ""},
		},
		{
			name: "arguments", file: "web.js", src: "new Thing('a', { value: JSON.stringify(process.argv.slice(2)) });",
			arguments: []string{"--verbose", "--", "two words", "$HOME"},
			want:      map[string]string{"dev web a": `["--verbose","--","two words","$HOME"]`},
		},
		{
			name: "variables", file: "web.js",
			src: "const { GREETING, LUMI_PASSPHRASE, LUMI_AGE_IDENTITY } = process.env;\n" +
				"new Thing('a', { value: [GREETING, LUMI_PASSPHRASE, LUMI_AGE_IDENTITY, process.cwd().split('/').at(-1)].join() });",
			want: map[string]string{"dev web a": "hello,,,site"},
		},
		{
			name: "standard input", file: "web.js", src: "new Thing('a', { value: `<${readFileSync(0, 'utf8')}>` });",
			want: map[string]string{"dev web a": "<>"},
		},
		{
			name: "configuration", file: "web.js", src: "new Thing('a', { value: lumi.config({ word: lumi.string }).word });",
			config: []workspace.Setting{{Key: "word", Value: []byte(`"hi"`)}, {Key: "others", Value: []byte(`1`)}},
			want:   map[string]string{"dev web a": "hi"},
		},
		{
			name: "wrong configuration", file: "web.js", src: "lumi.config({ word: lumi.string });", code: 1,
			config: []workspace.Setting{{Key: "word", Value: []byte(`7`), File: "/no/Lumi.yaml", Line: 3, Column: 4}},
			err:    `module "web": the program has errors`,
			stderr: "/no/Lumi.yaml:3:4: error: word: expected a string, found a number 7\n" +
				"  web.js:10:6: note: the program declares its configuration here\n",
		},
		{
			name: "command", file: "web.js", src: "", err: "Lumi.yaml:3:4: config.word: the output of the command is not available",
			config: []workspace.Setting{{Key: "word", Exec: "pass", File: "Lumi.yaml", Line: 3, Column: 4, From: "config"}},
		},
		{name: "empty", file: "web.js", src: "", want: map[string]string{}},
		{
			name: "throws", file: "web.js", src: "throw new Error('no zone');", code: 1,
			err:    `module "web": the program has errors`,
			stderr: "web.js:10:7: error: no zone\n",
		},
		{
			name: "other environment", file: "web.js", src: "", environment: "prdo", code: 2,
			err:    `module "web": ROOT/node_modules/.bin/lumi-program exited with code 2`,
			stderr: "lumi-program: ROOT/site/Lumi.yaml has no environment prdo; did you mean \"prod\"?\n",
		},
		{
			name: "too large", file: "web.js", src: "new Thing('a', { value: 'x'.repeat(200_000) });", maxSize: 1000,
			err: `module "web": ROOT/node_modules/.bin/lumi-program printed an invalid graph for web.js: 1:1: the file is larger than 1000 bytes`,
		},
		{
			name: "killed", file: "web.js", src: "process.kill(process.ppid, 'SIGKILL'); process.kill(process.pid, 'SIGKILL');",
			err: `module "web": ROOT/node_modules/.bin/lumi-program: signal: killed`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := project(t, lumi, map[string]string{test.file: thing + test.src})
			root := filepath.Dir(filepath.Dir(w.File))
			must.Do(t, os.Remove(w.File)) // Its content is sent to lumi-program.
			var stderr bytes.Buffer
			o := program.Options{Workspace: w, Environment: test.environment, Arguments: test.arguments, Config: test.config, Stderr: &stderr, MaxSize: test.maxSize}
			if o.Environment == "" {
				o.Environment = "dev"
			}
			s, err := program.Evaluate(t.Context(), "web", o)
			if got := strings.ReplaceAll(stderr.String(), root, "ROOT"); got != test.stderr {
				t.Errorf("standard error = %q, want %q", got, test.stderr)
			}
			if test.err != "" {
				wantError(t, err, root, test.err)
				var exit *program.ExitError
				if errors.As(err, &exit) != (test.code > 0) || exit != nil && (exit.Code != test.code || exit.Module != "web") {
					t.Errorf("Evaluate error = %#v, want exit code %d", err, test.code)
				}
				return
			}
			must.Do(t, err)
			if got := values(t, s); !maps.Equal(got, test.want) {
				t.Errorf("values of the resources = %v, want %v", got, test.want)
			}
		})
	}

	// A program may exit, be interrupted, or be killed while it has child processes.
	for name, test := range map[string]struct{ inherits, src, stderr string }{
		"leaves a process":           {},
		"leaves one with its output": {inherits: "inherit"},
		"hangs":                      {"", "setInterval(() => {}, 1000);", "lumi-program: stopped by SIGINT before the program exited\n"},
		"refuses to end":             {"inherit", "process.on('SIGINT', () => {}); setInterval(() => {}, 1000);", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := project(t, lumi, map[string]string{"web.js": thing + `
				const script = "process.on('SIGINT', () => {}); require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)";
				spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "` + cmp.Or(test.inherits, "ignore") + `"] }).unref();
				for (let pid = ""; pid === ""; ) {
					try { pid = readFileSync("pid", "utf8"); } catch {}
				}
			` + test.src + `writeFileSync("ready", "");`})
			folder := filepath.Dir(w.File)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.src != "" {
				go func() {
					for !exists(filepath.Join(folder, "ready")) && ctx.Err() == nil {
						time.Sleep(10 * time.Millisecond)
					}
					cancel()
				}()
			}
			var stderr bytes.Buffer
			_, err := program.Evaluate(ctx, "web", program.Options{Workspace: w, Environment: "dev", Stderr: &stderr})
			if stderr.String() != test.stderr {
				t.Errorf("standard error = %q, want %q", &stderr, test.stderr)
			}
			if test.src == "" {
				must.Do(t, err)
			} else {
				wantError(t, err, folder, `module "web": interrupted before the program finished: context canceled`)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v does not wrap context.Canceled", err)
				}
			}
			text, err := os.ReadFile(filepath.Join(folder, "pid"))
			must.Do(t, err)
			pid, err := strconv.Atoi(string(text))
			must.Do(t, err)
			for range 100 {
				if !runs(pid) {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("process %d, started by the program, is still running", pid)
		})
	}
}

// runs reports whether a process is running. A zombie does not count.
func runs(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func wantError(t *testing.T, err error, root, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("error = nil, want %s", want)
	}
	if got := strings.ReplaceAll(err.Error(), root, "ROOT"); got != want {
		t.Errorf("error =\n\t%s\nwant\n\t%s", got, want)
	}
}

func TestEvaluateCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	w := project(t, "", map[string]string{"net/web.js": ""})
	root := filepath.Dir(filepath.Dir(w.File))
	o := program.Options{Workspace: w, Environment: "dev"}
	path := filepath.Join(root, "node_modules", ".bin", "lumi-program")
	for _, test := range []struct{ script, want string }{
		{"", `lumi-program is not installed: run "npm install @lumi/lumi" in ROOT/site`},
		{"#!/bin/sh\necho '{\"resources\": '; echo web", `module "web": ROOT/node_modules/.bin/lumi-program printed an invalid graph for net/web.js: 2:1: `},
		{"#!/bin/sh\necho '{\"vertices\": {}}'", `module "web": ROOT/node_modules/.bin/lumi-program printed an invalid graph for net/web.js: 1:1: `},
		{"#!/usr/bin/env no-such-node", `module "web": ROOT/node_modules/.bin/lumi-program exited with code 127`},
		{"#!/no/such/node", `module "web": fork/exec ROOT/node_modules/.bin/lumi-program: no such file or directory`},
	} {
		if test.script != "" {
			must.Do(t, os.WriteFile(path, []byte(test.script), 0o755))
		}
		_, err := program.Evaluate(t.Context(), "web", o)
		if strings.HasSuffix(test.want, ": ") && err != nil { // followed by a message of package lumigl
			if got := strings.ReplaceAll(err.Error(), root, "ROOT"); !strings.HasPrefix(got, test.want) {
				t.Errorf("Evaluate error =\n\t%s\nwant prefix\n\t%s", got, test.want)
			}
			var invalid *lumigl.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("Evaluate error %v does not wrap a *lumigl.InvalidError", err)
			}
			continue
		}
		wantError(t, err, root, test.want)
	}

	// If node_modules contains no lumi-program, the one in $PATH is used. Folders and non-executable files of that name
	// are ignored.
	must.Do(t, os.Remove(path))
	must.Do(t, os.Mkdir(path, 0o755))
	must.Do(t, os.MkdirAll(filepath.Join(root, "site", "node_modules", ".bin"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(root, "site", "node_modules", ".bin", "lumi-program"), nil, 0o644))
	must.Do(t, os.WriteFile(filepath.Join(os.Getenv("PATH"), "lumi-program"),
		[]byte("#!/bin/sh\nread -r line; echo \"$line\" >input; echo \"{\\\"package\\\": \\\"$*\\\", \\\"resources\\\": {}}\""), 0o755))
	o.Arguments = []string{"x"}
	s, err := program.Evaluate(t.Context(), "web", o)
	must.Do(t, err)
	if s.Package != "web --environment=dev --workspace-stdin -- x" {
		t.Errorf("arguments of lumi-program = %q, want the module, the environment, --workspace-stdin, and x", s.Package)
	}
	input, err := os.ReadFile(filepath.Join(root, "site", "input"))
	must.Do(t, err)
	if want := `{"modules":{"web":"net/web.js"},"environments":["dev","prod"]}`; strings.TrimSpace(string(input)) != want {
		t.Errorf("standard input of lumi-program = %s, want %s", input, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = program.Evaluate(ctx, "web", o)
	wantError(t, err, root, `module "web": context canceled`)
}

func TestEvaluateModules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		programs []string
		module   string
		want     string
	}{
		{nil, "web", "ROOT/site/Lumi.yaml has no program: add modules: {NAME: FILE}"},
		{[]string{"web.js"}, "api", `module "api" is not in Lumi.yaml; its only module is web`},
		{[]string{"network.js", "web.js"}, "netwrk", `module "netwrk" is not in Lumi.yaml; did you mean "network"?`},
		{[]string{"network.js", "web.js"}, "api", `module "api" is not in Lumi.yaml; its modules are network, web`},
		{[]string{"network.js", "web.js"}, "", `module "" is not in Lumi.yaml; its modules are network, web`},
	} {
		programs := map[string]string{}
		for _, name := range test.programs {
			programs[name] = ""
		}
		w := project(t, "", programs)
		_, err := program.Evaluate(t.Context(), test.module, program.Options{Workspace: w, Environment: "dev"})
		wantError(t, err, filepath.Dir(filepath.Dir(w.File)), test.want)
	}
}
