// Package compile turns the sources of an IDL package into the checked model, or says everything that is wrong.
//
// It works in four steps, one way:
//
//	scan    walk the folder, so that no file escapes because of a build constraint      scan.go
//	load    one call of go/packages for all folders: syntax and types from sources      load.go
//	collect find out what is declared and of which kind it is                           collect.go
//	check   judge every declaration and build the model as it goes                      decls.go, types.go, tags.go, …
//
// No step stops at the first problem. Whatever go/types could not make sense of has been reported by the load step and
// is passed over in silence by the later ones, so that one mistake yields one message.
package compile

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// TokenForm says how type tokens name the module of a resource.
type TokenForm string

// The forms of a type token.
const (
	// TokensByModule names the folder: aws:ec2:SecurityGroup. It is the default.
	TokensByModule TokenForm = "module"
	// TokensByFile names the folder and the file: aws:ec2/securityGroup:SecurityGroup.
	TokensByFile TokenForm = "file"
)

// Options say what to compile.
type Options struct {
	// Dir is the IDL's root folder. Positions in diagnostics start with it as it stands here.
	Dir string
	// Package is the package's name; by default, the name of the folder that holds Dir.
	Package string
	// Tokens is the form of type tokens; by default, TokensByModule.
	Tokens TokenForm
	// Markers are import paths of further packages whose types count as the resource markers.
	Markers []string
}

// Load compiles the IDL in opts.Dir.
//
// Where the IDL is wrong, the diagnostics hold at least one error and the package is nil. Diagnostics are in source
// order. The error is for what is not wrong with the IDL: an unusable folder, package name or marker path (a
// [*UsageError]), or a go command that is missing or fails.
func Load(ctx context.Context, opts Options) (*schema.Package, []diag.Diagnostic, error) {
	tree, err := scan(opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	if err := tree.checkExtent(); err != nil {
		return nil, nil, err
	}
	name, err := packageName(opts)
	if err != nil {
		return nil, nil, err
	}
	if err := checkMarkers(opts.Markers); err != nil {
		return nil, nil, err
	}
	c := newChecker(tree, name, opts)
	c.checkFiles()
	pkgs, err := c.load(ctx)
	if err == nil && c.unifyClauses(pkgs) {
		pkgs, err = c.load(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return c.finish(pkgs)
}

// finish does what follows the loading: it builds the model of packages that Go has read.
func (c *checker) finish(pkgs []*packages.Package) (*schema.Package, []diag.Diagnostic, error) {
	c.adopt(pkgs)
	c.checkHeaders()
	if err := c.reportGoErrors(pkgs); err != nil {
		return nil, nil, err
	}
	if len(c.sources) == 0 && len(c.diags) == 0 {
		return nil, nil, &UsageError{fmt.Sprintf("no Go packages found in %s", c.tree.arg)}
	}
	c.collect()
	c.check()
	if diags := c.sorted(); diag.Errors(diags) > 0 {
		return nil, diags, nil
	}
	if err := c.checkMarkersUsed(); err != nil {
		return nil, nil, err
	}
	return c.pkg, nil, nil
}

// UsageError says that the compiler was asked for something that cannot be.
type UsageError struct {
	// Message says what is wrong and what to do instead.
	Message string
}

func (e *UsageError) Error() string { return e.Message }

// display is how a person would type the path of a file below the root.
func (t *tree) display(rel string) string { return filepath.Join(t.arg, filepath.FromSlash(rel)) }
