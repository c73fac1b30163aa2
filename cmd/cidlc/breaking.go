package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/term"
)

// breakingChanges reports what breaks for those who go from an older version of the IDL to this one.
func (c *compiler) breakingChanges(ctx context.Context) error {
	defer c.progress.Clear()
	allowed := &breaking.AllowList{}
	if c.allow != "" {
		text, err := os.ReadFile(c.allow)
		if err == nil {
			allowed, err = breaking.ParseAllowList(c.allow, string(text))
		}
		if err != nil {
			return err
		}
	}
	c.step("loading %s", c.idl)
	pkg, diags, err := c.load(ctx, c.idl)
	if err != nil {
		return err
	}
	if err := c.report(diags); err != nil {
		return err
	}
	c.packageName = pkg.Name // The name of a folder somewhere else does not matter.
	c.step("loading %s", c.against)
	old, err := c.baseline(ctx)
	if err != nil {
		return err
	}
	defer old.cleanup()
	found := breaking.Compare(old.Version, breaking.Version{Package: pkg, Display: inFolder(c.idl)})
	left, unused := allowed.Filter(found)
	if err := c.printFindings(left, unused, old.source); err != nil {
		return err
	}
	c.sum("%s, %d allowed", count(len(found), "finding"), len(found)-len(left))
	if len(left) > 0 {
		return errWrong
	}
	return nil
}

// printFindings prints findings as diagnostics. In JSON they have their impacts apart.
func (c *compiler) printFindings(findings []breaking.Finding, more []diag.Diagnostic, source func(string) ([]byte, error)) error {
	var list []diag.Diagnostic
	for _, f := range findings {
		if c.diagnostics != "json" {
			list = append(list, f.Explained())
			continue
		}
		line, err := term.JSON(f)
		if err != nil {
			return err
		}
		if _, err := c.stdout.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("cannot print findings: %w", err)
		}
	}
	return c.print(append(list, more...), source)
}

// baseline is the older version of the IDL.
type baseline struct {
	breaking.Version
	source  func(file string) ([]byte, error) // reads the files of both versions
	cleanup func()
}

// baseline loads what --against names.
func (c *compiler) baseline(ctx context.Context) (*baseline, error) {
	b := &baseline{source: os.ReadFile, cleanup: func() {}}
	ref, isRef := strings.CutPrefix(c.against, "git:")
	info, err := os.Stat(c.against)
	switch {
	case isRef:
		return c.checkout(ctx, ref)
	case err != nil:
		return nil, fmt.Errorf("--against=%s: give a folder, a file that --out-schema wrote, or git:REF: %w", c.against, errors.Unwrap(err))
	case info.IsDir():
		b.Display = inFolder(c.against)
		return b, c.loadOld(ctx, c.against, b)
	}
	f, err := os.Open(c.against)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if b.Package, err = schema.Read(f); err != nil {
		return nil, fmt.Errorf("--against=%s: %w", c.against, err)
	}
	// The sources are elsewhere.
	b.Display = func(name string) string { return c.against + ":" + name }
	return b, nil
}

// loadOld compiles the older version. Where it is wrong, so is the use of it.
func (c *compiler) loadOld(ctx context.Context, dir string, b *baseline) error {
	pkg, diags, err := c.load(ctx, dir)
	if err != nil {
		return err
	}
	rename := func(at *diag.Span) {
		if rel, err := filepath.Rel(dir, at.Start.File); err == nil && at.Start.File != "" {
			at.Start.File = b.Display(filepath.ToSlash(rel))
		}
	}
	for i := range diags {
		rename(&diags[i].Span)
		for j := range diags[i].Notes {
			rename(&diags[i].Notes[j].Span)
		}
	}
	if err := c.print(diags, b.source); err != nil {
		return err
	}
	if diag.Errors(diags) > 0 {
		return fmt.Errorf("--against=%s: the IDL there has errors, so nothing can be compared with it", c.against)
	}
	b.Package = pkg
	return nil
}

// checkout loads the IDL as of a commit, from a temporary copy of the Go code around it.
func (c *compiler) checkout(ctx context.Context, ref string) (_ *baseline, err error) {
	tmp, err := os.MkdirTemp("", "cidlc-")
	if err != nil {
		return nil, err
	}
	cleanup := func() { _ = os.RemoveAll(tmp) }
	defer func() {
		if err != nil {
			cleanup()
		}
	}()
	g := &git{ref: ref, idl: c.idl, index: filepath.Join(tmp, "index")}
	root := filepath.Join(tmp, "tree")
	prefix, err := g.export(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("--against=git:%s: %w", ref, err)
	}
	dir := filepath.Join(root, filepath.FromSlash(prefix))
	shown := strings.NewReplacer(dir, ref+":"+strings.TrimSuffix(prefix, "/"), root, ref+":")
	b := &baseline{cleanup: cleanup}
	b.Display = func(name string) string { return ref + ":" + path.Join(prefix, name) }
	b.source = func(file string) ([]byte, error) {
		if inside, ok := strings.CutPrefix(file, ref+":"); ok {
			file = filepath.Join(root, filepath.FromSlash(inside))
		}
		return os.ReadFile(file)
	}
	if err = c.loadOld(ctx, dir, b); err != nil {
		return nil, errors.New(shown.Replace(err.Error()))
	}
	return b, nil
}

func inFolder(dir string) func(string) string {
	return func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
}
