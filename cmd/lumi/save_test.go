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
)

const (
	brokenGraph = `{"vertices": {},}`
	rawGraph    = `{"vertices": {}}` // valid, but not canonical
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLocked holds that nothing is written while a deployment is under way.
func TestLocked(t *testing.T) {
	for _, test := range []struct {
		args    []string
		content string
	}{
		{[]string{"fmt"}, rawGraph},
		{[]string{"fmt"}, `{"lineage": "A", "serial": 1, "resources": {}}`},
		{[]string{"graph", write(t, "input.json", smallGraph), "--format=dot", "--force", "-o"}, brokenGraph},
	} {
		path := write(t, "prod.json", test.content)
		locked, err := file.Open(t.Context(), path, file.Options{Command: "lumi deploy"})
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		code := runLumi(t.Context(), append(test.args, path), strings.NewReader(""), io.Discard, &stderr, noEnv)
		if !strings.Contains(stderr.String(), "lumi: "+path+" is locked by lumi deploy") || code != exitFailed {
			t.Errorf("%v: exit code %d, stderr %q", test.args, code, &stderr)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != test.content {
			t.Errorf("%v: the file is %q, %v", test.args, content, err)
		}
		if err := locked.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestKeptOut holds that a deployment cannot save while fmt rewrites its state, though nobody has ever locked that before,
// and that fmt leaves alone what was saved after it had read the file.
func TestKeptOut(t *testing.T) {
	const state = `{"lineage": "A", "serial": 1, "resources": {}}`
	path := write(t, "prod.json", state)
	doc, err := lumigl.Parse(state)
	if err != nil {
		t.Fatal(err)
	}
	env := newEnvironment(strings.NewReader(""), io.Discard, io.Discard, noEnv)
	in, err := env.read(path)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, version, err := file.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := file.Open(t.Context(), path, file.Options{Command: "lumi deploy"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locked.Save(snapshot, version); err != nil {
		t.Fatal(err)
	}
	if err := locked.Close(); err != nil {
		t.Fatal(err)
	}
	f := &formatter{env: env}
	err = f.rewrite(t.Context(), in, path, doc, []byte("{}"))
	if want := path + " has changed in the meantime, and is left as it is: start again"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, now, err := file.Load(path); err != nil || now.Serial != 2 {
		t.Errorf("the serial is %d, %v", now.Serial, err)
	}
	unlock, err := lock(t.Context(), write(t, "new.json", state), true, "lumi fmt")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestPrivate holds who may read what is written.
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
}

// TestUnwritable holds that a file that cannot be written is still there, and that the reason is said.
func TestUnwritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can write anywhere")
	}
	path := write(t, "graph.json", rawGraph)
	if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := runLumi(t.Context(), []string{"fmt", path}, strings.NewReader(""), io.Discard, &stderr, noEnv)
	if code != exitFailed || !strings.Contains(stderr.String(), "lumi: cannot write ") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != rawGraph {
		t.Errorf("the file is %q, %v", content, err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
}
