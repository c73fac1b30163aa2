package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/file"
	"github.com/lumi-idl/lumi/lumigl/repair"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const (
	brokenGraph = `{"vertices": {},}`
	rawGraph    = `{"vertices": {}}` // valid, but not canonical
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestLocked(t *testing.T) {
	for _, test := range []struct {
		args    []string
		content string
	}{
		{[]string{"repair", "--yes"}, brokenSnapshot},
		{[]string{"repair", "--yes"}, brokenGraph},
		{[]string{"fmt", "--repair"}, brokenGraph},
		{[]string{"fmt"}, `{"lineage": "A", "serial": 1, "resources": {}}`},
		{[]string{"graph", write(t, "input.json", smallGraph), "--format=dot", "--force", "-o"}, brokenGraph},
	} {
		path := write(t, "prod.json", test.content)
		locked := must.Get(file.Open(t.Context(), path, file.Options{Command: "lumi deploy"}))(t)
		var stderr bytes.Buffer
		code := runLumi(t.Context(), append(test.args, path), strings.NewReader(""), io.Discard, &stderr, noEnv)
		if !strings.Contains(stderr.String(), "lumi: "+path+" is locked by lumi deploy") || code != exitFailed {
			t.Errorf("%v: exit code %d, stderr %q", test.args, code, &stderr)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != test.content {
			t.Errorf("%v: the file is %q, %v", test.args, content, err)
		}
		must.Do(t, locked.Close())
	}
}

// TestKeptOut holds that a deployment cannot save while fmt rewrites its state, though nobody has ever locked that before,
// and that fmt leaves alone what was saved after it had read the file.
func TestKeptOut(t *testing.T) {
	const state = `{"lineage": "A", "serial": 1, "resources": {}}`
	path := write(t, "prod.json", state)
	doc := must.Get(lumigl.Parse(state))(t)
	env := newEnvironment(strings.NewReader(""), io.Discard, io.Discard, noEnv)
	in := must.Get(env.read(path))(t)
	snapshot, version, err := file.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	locked := must.Get(file.Open(t.Context(), path, file.Options{Command: "lumi deploy"}))(t)
	must.Get(locked.Save(snapshot, version))(t)
	must.Do(t, locked.Close())
	r := &rewriter{env: env, command: "lumi fmt"}
	err = r.rewrite(t.Context(), in, path, doc, []byte("{}"))
	if want := path + " has changed in the meantime, and is left as it is: start again"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != brokenGraph {
		t.Errorf("the file is %q, %v", content, err)
	}
	must.Get(lock(t.Context(), write(t, "new.json", state), true, "lumi fmt"))(t)()
}

func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	mode := func(path string, want os.FileMode) {
		t.Helper()
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s has the mode %v, %v, want %v", filepath.Base(path), info.Mode(), err, want)
		}
	}
	out := filepath.Join(t.TempDir(), "out.json")
	path := write(t, "state.json", `{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": []}`)
	var stderr bytes.Buffer
	if code := runLumi(t.Context(), []string{"convert", "-o", out, path}, strings.NewReader(""), io.Discard, &stderr, noEnv); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	mode(out, 0o600)
	broken := write(t, "broken.json", brokenGraph)
	must.Do(t, os.Chmod(broken, 0o640))
	link := filepath.Join(t.TempDir(), "link.json")
	must.Do(t, os.Symlink(broken, link))
	stderr.Reset()
	if code := runLumi(t.Context(), []string{"repair", "--yes", link}, strings.NewReader(""), io.Discard, &stderr, noEnv); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	mode(broken, 0o640)
	mode(broken+".backup", 0o640)
	real := must.Get(filepath.EvalSymlinks(broken))(t)
	if want := "lumi: " + link + " is repaired; the file as it was is " + real + ".backup\n"; !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("%q, want %q", &stderr, want)
	}
}

func TestChanged(t *testing.T) {
	for _, content := range []string{brokenSnapshot, brokenGraph} {
		path := write(t, "prod.json", content+"\n")
		result := must.Get(repair.Repair(content, repair.Options{}))(t)
		m := &mender{env: newEnvironment(strings.NewReader(""), io.Discard, io.Discard, noEnv)}
		err := m.save(t.Context(), &input{name: path, src: content}, path, result)
		if want := path + " has changed in the meantime, and is left as it is: start again"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != content+"\n" {
			t.Errorf("the file is %q, %v", now, err)
		}
		if _, err := os.Stat(path + ".backup"); err == nil {
			t.Error("there is a backup of a file that was left alone")
		}
	}
}

func TestUnwritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can write anywhere")
	}
	for _, args := range [][]string{{"repair", "--yes"}, {"fmt", "--repair"}} {
		path := write(t, "graph.json", brokenGraph)
		must.Do(t, os.Chmod(filepath.Dir(path), 0o555))
		var stderr bytes.Buffer
		code := runLumi(t.Context(), append(args, path), strings.NewReader(""), io.Discard, &stderr, noEnv)
		if code != exitFailed || !strings.Contains(stderr.String(), "lumi: cannot write ") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, &stderr)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != brokenGraph {
			t.Errorf("%v: the file is %q, %v", args, content, err)
		}
		must.Do(t, os.Chmod(filepath.Dir(path), 0o755))
	}
}
