// Package corpus generates IDL of any size, for benchmarks and for tests that need large inputs.
//
// It resembles handwritten IDL: everything is documented, a resource has twelve properties on average, two structs of five
// properties and an enum, and resources refer to each other within and across folders. Equal options produce identical
// output.
package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// IDL is the slash-separated path of the IDL folder in a corpus. The package is therefore named "cloud".
const IDL = "cloud/idl"

// Module is the module path of a corpus.
const Module = "corpus.example/estate"

// Lumi is the module path of this package, from which a corpus imports its markers.
const Lumi = "github.com/lumi-idl/lumi"

// FolderSize is the number of resources per folder.
const FolderSize = 50

// Options configure a corpus.
type Options struct {
	// Resources is the number of resources.
	Resources int
	// Seed seeds the random choices. It may be zero.
	Seed uint64
}

// Write writes a corpus as a Go module to dir, which it creates if necessary. Its go.mod points to the current folder's
// checkout of Lumi and copies the requirements, so that generated code builds offline. Errors name the unreadable or
// unwritable file.
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
		// A separate source for each folder keeps it unchanged when the corpus grows.
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

// Config is the configuration of the provider.
type Config struct {
	idl.Config
	// The location of resources.
	Region string
	// The key that signs requests.
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
	// The remaining lines are Lumi's own requirements and its Go version.
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

// Checkout returns the root of the current folder's checkout of Lumi.
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
