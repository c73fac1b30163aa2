// Package compile compiles an IDL package to the checked model, or reports all errors in its sources.
//
// It works in four steps:
//
//	scan    list all files, including those excluded by build constraints    scan.go
//	load    load syntax and types of all folders with go/packages             load.go
//	collect record and classify declarations                                  collect.go
//	check   check every declaration and build the model                       decls.go, types.go, tags.go, …
//
// No step stops at the first error. The load step reports names and types that go/types cannot resolve. Later steps
// ignore them, so that each mistake is reported once.
package compile

import (
	"cmp"
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
	// TokensByModule names the folder, as in aws:ec2:SecurityGroup. It is the default.
	TokensByModule TokenForm = "module"
	// TokensByFile names the folder and the file, as in aws:ec2/securityGroup:SecurityGroup.
	TokensByFile TokenForm = "file"
)

// Options configures [Load].
type Options struct {
	// Dir is the root folder of the IDL. File names in diagnostics begin with Dir as given.
	Dir string
	// Package is the name of the package. The default is the name of the folder that contains Dir.
	Package string
	Tokens  TokenForm
	// Older is set for an older version of an IDL, whose directive may contradict Package and Tokens.
	Older   bool
	Markers []string
}

// Load compiles the IDL in opts.Dir.
//
// If the IDL is invalid, Load returns a nil package and at least one diagnostic of severity error. Diagnostics are in
// source order. The error reports all other failures: a [*UsageError] for an unusable folder, package name, or marker
// path, or an error from a missing or failing go command.
func Load(ctx context.Context, opts Options) (*schema.Package, []diag.Diagnostic, error) {
	tree, err := scan(opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	if err := tree.checkExtent(); err != nil {
		return nil, nil, err
	}
	c := newChecker(tree, opts)
	if err := cmp.Or(c.identify(opts), checkMarkers(opts.Markers)); err != nil {
		return nil, nil, err
	}
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

// finish checks the loaded packages and builds the model. It returns the results of [Load].
func (c *checker) finish(pkgs []*packages.Package) (*schema.Package, []diag.Diagnostic, error) {
	c.adopt(pkgs)
	c.checkHeaders()
	c.openForeign()
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

// display returns the path of an IDL file relative to the current folder, given its slash-separated path below the
// root.
func (t *tree) display(rel string) string { return filepath.Join(t.arg, filepath.FromSlash(rel)) }
