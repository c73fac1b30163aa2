// Package corpus writes IDL of any size, for benchmarks and for tests that need a lot of input.
//
// The IDL resembles what people write: all is documented, a resource has twelve properties on average with two structs
// of five properties and an enum beside it, and resources refer to each other within and across folders. The same
// options give the same bytes, always.
package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// IDL is the folder of the IDL inside a corpus, slash-separated. The name of its package is thus "cloud".
const IDL = "cloud/idl"

// Module is the path of the Go module that a corpus is.
const Module = "corpus.example/estate"

// Lumi is the path of the module that this package belongs to, and that a corpus imports its markers from.
const Lumi = "github.com/lumi-idl/lumi"

// FolderSize is how many resources there are in a folder.
const FolderSize = 50

// Options say what a corpus is like.
type Options struct {
	// Resources is how many resources there are.
	Resources int
	// Seed varies what is chosen at random. Zero is a seed like any other.
	Seed uint64
}

// Write makes dir, which it creates if need be, a Go module that holds a corpus. The module's go.mod points at the
// checkout of Lumi that holds the current folder and lists what that requires, so that generated code builds without a
// network. The error says which file could not be read or written.
func Write(dir string, o Options) error {
	if err := writeModule(dir); err != nil {
		return err
	}
	root := filepath.Join(dir, filepath.FromSlash(IDL))
	if err := writeFile(filepath.Join(root, "cloud.go"), []byte(rootSource)); err != nil {
		return err
	}
	for folder := 0; folder*FolderSize < o.Resources; folder++ {
		size := min(FolderSize, o.Resources-folder*FolderSize)
		// A source of its own for each folder keeps a folder the same when the corpus grows.
		f := newFolder(folder, size, rand.New(rand.NewPCG(o.Seed, uint64(folder))))
		for name, source := range f.files() {
			if err := writeFile(filepath.Join(root, f.name, name), source); err != nil {
				return err
			}
		}
	}
	return nil
}

// rootSource is the file at the root of the IDL.
const rootSource = `// Package cloud is made up.
package cloud

import "` + Lumi + `/idl"

// Config is how the provider reaches the cloud.
type Config struct {
	idl.Config
	// The place where resources are created.
	Region string
	// What to sign requests with.
	Token *string ` + "`lumi:\"optional,secret\"`" + `
}
`

// writeModule writes go.mod and go.sum.
func writeModule(dir string) error {
	checkout, err := Checkout()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return err
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return err
	}
	// What remains are Lumi's own requirements and its version of Go.
	if err := errors.Join(
		mod.AddModuleStmt(Module),
		mod.AddRequire(Lumi, "v0.0.0"),
		mod.AddReplace(Lumi, "", checkout, ""),
	); err != nil {
		return err
	}
	for _, tool := range mod.Tool {
		if err := mod.DropTool(tool.Path); err != nil {
			return err
		}
	}
	mod.Cleanup()
	data, err = mod.Format()
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(dir, "go.mod"), data),
		writeFile(filepath.Join(dir, "go.sum"), sums),
	)
}

// Checkout returns the root of the checkout of Lumi that holds the current folder.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(data) == Lumi {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("the current folder lies in no checkout of %s", Lumi)
		}
		dir = parent
	}
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
