// Package corpus generates IDL of any size, for benchmarks and for tests that need large inputs.
//
// The generated IDL resembles handwritten IDL: all declarations are documented, each resource has an average of twelve
// properties, two structs of five properties, and an enum, and resources refer to each other within and across folders.
// The output depends only on the options.
package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// IDL is the slash-separated path of the IDL folder in a corpus. It implies the package name "cloud".
const IDL = "cloud/idl"

// Module is the module path of a corpus.
const Module = "corpus.example/estate"

// Lumi is the path of this module. A corpus imports the markers from its package idl.
const Lumi = "github.com/lumi-idl/lumi"

// FolderSize is the maximum number of resources per folder.
const FolderSize = 50

// Options configure a corpus.
type Options struct {
	// Resources is the number of resources.
	Resources int
	// Seed seeds the random number generator.
	Seed uint64
}

// Write writes a corpus to dir, creating the folder if necessary. The corpus is a Go module that replaces Lumi with the
// checkout containing the working directory and copies its requirements, so that generated code builds offline. Write
// returns an error if it cannot find the checkout, or cannot read or write a file.
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
		// Each folder has its own random source, so that it does not change when the corpus grows.
		f := newFolder(folder, size, rand.New(rand.NewPCG(o.Seed, uint64(folder))))
		for name, source := range f.files() {
			if err := writeFile(filepath.Join(root, f.name, name), source); err != nil {
				return err
			}
		}
	}
	return nil
}

// rootSource is the source of the file in the root package of the IDL.
const rootSource = `// Package cloud is made up.
package cloud

import "` + Lumi + `/idl"

// Config is the configuration of the provider.
type Config struct {
	idl.Config
	// The location of resources.
	Region string
	// The key that signs requests.
	Token *string ` + "`lumi:\"optional,secret\"`" + `
}
`

// writeModule writes go.mod and go.sum to dir.
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
	// Keep Lumi's Go version and requirements.
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

// Checkout returns the root of the Lumi checkout that contains the working directory.
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
			return "", fmt.Errorf("not inside a checkout of %s", Lumi)
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
