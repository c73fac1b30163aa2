package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// counts are lines of code by what they are.
type counts struct{ idl, hand, stub, pack int }

func (c *counts) add(other counts) {
	c.idl += other.idl
	c.hand += other.hand
	c.stub += other.stub
	c.pack += other.pack
}

// written is what people wrote, and all what there is of the provider and of the package.
func (c counts) written() int { return c.idl + c.hand }
func (c counts) all() int     { return c.written() + c.stub + c.pack }

// unit is an IDL file with all that belongs to it.
type unit struct {
	// name is the IDL file's path without its extension.
	name string
	counts
	// resource says that the file declares a resource.
	resource bool
}

// tally is what the survey finds.
type tally struct {
	units []*unit
	// shared are the lines that belong to no single IDL file, by folder, and tests those of tests.
	shared map[string]int
	tests  int
	// runtime are the lines of Go that generated code builds on.
	runtime int
}

// survey counts the lines of an example and of the runtime.
func survey(example, runtime fs.FS) (*tally, error) {
	t := &tally{shared: map[string]int{}}
	err := walk(example, "idl", ".go", goLines, func(name string, _ []byte, lines int) {
		t.units = append(t.units, &unit{name: strings.TrimSuffix(name, ".go"), counts: counts{idl: lines}})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t.units, func(a, b *unit) int { return strings.Compare(a.name, b.name) })
	err = walk(example, "provider", ".go", goLines, t.provider)
	if err != nil {
		return nil, err
	}
	err = walk(example, "pack", ".ts", tsLines, func(name string, _ []byte, lines int) {
		if u := t.unit(strings.TrimSuffix(name, ".ts")); u != nil {
			u.pack += lines
		}
	})
	if err != nil {
		return nil, err
	}
	return t, t.countRuntime(runtime)
}

// provider counts a file of the provider. What is not a stub was written by hand.
func (t *tally) provider(name string, src []byte, lines int) {
	base := strings.TrimSuffix(name, ".go")
	if stub, ok := strings.CutSuffix(base, "_stub"); ok {
		if u := t.unit(stub); u != nil {
			u.stub += lines
			u.resource = bytes.Contains(src, []byte("ProviderOps interface {"))
			return
		}
	}
	switch u := t.owner(base); {
	case strings.HasSuffix(base, "_test") || isTest(name):
		t.tests += lines
	case u != nil:
		u.hand += lines
	default:
		t.shared[path.Dir(name)] += lines
	}
}

// isTest reports whether a file is in a folder that only tests use: servers to test against, and tools.
func isTest(name string) bool {
	dir := path.Dir(name)
	return strings.HasSuffix(dir, "server") || dir == "tools" || strings.HasPrefix(dir, "tools/")
}

func (t *tally) unit(name string) *unit {
	for _, u := range t.units {
		if u.name == name {
			return u
		}
	}
	return nil
}

// owner is the unit whose name the file's starts with: security_group_rules belongs to security_group.
func (t *tally) owner(base string) *unit {
	var best *unit
	for _, u := range t.units {
		if (base == u.name || strings.HasPrefix(base, u.name+"_")) && (best == nil || len(u.name) > len(best.name)) {
			best = u
		}
	}
	return best
}

// countRuntime counts what a provider's binary has of the runtime: not what is for tests and for engines.
func (t *tally) countRuntime(runtime fs.FS) error {
	return walk(runtime, ".", ".go", goLines, func(name string, _ []byte, lines int) {
		top, _, _ := strings.Cut(name, "/")
		if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".pb.go") &&
			!slices.Contains([]string{"internal", "providertest", "typescript"}, top) &&
			!strings.HasPrefix(name, "serve/plugin/") {
			t.runtime += lines
		}
	})
}

// walk visits the files below a folder that have an extension, with their names in it and the number of their lines.
func walk(
	fsys fs.FS, dir, extension string, count func(name string, src []byte) (int, error),
	visit func(name string, src []byte, lines int),
) error {
	return fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != extension || strings.HasSuffix(name, ".d.ts"):
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		lines, err := count(name, src)
		if err != nil {
			return fmt.Errorf("cannot count lines: %w", err)
		}
		visit(strings.TrimPrefix(name, dir+"/"), src, lines)
		return nil
	})
}
