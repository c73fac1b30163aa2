package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/lumi-idl/lumi/idl/compile"
)

// resolve returns the absolute path of a file or folder with symbolic links resolved. The file need not exist.
func resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	missing := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			var pathError *fs.PathError
			if errors.As(err, &pathError) {
				err = pathError.Err
			}
			return "", fmt.Errorf("%s: %w", name, err)
		}
		missing = filepath.Join(filepath.Base(dir), missing)
	}
}

// within reports whether name, a resolved path, is dir or inside it. It compares folders with [os.SameFile] because
// some file systems ignore case.
func within(name, dir string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for ; ; name = filepath.Dir(name) {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, want) {
			return true
		}
		if name == filepath.Dir(name) {
			return false
		}
	}
}

// importPath returns the import path of a folder, according to the nearest go.mod. The folder need not exist. Flag
// names the output in errors.
func importPath(flag, dir string) (string, error) {
	real, err := resolve(dir)
	if err != nil {
		return "", err
	}
	root := compile.ModuleFolder(real)
	if root == "" {
		return "", fmt.Errorf("--%s=%s: no go.mod found in this or any parent folder, and Go stubs import each other; "+
			"run 'go mod init example.com/myprovider' in the folder of the provider's code", flag, dir)
	}
	if err := compile.CheckModule(root); err != nil {
		return "", err
	}
	file := filepath.Join(root, "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name := modfile.ModulePath(content)
	if name == "" {
		return "", fmt.Errorf("%s: missing module path; run 'go mod edit -module example.com/mypackage' there", file)
	}
	rel, err := filepath.Rel(root, real)
	if err != nil {
		return "", err
	}
	joined := path.Join(name, filepath.ToSlash(rel))
	if err := module.CheckImportPath(joined); err != nil {
		return "", fmt.Errorf("--%s=%s: Go cannot import stubs from there: %w", flag, dir, err)
	}
	return joined, nil
}
