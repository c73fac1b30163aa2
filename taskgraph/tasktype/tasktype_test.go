package tasktype_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/taskgraph"
	"github.com/lumi-idl/lumi/taskgraph/host"
	"github.com/lumi-idl/lumi/taskgraph/inventory"
	"github.com/lumi-idl/lumi/taskgraph/run"
	"github.com/lumi-idl/lumi/taskgraph/tasktype"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/sshd"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, parameters, problems string
	}{
		{"shell", `{"cmd": "true", "cwd": "/", "timeout": 5, "retries": 1, "interval": 1, "strategy": {}}`, ""},
		{"shell", `{}`, "missing parameter cmd"},
		{"shell", `{"cmd": 1, "cwd": "", "comand": 1, "cmmd": 2}`, "parameters.cmd must be a non-empty string\n" +
			"parameters.cwd must be a non-empty string\n" + `unknown parameter "cmmd"; did you mean cmd?` + "\n" +
			`unknown parameter "comand"`},
		{"shell", `{"cmd": "echo \u0000"}`, "parameters.cmd must be a string without NUL characters"},
		{"upload_file", `{"path": "/a", "data": "\u0000", "permissions": "0644"}`, ""},
		{"upload_file", `{"path": "/a", "src": "b", "permissions": "600"}`, ""},
		{"upload_file", `{"path": "/a"}`, "upload_file requires exactly one of data, src, and template"},
		{"upload_file", `{"path": "/a", "data": "", "src": "b"}`, "upload_file requires exactly one of data, src, and template"},
		{"upload_file", `{"path": "/a", "template": "b"}`, ""},
		{"upload_file", `{"path": "/a", "template": "../b"}`, "parameters.template must be a path inside the workspace, such as files/app.conf"},
		{"upload_file", `{"path": {"yaql_exp": "$.a"}, "data": {"yaql_exp": "$.a"}}`, ""},
		{"copy_files", `{"files": [{"src": {"yaql_exp": "$.a"}, "dst": "b"}], "permissions": 5}`,
			`parameters.permissions must be an octal mode in quotes, such as "0644"`},
		{"sync", `{"src": "a", "dst": {"yaql_exp": "$.a"}}`, ""},
		{"shell", `{"yaql_exp": "$.a"}`, ""},
		{"upload_file", `{"path": "/a", "data": 1, "permissions": 644}`,
			"parameters.data must be a string\n" + `parameters.permissions must be an octal mode in quotes, such as "0644"`},
		{"copy_files", `{"files": [{"src": "a", "dst": "/b"}], "dir_permissions": "0755"}`, ""},
		{"copy_files", `{"files": []}`, "parameters.files must be a list of {src, dst}"},
		{"copy_files", `{"files": [{"src": "a"}]}`, "parameters.files must be a list of {src, dst}"},
		{"copy_files", `{"files": [{"src": "a", "dst": "b", "mode": 1}]}`, "parameters.files must be a list of {src, dst}"},
		{"upload_file", `{"path": "/a", "src": "/etc/shadow"}`, "parameters.src must be a path inside the workspace, such as files/app.conf"},
		{"upload_file", `{"path": "/a", "src": "a/../../b"}`, "parameters.src must be a path inside the workspace, such as files/app.conf"},
		{"copy_files", `{"files": [{"src": "..", "dst": "/b"}]}`,
			"parameters.files must be a list of {src, dst}, where src is a path inside the workspace, such as files/app.conf"},
		{"sync", `{"src": "/etc", "dst": "/srv/app"}`, "parameters.src must be a path inside the workspace, such as files/app.conf"},
		{"sync", `{"src": "a", "dst": "/srv/app/"}`, ""},
		{"sync", `{"src": "a", "dst": "~/app"}`, ""},
		{"sync", `{"src": "a", "dst": "~"}`,
			"sync deletes files that are not in src, so dst must be a dedicated directory, such as /srv/app, not ~"},
		{"upload_file", `{"path": "~me/a", "data": ""}`,
			"parameters.path must be a path; ~me is not expanded, so use an absolute path, or ./~me for a file with this name"},
		{"copy_files", `{"files": [{"src": "a", "dst": "~me"}]}`, "parameters.files must be a list of {src, dst}, where dst is " +
			"a path; ~me is not expanded, so use an absolute path, or ./~me for a file with this name"},
		{"sync", `{"src": "a", "dst": "/srv/../etc"}`,
			"sync deletes files that are not in src, so dst must be a dedicated directory, such as /srv/app, not /srv/../etc"},
		{"reboot", `{}`, ""},
		{"reboot", `{"comand": "x"}`, `unknown parameter "comand"; did you mean command?`},
		{"puppet", `{}`, "missing parameter puppet_manifest"},
		{"stage", `{}`, ""}, {"group", `{}`, ""}, {"skipped", `{"cmd": 1, "x": null}`, ""},
		{"anchor", `{"cmd": "x"}`, `unknown parameter "cmd"`},
	}
	for _, test := range tests {
		var p map[string]any
		must.Do(t, json.Unmarshal([]byte(test.parameters), &p))
		check, ok := tasktype.Builtin().Check(test.name)
		if !ok {
			t.Fatalf("Check(%s) = false, want true", test.name)
		}
		if diff := cmp.Diff(test.problems, strings.Join(check(p), "\n")); diff != "" {
			t.Errorf("Check(%s) of %s mismatch (-want +got):\n%s", test.name, test.parameters, diff)
		}
	}
	if _, ok := tasktype.Builtin().Check("shel"); ok {
		t.Error("Check(shel) = true, want false")
	}
	for _, dst := range []string{"/", "//", "/srv", "/home/me", "/usr/lib", "/var/lib", "relative/path", ".", "/srv/a/../.."} {
		check, _ := tasktype.Builtin().Check("sync")
		if len(check(map[string]any{"src": "a", "dst": dst})) == 0 {
			t.Errorf("sync with dst %s has no problems, want one", dst)
		}
	}
}

