//go:build unix

package compile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/test/kit/must"
)

func TestIrregularFiles(t *testing.T) {
	for _, name := range []string{"idl/x.go", "idl/x_test.go", "idl/net/x.s", "idl/link.go", "go.work", "../go.work", "go.work.sum", "go.sum", "go.mod"} {
		t.Run(name, func(t *testing.T) {
			dir := newModule(t, map[string]string{"idl/shop.go": "package shop\n", "idl/net/net.go": "package net\n"})
			pipe := filepath.Join(dir, name)
			switch name {
			case "go.mod":
				must.Do(t, os.Remove(pipe))
			case "go.work.sum":
				write(t, dir, "go.work", "go 1.26.0\n\nuse .\n")
			case "idl/link.go":
				must.Do(t, os.Symlink("../pipe", pipe))
				pipe = filepath.Join(dir, "pipe")
			}
			must.Do(t, syscall.Mkfifo(pipe, 0o600))
			_, _, err := load(t, compile.Options{Dir: filepath.Join(dir, "idl")})
			want := filepath.Join(dir, name) + " is not a regular file; remove or replace it"
			if err == nil || err.Error() != want {
				t.Errorf("Load = %v\nwant %s", err, want)
			}
		})
	}
	// The go command ignores these files.
	for _, name := range []string{"idl/.x.go", "idl/_x.go", "idl/testdata/x.go"} {
		dir := newModule(t, map[string]string{"idl/shop.go": "package shop\n", "idl/testdata/y.go": "package y\n"})
		must.Do(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
		if _, _, err := load(t, compile.Options{Dir: filepath.Join(dir, "idl")}); err != nil {
			t.Errorf("Load with an irregular file %s: %v", name, err)
		}
	}
}
