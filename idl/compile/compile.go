// Package compile compiles the sources of an IDL package to the checked model, or reports all errors in them.
//
// It works in four steps:
//
//	scan    list all files, including those excluded by build constraints    scan.go
//	load    load syntax and types of all folders with go/packages             load.go
//	collect record and classify declarations                                  collect.go
//	check   check every declaration and build the model                       decls.go, types.go, tags.go, …
//
// No step stops at the first error. The load step reports what go/types cannot resolve, and later steps ignore it, so
// that one mistake causes one message.
package compile

import (
	"context"
	"fmt"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// TokenForm selects how type tokens name the module of a resource.
type TokenForm string

const (
	// TokensByModule names the folder: aws:ec2:SecurityGroup. It is the default.
	TokensByModule TokenForm = "module"
	// TokensByFile names the folder and the file: aws:ec2/securityGroup:SecurityGroup.
	TokensByFile TokenForm = "file"
)

// Options configures [Load].
type Options struct {
	// Dir is the root folder of the IDL. File names in diagnostics start with it as given.
	Dir string
	// Package is the package's name; by default, the name of the folder that holds Dir.
	Package string
	// Tokens is the form of type tokens; by default, TokensByModule.
	Tokens TokenForm
	// Markers lists import paths of additional packages whose types count as resource markers.
	Markers []string
}

// Load compiles the IDL in opts.Dir.
//
// If the IDL is invalid, the diagnostics, in source order, contain at least one error, and the package is nil. The
// error reports other failures: an unusable folder, package name or marker path (a [*UsageError]), or a missing or
// failing go command.
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

// finish checks loaded packages and builds the model.
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

// UsageError reports invalid [Options].
type UsageError struct {
	// Message describes the problem and the fix.
	Message string
}

func (e *UsageError) Error() string { return e.Message }

// display returns the path of a file below the root, relative to the current folder.
func (t *tree) display(rel string) string { return filepath.Join(t.arg, filepath.FromSlash(rel)) }
