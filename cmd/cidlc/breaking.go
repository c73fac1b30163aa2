package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/breaking"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
)

// breakingChanges prints the breaking changes since an older version of the IDL. It returns [console.ErrWrong] if
// any of them concerns the audience.
func (c *compiler) breakingChanges(ctx context.Context) error {
	defer c.progress.Clear()
	var allowed breaking.AllowList
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
	pkg, diags, err := c.load(ctx, c.idl, false)
	if err != nil {
		return err
	}
	if err := c.report(diags); err != nil {
		return err
	}
	c.step("loading %s", c.against)
	c.packageName = pkg.Name // regardless of the name of the older version's folder, unless it has a directive
	temp, err := os.MkdirTemp("", "cidlc-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	old, at, err := c.baseline(ctx, temp)
	if err != nil {
		return fmt.Errorf("--against=%s: %w", c.against, err)
	}
	found := breaking.Compare(
		breaking.Version{Package: old, Display: at.file},
		breaking.Version{Package: pkg, Display: place{shown: c.idl + "/"}.file})
	left, unused := allowed.Filter(found)
	if err := c.printFindings(left, unused, at); err != nil {
		return err
	}
	c.sum("%s, %d allowed", console.Count(len(found), "finding"), len(found)-len(left))
	if slices.ContainsFunc(left, func(f breaking.Finding) bool { return f.Impact.Concerns(c.audience) }) {
		return console.ErrWrong
	}
	return nil
}

// printFindings prints findings and additional diagnostics. JSON output includes the impact of each finding. Old
// locates the older version.
func (c *compiler) printFindings(findings []breaking.Finding, more []diag.Diagnostic, old place) error {
	var list []diag.Diagnostic
	for _, f := range findings {
		if c.diagnostics != "json" {
			list = append(list, f.Explained())
			continue
		}
		line, err := term.JSON(f)
		if err == nil {
			_, err = c.stdout.Write(append(line, '\n'))
		}
		if err != nil {
			return fmt.Errorf("cannot print findings: %w", err)
		}
	}
	return c.print(append(list, more...), func(file string) ([]byte, error) {
		if inside, ok := strings.CutPrefix(file, old.shown); ok && old.dir != "" {
			file = filepath.Join(old.dir, inside)
		}
		return os.ReadFile(file)
	})
}

// place locates the sources of an IDL.
type place struct {
	shown string // the prefix of file names in messages
	dir   string // the folder on disk, if it is not shown
}

func (p place) file(name string) string { return filepath.Clean(p.shown + name) }

// baseline loads the IDL given by --against. If that is a commit, it writes the files of the commit to temp.
func (c *compiler) baseline(ctx context.Context, temp string) (*schema.Package, place, error) {
	at := place{shown: c.against + "/", dir: c.against}
	if ref, ok := strings.CutPrefix(c.against, "git:"); ok {
		prefix, err := checkout(ctx, c.idl, ref, temp)
		if err != nil {
			return nil, at, err
		}
		at = place{shown: ref + ":" + prefix, dir: filepath.Join(temp, prefix)}
	} else if info, err := os.Stat(c.against); err != nil {
		return nil, at, errors.New("must be a folder, a file written by --out-schema, or git:REF")
	} else if !info.IsDir() {
		f, err := os.Open(c.against)
		if err != nil {
			return nil, at, err
		}
		defer f.Close()
		old, err := schema.Read(f)
		return old, place{shown: c.against + ":"}, err
	}
	old, diags, err := c.load(ctx, at.dir, true)
	if len(diags) > 0 && old == nil {
		first := diags[0].Span.Start
		err = fmt.Errorf("invalid IDL: %s:%d:%d: %s", first.File, first.Line, first.Column, diags[0].Message)
	}
	if err != nil {
		hint := ""
		if at.dir == c.against && (len(diags) == 0 || diags[0].Code == diag.GoPackage) {
			hint = "; a folder must be in a module that requires Lumi; use git:REF or a file written by --out-schema instead"
		}
		err = errors.New(strings.ReplaceAll(err.Error(), at.dir, path.Clean(at.shown)) + hint)
	}
	return old, at, err
}