type bench struct {
	*tasktype.Executor
	node *inventory.Node
	mu   sync.Mutex
	log  []string
	n    int
}

// benches calls f with a bench for this machine and with one for an OpenSSH server.
func benches(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		f(t, here(t))
	})
	t.Run("ssh", func(t *testing.T) {
		t.Parallel()
		f(t, over(t, sshd.Start(t)))
	})
}

func here(t *testing.T) *bench {
	b := &bench{Executor: &tasktype.Executor{Types: tasktype.Builtin(), Folder: t.TempDir()}, node: &inventory.Node{Name: "here", Local: true}}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func over(t *testing.T, s *sshd.Server) *bench {
	b := here(t)
	b.node = s.Node("web-1")
	b.Hosts.Home, b.Hosts.Agent = s.Home, "/nonexistent"
	return b
}

// work returns a task for the node with a new token.
func (b *bench) work(t *testing.T, name string, parameters map[string]any) run.Work {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	return run.Work{
		Environment: "prod", Run: 12, Node: b.node, Task: &taskgraph.Spec{ID: "task", Type: name, Parameters: parameters},
		Token: fmt.Sprintf("%s-%d-%d-%d", t.Name(), os.Getpid(), time.Now().UnixNano(), b.n), Log: func(level, message string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.log = append(b.log, level+" "+message)
		},
	}
}

// try runs a task and returns its log and its error.
func (b *bench) try(ctx context.Context, w run.Work) (string, error) {
	err := b.Execute(ctx, w)
	b.mu.Lock()
	defer b.mu.Unlock()
	log := strings.Join(b.log, "\n")
	b.log = nil
	return log, err
}

// does runs a task that must succeed and checks its log.
func (b *bench) does(t *testing.T, w run.Work, want string) {
	t.Helper()
	log, err := b.try(t.Context(), w)
	if log != want || err != nil {
		t.Errorf("Execute = log %q, %v, want log %q", log, err, want)
	}
}

// fails runs a task that must fail. It checks the error and the errors that it wraps.
func (b *bench) fails(t *testing.T, w run.Work, want string, wraps ...error) {
	t.Helper()
	_, err := b.try(t.Context(), w)
	if err == nil || err.Error() != want {
		t.Errorf("Execute = %v, want %s", err, want)
	}
	for _, other := range wraps {
		if !errors.Is(err, other) {
			t.Errorf("Execute = %v, want an error wrapping %v", err, other)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(text), 0o644))
}

type p = map[string]any

func TestShell(t *testing.T) {
	t.Parallel()
	benches(t, func(t *testing.T, b *bench) {
		b.does(t, b.work(t, "shell", p{"cmd": "echo one; echo two >&2"}), "info one\ninfo two")
		b.does(t, b.work(t, "shell", p{"cmd": "pwd", "cwd": "/usr"}), "info /usr")
		b.fails(t, b.work(t, "shell", p{"cmd": "exit 3"}), "exit status 3")
		b.fails(t, b.work(t, "shell", p{"cmd": "for i in 1 2 3 4 5; do echo line $i; done; exit 4"}),
			"exit status 4: line 3; line 4; line 5")
		w := b.work(t, "shell", p{"cmd": `echo "$LUMI_ENVIRONMENT $LUMI_RUN $LUMI_TASK $LUMI_NODE $LUMI_ROLES $LUMI_PARAMETERS"`})
		node := *b.node
		node.Roles, node.Parameters = []string{"db", "web"}, p{"version": "2", "it's": 1}
		w.Node, w.Parameters = &node, p{"version": "1", "region": "eu"}
		b.does(t, w, "info prod 12 task "+b.node.Name+` db,web {"it's":1,"region":"eu","version":"2"}`)
		// Running the same work again returns the recorded outcome.
		count := filepath.Join(t.TempDir(), "count")
		w = b.work(t, "shell", p{"cmd": "echo run >>" + count + "; echo out"})
		b.does(t, w, "info out")
		w.Resumed = true
		b.does(t, w, "info out")
		if text := read(t, count); text != "run\n" {
			t.Errorf("the command ran %d times, want once", strings.Count(text, "run"))
		}
	})
}

func TestWorkingDirectory(t *testing.T) {
	t.Parallel()
	b := here(t)
	write(t, filepath.Join(b.Folder, "below/file"), "")
	b.does(t, b.work(t, "shell", p{"cmd": "ls"}), "info below")
	b.does(t, b.work(t, "shell", p{"cmd": "ls", "cwd": "below"}), "info file")
}

func TestPhases(t *testing.T) {
	t.Parallel()
	benches(t, func(t *testing.T, b *bench) {
		count := filepath.Join(t.TempDir(), "count")
		third := "echo run >>" + count + "; [ $(wc -l <" + count + ") -ge 3 ] || { echo not yet; exit 1; }"
		w := b.work(t, "shell", p{"cmd": "echo task"})
		w.Task.TestPre = &taskgraph.Test{Cmd: "echo before"}
		w.Task.TestPost = &taskgraph.Test{Cmd: "echo after"}
		b.does(t, w, "info before\ninfo task\ninfo after")

		w = b.work(t, "shell", p{"cmd": third})
		w.Task.Retries, w.Task.Interval = 2, time.Millisecond
		again := "info not yet\nwarn run: attempt 1 of 3 failed: exit status 1: not yet\n" +
			"info not yet\nwarn run: attempt 2 of 3 failed: exit status 1: not yet"
		b.does(t, w, again)
		// A process that resumes the task does not repeat attempts.
		b.does(t, w, again)
		if n := strings.Count(read(t, count), "run"); n != 3 {
			t.Errorf("the command ran %d times, want 3", n)
		}
		w = b.work(t, "shell", p{"cmd": "exit 1"})
		w.Task.Retries = 1
		b.fails(t, w, "exit status 1")

		w = b.work(t, "shell", p{"cmd": "echo must not run >>" + count})
		w.Task.TestPre = &taskgraph.Test{Cmd: "echo no; exit 3"}
		b.fails(t, w, "test_pre failed: exit status 3: no")
		w = b.work(t, "shell", p{"cmd": "echo ran >>" + count})
		w.Task.TestPost = &taskgraph.Test{Cmd: "sleep 5", Timeout: 200 * time.Millisecond}
		b.fails(t, w, "test_post failed: timed out after 200ms")
		if text := read(t, count); strings.Contains(text, "must not run") || !strings.Contains(text, "ran") {
			t.Errorf("commands that ran = %q, want only the second", text)
		}
		w = b.work(t, "shell", p{"cmd": "sleep 5"})
		w.Task.Timeout = 200 * time.Millisecond
		b.fails(t, w, "timed out after 200ms")
		b.fails(t, w, "timed out after 200ms")
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	benches(t, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		w := b.work(t, "shell", p{"cmd": "echo begin; sleep 10"})
		w.Log = func(string, string) { cancel() }
		w.Task.Retries = 5
		if err := b.Execute(ctx, w); !errors.Is(err, context.Canceled) {
			t.Errorf("Execute = %v, want %v", err, context.Canceled)
		}
		b.fails(t, w, "the outcome is unknown: the command was started, but its exit status is unknown: it was stopped",
			run.ErrUncertain, host.ErrUncertain)
	})
}

func TestUncertain(t *testing.T) {
	t.Parallel()
	b := here(t)
	w := b.work(t, "shell", p{"cmd": "kill -9 $PPID"})
	w.Task.Retries = 3
	b.fails(t, w, "the outcome is unknown: the command was started, but its exit status is unknown", run.ErrUncertain)
	// The outcome of a task on an unreachable node is unknown.
	w = b.work(t, "shell", p{"cmd": "true"})
	w.Node = &inventory.Node{Name: "web-1"}
	b.fails(t, w, "node web-1 has no address")
	w.Resumed = true
	b.fails(t, w, "the outcome is unknown while the node is unreachable: node web-1 has no address", run.ErrUnreached)
}

func TestTypesWithoutAction(t *testing.T) {
	t.Parallel()
	b := here(t)
	for _, name := range []string{"stage", "group", "anchor", "skipped"} {
		w := b.work(t, name, nil)
		w.Node = &inventory.Node{Name: "unreachable"}
		b.does(t, w, "")
		w.Node = nil
		b.does(t, w, "")
	}
	w := b.work(t, "anchor", nil)
	w.Task.TestPre = &taskgraph.Test{Cmd: "exit 1"}
	b.fails(t, w, "test_pre failed: exit status 1")
	w = b.work(t, "shell", p{"cmd": "true"})
	w.Node = nil
	b.fails(t, w, "a task of type shell requires a node")
	b.fails(t, b.work(t, "shel", nil), `unknown type "shel"`)
}

func TestUpload(t *testing.T) {
	t.Parallel()
	benches(t, func(t *testing.T, b *bench) {
		name := filepath.Join(t.TempDir(), "new", "it's")
		b.does(t, b.work(t, "upload_file", p{"path": name, "data": "a\n"}), "")
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o644 || read(t, name) != "a\n" {
			t.Errorf("uploaded file has mode %v, %v, want 0644, or other content", info.Mode(), err)
		}
		write(t, filepath.Join(b.Folder, "src"), "\x00\xff")
		b.does(t, b.work(t, "upload_file", p{"path": name, "src": "src", "permissions": "0600"}), "")
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 || read(t, name) != "\x00\xff" {
			t.Errorf("uploaded file has mode %v, %v, want 0600, or other content", info.Mode(), err)
		}
		b.fails(t, b.work(t, "upload_file", p{"path": name, "src": "."}), "src .: not a file")
		b.fails(t, b.work(t, "upload_file", p{"path": name, "src": "no"}), "src no: no such file or directory")
	})
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	b := here(t)
	data := func() (map[string]any, error) {
		return map[string]any{"uid": "web-1", "port": int64(80), "nodes": map[string]any{"a": nil, "b": nil}, "many": make([]any, 1<<20)}, nil
	}
	name := filepath.Join(t.TempDir(), "conf")
	for text, want := range map[string]string{
		"host {{.uid}}\n{{range $n, $_ := .nodes}}{{$n}},{{end}} {{if gt .port 79}}{{.port}}{{end}}{{with index . `no`}}no{{end}}\n": "",
		"a\n  {{.none}}": `template: t.tmpl:2:4: executing "t.tmpl" at <.none>: map has no entry for key "none"`,
		"{{.uid":         "template: t.tmpl:1: unclosed action",
		"{{.uid.x}}":     `template: t.tmpl:1:6: executing "t.tmpl" at <.uid.x>: can't evaluate field x in type interface {}`,
		"{{range .many}}0123456789abcdefg{{end}}": "the result is larger than 16777216 bytes",
		"a\nb {{index . `no`}}":                   "template t.tmpl: line 2 of its result prints a missing key or null",
		"{{.nodes.a}}":                            "template t.tmpl: line 1 of its result prints a missing key or null",
		strings.Repeat("x", 16<<20+1):             "template t.tmpl: larger than 16777216 bytes",
	} {
		write(t, filepath.Join(b.Folder, "t.tmpl"), text)
		must.Do(t, os.Chmod(filepath.Join(b.Folder, "t.tmpl"), 0o640))
		w := b.work(t, "upload_file", p{"path": name, "template": "t.tmpl"})
		w.Data = data
		if want == "" {
			b.does(t, w, "")
		} else {
			b.fails(t, w, want)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 || read(t, name) != "host web-1\na,b, 80\n" {
		t.Errorf("file has mode %v, %v, and content %q", info.Mode(), err, read(t, name))
	}
	for template, want := range map[string]string{
		".": "template .: not a file", "no": "src no: no such file or directory", ".lumi/x": "src .lumi/x: contains state, keys, or tokens, which tasks must not read",
	} {
		write(t, filepath.Join(b.Folder, ".lumi", "x"), "")
		b.fails(t, b.work(t, "upload_file", p{"path": name, "template": template}), want)
	}
	w := b.work(t, "upload_file", p{"path": name, "template": "t.tmpl"})
	write(t, filepath.Join(b.Folder, "t.tmpl"), "")
	w.Data = func() (map[string]any, error) { return nil, errors.New("no data") }
	b.fails(t, w, "no data")
}

func TestTemplateTimeout(t *testing.T) {
	t.Parallel()
	b := here(t)
	for _, text := range []string{
		"{{range 1000000000}}{{range 1000000000}}{{end}}{{end}}",
		`{{define "a"}}{{if lt (len .) 60}}{{template "a" (print . 1)}}{{template "a" (print . 2)}}{{end}}{{end}}{{template "a" ""}}`,
		"{{if .a}}{{else}}{{with .b}}{{else}}{{range 1}}{{range 1000000000}}{{range 1000000000}}{{end}}{{end}}{{end}}{{end}}{{end}}",
		"{{range .c}}{{else}}{{range 1000000000}}{{range 1000000000}}{{continue}}{{end}}{{end}}{{end}}",
	} {
		write(t, filepath.Join(b.Folder, "t.tmpl"), text)
		w := b.work(t, "upload_file", p{"path": filepath.Join(t.TempDir(), "conf"), "template": "t.tmpl"})
		w.Task.Timeout = 200 * time.Millisecond
		w.Data = func() (map[string]any, error) { return map[string]any{"a": false, "b": 0, "c": nil}, nil }
		b.fails(t, w, "timed out after 200ms")
	}
}

// listing returns the modes, names, and contents of the files in a folder.
func listing(t *testing.T, folder string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `cd "$1" && find . -exec stat -c '%A %n' {} + | sort -k2 && find . -type f | sort | xargs -r -d '\n' tail -n +1`,
		"sh", folder).CombinedOutput()
	if err != nil {
		t.Errorf("listing %s: %v\n%s", folder, err, out)
	}
	return string(out)
}

func TestCopyFiles(t *testing.T) {
	t.Parallel()
	benches(t, func(t *testing.T, b *bench) {
		dst := t.TempDir()
		write(t, filepath.Join(b.Folder, "src/a"), "a")
		write(t, filepath.Join(b.Folder, "src/below/it's b"), "b")
		must.Do(t, os.Chmod(filepath.Join(b.Folder, "src/a"), 0o755))
		files := []any{p{"src": "src", "dst": dst + "/copy"}, p{"src": "src/a", "dst": dst + "/into/"}, p{"src": "src/a", "dst": dst + "/as"}}
		w := b.work(t, "copy_files", p{"files": files, "dir_permissions": "0700"})
		b.does(t, w, "info "+dst+"/copy: 2 copied\ninfo "+dst+"/into/a: 1 copied\ninfo "+dst+"/as: 1 copied")
		want := `drwxr-xr-x .
-rwxr-xr-x ./as
drwx------ ./copy
-rwxr-xr-x ./copy/a
drwx------ ./copy/below
-rw-r--r-- ./copy/below/it's b
drwx------ ./into
-rwxr-xr-x ./into/a
==> ./as <==
a
==> ./copy/a <==
a
==> ./copy/below/it's b <==
b
==> ./into/a <==
a`
		if diff := cmp.Diff(want, listing(t, dst)); diff != "" {
			t.Errorf("copied files mismatch (-want +got):\n%s", diff)
		}
		link := filepath.Join(b.Folder, "src/link")
		must.Do(t, os.Symlink("below/it's b", link))
		for range 2 {
			_, err := b.try(t.Context(), w)
			must.Do(t, err)
			if target, err := os.Readlink(filepath.Join(dst, "copy/link")); target != "below/it's b" || err != nil {
				t.Errorf("copied link = %q, %v, want below/it's b", target, err)
			}
		}
		must.Do(t, os.Remove(link), os.Symlink("/etc/passwd", link))
		b.fails(t, w, `cannot copy src/link: the link to "/etc/passwd" leaves src; only relative links within it are copied`)
		odd := filepath.Join(b.Folder, "odd/a\nb")
		write(t, odd, "")
		b.fails(t, b.work(t, "copy_files", p{"files": []any{p{"src": "odd", "dst": dst}}}),
			`cannot copy "odd/a\nb": its name contains a line break or backslash`)
	})
}

func TestSync(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, b *bench) {
		src, dst := filepath.Join(b.Folder, "src"), filepath.Join(t.TempDir(), "dst")
		for _, name := range []string{"same", "changed", "mode", "file becomes folder/x", "folder becomes file", "it's/ new"} {
			write(t, filepath.Join(src, name), name)
		}
		must.Do(t, os.MkdirAll(filepath.Join(src, "empty/folder"), 0o755))
		must.Do(t, os.Chmod(filepath.Join(src, "mode"), 0o755))
		for name, text := range map[string]string{
			"same": "same", "changed": "Changed", "mode": "mode", "file becomes folder": "", "folder becomes file/x/y": "", "extra": "", "gone/x": "",
		} {
			write(t, filepath.Join(dst, name), text)
		}
		must.Do(t, os.Symlink("/etc", filepath.Join(dst, "link")))
		before := must.Get(os.Stat(filepath.Join(dst, "same")))(t)
		w := b.work(t, "sync", p{"src": "src", "dst": dst})
		b.does(t, w, "info "+dst+": 5 copied, 8 deleted")
		if diff := cmp.Diff(listing(t, src), listing(t, dst)); diff != "" {
			t.Errorf("synced files mismatch (-want +got):\n%s", diff)
		}
		if after, err := os.Stat(filepath.Join(dst, "same")); err != nil || !os.SameFile(before, after) {
			t.Error("sync copied an unchanged file")
		}
		b.does(t, w, "info "+dst+": 0 copied, 0 deleted")
		// Links replace files, folders, and other links, and are replaced by files and folders.
		for name, target := range map[string]string{"same": "changed", "it's": "empty/folder", "empty/link": "../mode", "new": "absent"} {
			must.Do(t, os.RemoveAll(filepath.Join(src, name)), os.Symlink(target, filepath.Join(src, name)))
		}
		b.does(t, w, "info "+dst+": 4 copied, 3 deleted")
		b.does(t, w, "info "+dst+": 0 copied, 0 deleted")
		must.Do(t, os.Remove(filepath.Join(src, "new")), os.Symlink("changed", filepath.Join(src, "new")))
		must.Do(t, os.Remove(filepath.Join(src, "same")), os.Remove(filepath.Join(src, "it's")))
		write(t, filepath.Join(src, "same"), "same")
		write(t, filepath.Join(src, "it's/ new"), "new")
		b.does(t, w, "info "+dst+": 3 copied, 2 deleted")
		for name, want := range map[string]string{"empty/link": "../mode", "new": "changed"} {
			if target, err := os.Readlink(filepath.Join(dst, name)); target != want || err != nil {
				t.Errorf("link %s = %q, %v, want %s", name, target, err, want)
			}
		}
		b.fails(t, b.work(t, "sync", p{"src": "src/same", "dst": dst}), "src src/same: not a directory")
		link := filepath.Join(t.TempDir(), "link")
		must.Do(t, os.Symlink("/", link))
		b.fails(t, b.work(t, "sync", p{"src": "src", "dst": link}),
			link+" is /: sync deletes files that are not in src, so dst must be a dedicated directory, such as /srv/app, not /")
		write(t, filepath.Join(dst, "a\nb"), "")
		if _, err := b.try(t.Context(), w); err == nil || !strings.Contains(err.Error(), "a file name contains a line break or backslash") {
			t.Errorf("sync = %v, want an error about the file name", err)
		}
	}
	benches(t, test)
	t.Run("busybox", func(t *testing.T) {
		t.Parallel()
		busybox, err := exec.LookPath("busybox")
		if err != nil {
			t.Skip("busybox is not installed; run 'apt-get install busybox'")
		}
		s := sshd.Start(t)
		if out, err := exec.Command(busybox, "--install", "-s", s.Bin).CombinedOutput(); err != nil {
			t.Fatalf("busybox --install: %v\n%s", err, out)
		}
		test(t, over(t, s))
	})
}

// TestReboot restarts the sshd of the test. The boot id is the content of a file.
func TestReboot(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	b := over(t, s)
	id, count := filepath.Join(s.Home, "boot_id"), filepath.Join(s.Home, "count")
	write(t, id, "first\n")
	parameters := p{"boot_id": "cat " + id, "command": "echo reboot >>" + count}
	restarted := make(chan bool)
	go func() {
		defer close(restarted)
		for {
			if _, err := os.Stat(count); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		s.Stop()
		write(t, id, "second\n")
		time.Sleep(200 * time.Millisecond)
		s.Restart(t)
	}()
	w := b.work(t, "reboot", parameters)
	b.does(t, w, "info waiting for up to 10m0s for the node to come back\ninfo rebooted: the boot id is second")
	<-restarted
	// A process that resumes the task does not reboot again.
	w.Resumed = true
	b.does(t, w, "info rebooted: the boot id is second")
	if text := read(t, count); text != "reboot\n" {
		t.Errorf("the node was rebooted %d times, want once", strings.Count(text, "reboot"))
	}
}

func TestRebootFailure(t *testing.T) {
	t.Parallel()
	b := here(t)
	w := b.work(t, "reboot", p{"boot_id": "echo same", "command": "true"})
	w.Task.Timeout = 2 * time.Second
	b.fails(t, w, "the node did not reboot within 2s: its boot id is still same")
	file := filepath.Join(t.TempDir(), "boot")
	write(t, file, "first")
	w = b.work(t, "reboot", p{"boot_id": "cat " + file, "command": "rm " + file})
	w.Task.Timeout = 2 * time.Second
	b.fails(t, w, "the node did not come back within 2s: exit status 1: cat: "+file+": No such file or directory")
	b.fails(t, b.work(t, "reboot", p{"boot_id": "echo same", "command": "echo not allowed; exit 3"}), "exit status 3: not allowed")
	b.fails(t, b.work(t, "reboot", p{"boot_id": "true", "command": "true"}), "cannot read the boot id: the command printed nothing")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := b.try(ctx, b.work(t, "reboot", p{"boot_id": "echo same", "command": "true"})); !errors.Is(err, context.Canceled) {
		t.Errorf("reboot = %v, want %v", err, context.Canceled)
	}
}

// TestPuppet uses a fake puppet that prints its arguments and exits with the status in its manifest.
func TestPuppet(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	b := over(t, s)
	manifest := func(status int) string { return filepath.Join(s.Home, "it's "+strconv.Itoa(status)) }
	w := b.work(t, "puppet", p{"puppet_manifest": manifest(0)})
	if _, err := exec.LookPath("puppet"); err != nil {
		b.fails(t, w, "exit status 127: puppet is not installed on this node")
	}
	fake := "#!/bin/sh\necho \"fake puppet: $*\"\nfor last; do :; done\nexit \"${last##* }\"\n"
	must.Do(t, os.WriteFile(filepath.Join(s.Bin, "puppet"), []byte(fake), 0o755))
	for _, status := range []int{0, 2} {
		w := b.work(t, "puppet", p{"puppet_manifest": manifest(status), "puppet_modules": "/etc/puppet/mod's", "cwd": "/usr"})
		b.does(t, w, "info fake puppet: apply --detailed-exitcodes --color=false --modulepath /etc/puppet/mod's "+manifest(status))
	}
	b.fails(t, b.work(t, "puppet", p{"puppet_manifest": manifest(6)}),
		"exit status 6: fake puppet: apply --detailed-exitcodes --color=false "+manifest(6))
}

// In paths on a node, ~ is the home directory.
func TestHome(t *testing.T) {
	t.Parallel()
	s := sshd.Start(t)
	b := over(t, s)
	write(t, filepath.Join(b.Folder, "src/it's"), "a")
	for kind, parameters := range map[string]p{
		"upload_file": {"path": "~/up/it's", "data": "a"}, "copy_files": {"files": []any{p{"src": "src", "dst": "~/copy"}}},
		"sync": {"src": "src", "dst": "~/sync"},
	} {
		_, err := b.try(t.Context(), b.work(t, kind, parameters))
		must.Do(t, err)
	}
	for _, folder := range []string{"up", "copy", "sync"} {
		if got := read(t, filepath.Join(s.Home, folder, "it's")); got != "a" {
			t.Errorf("~/%s/it's = %q, want a", folder, got)
		}
	}
	b.does(t, b.work(t, "shell", p{"cmd": "pwd", "cwd": "~/sync"}), "info "+filepath.Join(s.Home, "sync"))
	b.does(t, b.work(t, "shell", p{"cmd": "pwd", "cwd": "~"}), "info "+s.Home)
}
