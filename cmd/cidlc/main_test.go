package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// noEnv is a getenv function for an empty environment.
func noEnv(string) string { return "" }

// isolate runs a test without network access and with an empty cache.
func isolate(t *testing.T) {
	t.Helper()
	for _, set := range toolEnv(t) {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LocalAppData", "AppData"} {
		t.Setenv(name, t.TempDir())
	}
	// The go command starts a telemetry process, which may still be writing when the test's folders are removed.
	telemetry := filepath.Join(must.Get(os.UserConfigDir())(t), "go", "telemetry")
	must.Do(t, os.MkdirAll(telemetry, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o644))
}

// repositoryRoot is the root of this checkout. It is computed before tests change the working folder.
var repositoryRoot, _ = filepath.Abs("../..")

func repository(t *testing.T) string {
	t.Helper()
	must.Get(os.Stat(filepath.Join(repositoryRoot, "go.mod")))(t)
	return repositoryRoot
}

func TestRunInterrupted(t *testing.T) {
	isolate(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "out")
	var stdout, stderr bytes.Buffer
	args := []string{filepath.Join(repository(t), "examples", "aws", "idl"), "--out-pack=" + out}
	if code := run(ctx, args, &stdout, &stderr, noEnv); code != console.ExitFailed {
		t.Errorf("run = exit code %d, want %d", code, console.ExitFailed)
	}
	if want := "cidlc: interrupted; each file is either unchanged or complete\n"; stderr.String() != want {
		t.Errorf("run: stderr = %q, want %q", &stderr, want)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("run created the output folder, want no output")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestRunBrokenPipe(t *testing.T) {
	isolate(t)
	idl := filepath.Join(repository(t), "examples", "aws", "idl")
	for _, args := range [][]string{
		{"--help"}, {"--version"}, {"explain"}, {"explain", "MapKey"}, {idl, "--out-schema=-"},
		{idl, "--check", "--out-pack=" + t.TempDir()},
		{"breaking", idl, "--against=" + filepath.Join(repository(t), "examples", "local", "idl"), "--diagnostics=json"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, brokenPipe{}, &stderr, noEnv); code != console.ExitFailed {
			t.Errorf("run(%v) = exit code %d, want %d", args, code, console.ExitFailed)
		}
		if !strings.Contains(stderr.String(), "broken pipe") {
			t.Errorf("run(%v): stderr = %q, want a broken pipe error", args, &stderr)
		}
	}
}
