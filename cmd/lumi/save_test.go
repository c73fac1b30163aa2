package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl/file"
	"github.com/lumi-idl/lumi/lumigl/repair"
)

// brokenSnapshot has a lineage, so it is saved as deployments do it; brokenGraph is not.
const (
	brokenSnapshot = `{"lineage": "x", "serial": 1, "resources": {},}`
	brokenGraph    = `{"vertices": {},}`
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
		{[]string{"repair", "--yes"}, brokenSnapshot},
		{[]string{"repair", "--yes"}, brokenGraph},
		{[]string{"fmt", "--repair"}, brokenGraph},
	} {
		path := write(t, "prod.json", test.content)
		locked, err := file.Open(t.Context(), path, file.Options{Command: "lumi deploy"})
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		code := run(t.Context(), append(test.args, path), strings.NewReader(""), io.Discard, &stderr, noEnv)
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

// TestChanged holds that a file is left alone which somebody wrote after it was shown what would be done to it.
func TestChanged(t *testing.T) {
	for _, content := range []string{brokenSnapshot, brokenGraph} {
		path := write(t, "prod.json", content+"\n")
		result, err := repair.Repair(content, repair.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := &mender{env: newEnvironment(strings.NewReader(""), io.Discard, io.Discard, noEnv)}
		err = m.save(t.Context(), &input{name: path, src: content}, path, result)
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

// TestUnwritable holds that a file that cannot be written is still there, and that the reason is said.
func TestUnwritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can write anywhere")
	}
	for _, args := range [][]string{{"repair", "--yes"}, {"fmt", "--repair"}} {
		path := write(t, "graph.json", brokenGraph)
		if err := os.Chmod(filepath.Dir(path), 0o555); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		code := run(t.Context(), append(args, path), strings.NewReader(""), io.Discard, &stderr, noEnv)
		if code != exitFailed || !strings.Contains(stderr.String(), "lumi: cannot write ") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, &stderr)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != brokenGraph {
			t.Errorf("%v: the file is %q, %v", args, content, err)
		}
		if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
