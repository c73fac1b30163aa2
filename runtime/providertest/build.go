package providertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Build builds the command in package pkg, a relative path such as "./lumi-resource-aws" or an import path, and returns the
// path of the binary. flags are passed to go build. If the build fails, Build ends the test. Each command is built once per
// test process. Binaries are kept in the user's cache directory, so that go build relinks them only if necessary.
func Build(t TB, pkg string, flags ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		fatalf(t, "%v", err)
	}
	if !strings.HasPrefix(pkg, ".") {
		dir = ""
	}
	key := strings.Join(append([]string{filepath.Join(dir, pkg)}, flags...), "\x00")
	once, _ := builds.LoadOrStore(key, sync.OnceValues(func() (string, error) { return build(key, pkg, flags) }))
	path, err := once.(func() (string, error))()
	if err != nil {
		fatalf(t, "%v", err)
	}
	return path
}

// builds maps commands to functions that build them once.
var builds sync.Map

// build builds a command and returns the path of the binary. It runs go build in a new directory with a copy of the previous
// binary, which go build keeps if it is up to date, and then renames the result, since another process may be running the
// previous binary.
func build(key, pkg string, flags []string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory to build %s in: %w", pkg, err)
	}
	sum := sha256.Sum256([]byte(key))
	dir := filepath.Join(cache, "lumi", "providertest", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // Leftovers are harmless.
	last, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, f := range last {
		if data, err := os.ReadFile(filepath.Join(dir, f.Name())); err == nil { // Skip folders and deleted files.
			if err := os.WriteFile(filepath.Join(fresh, f.Name()), data, 0o700); err != nil {
				return "", err
			}
		}
	}
	args := append([]string{"build", "-o", fresh + string(filepath.Separator)}, flags...)
	out, err := exec.Command("go", append(args, "--", pkg)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build %s: %w\n%s", pkg, err, indent(string(out)))
	}
	made, err := os.ReadDir(fresh)
	if err != nil {
		return "", err
	}
	if len(made) != 1 {
		return "", fmt.Errorf("%s is not a single command: go build makes %d binaries", pkg, len(made))
	}
	path := filepath.Join(dir, made[0].Name())
	return path, os.Rename(filepath.Join(fresh, made[0].Name()), path)
}
