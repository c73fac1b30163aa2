package lumigl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestFaults compares the faults in the files in testdata/faults with the expected ones. Files named *.quoted are Go
// string literals, for text that an archive cannot contain.
func TestFaults(t *testing.T) {
	golden.Archives(t, "testdata/faults/*.txtar", func(t *testing.T, archive *txtar.Archive) {
		var files []txtar.File
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".faults") {
				continue
			}
			found := txtar.File{Name: file.Name + ".faults", Data: []byte(report(t, input(t, file)))}
			files = append(files, file, found)
			t.Run(file.Name, func(t *testing.T) {
				if len(found.Data) == 0 {
					t.Error("Parse returned nil, want an error")
				}
				i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == found.Name })
				if *golden.Update {
					return
				}
				if i < 0 {
					t.Fatal("the archive has no expected faults; run the test with -update")
				}
				if want := archive.Files[i].Data; !bytes.Equal(found.Data, want) {
					t.Errorf("faults =\n%s\nwant\n%s", found.Data, want)
				}
			})
		}
		if *golden.Update {
			archive.Files = files
		}
	})
}

// input returns the text of a file in an archive.
func input(t *testing.T, file txtar.File) string {
	t.Helper()
	if !strings.HasSuffix(file.Name, ".quoted") {
		return string(file.Data)
	}
	text, err := strconv.Unquote(strings.TrimSpace(string(file.Data)))
	if err != nil {
		t.Fatalf("cannot unquote %s: %v", file.Name, err)
	}
	return text
}

// report returns all faults in a text with their details, and the text with all fixes applied.
func report(t *testing.T, src string) string {
	t.Helper()
	found := faultsOf(t, src)
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%d:%d %s %q", f.Line, f.Column, f.Code, src[f.Offset:f.End])
		if f.Pointer != "" {
			fmt.Fprintf(&b, " at %q", f.Pointer)
		}
		fmt.Fprintf(&b, "\n  %s\n", f.Message)
		for _, n := range f.Notes {
			fmt.Fprintf(&b, "  note %d:%d: %s\n", n.Line, n.Column, n.Message)
		}
		if f.Fix != nil {
			fmt.Fprintf(&b, "  fix: %s, %q -> %q\n", f.Fix.Message, src[f.Fix.Offset:f.Fix.End], f.Fix.Text)
		}
	}
	pointersLead(t, src, found)
	if fixed, ok := fix(src, found); ok {
		if _, err := lumigl.Parse(fixed); err != nil {
			t.Errorf("Parse after all fixes: %v\n%s", err, fixed)
		}
	}
	return b.String()
}

// pointersLead checks that all pointers resolve, if package json can parse the text and there are no duplicate keys.
func pointersLead(t *testing.T, src string, found []lumigl.Fault) {
	t.Helper()
	var root any
	twice := func(f lumigl.Fault) bool { return f.Code == lumigl.DuplicateKeyFault }
	if slices.ContainsFunc(found, twice) || json.Unmarshal([]byte(src), &root) != nil {
		return
	}
	for _, f := range found {
		at := root
		for i, key := range strings.Split(f.Pointer, "/") {
			if i == 0 {
				continue
			}
			key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
			ok := false
			switch inside := at.(type) {
			case map[string]any:
				at, ok = inside[key]
			case []any:
				if n, err := strconv.Atoi(key); err == nil && n < len(inside) {
					at, ok = inside[n], true
				}
			}
			if !ok {
				t.Errorf("pointer %q of fault %q does not resolve", f.Pointer, f.Message)
				break
			}
		}
	}
}

// faultsOf returns the faults in a text, or nil if it is valid.
func faultsOf(t interface {
	Helper()
	Fatalf(string, ...any)
}, src string,
) []lumigl.Fault {
	t.Helper()
	_, err := lumigl.Parse(src)
	if err == nil {
		return nil
	}
	var invalid *lumigl.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("Parse returned a %T, want an *InvalidError: %v", err, err)
	}
	return invalid.Faults
}

// fix returns src with all fixes applied, and whether every fault has a fix.
func fix(src string, found []lumigl.Fault) (string, bool) {
	var fixes []lumigl.Fix
	for _, f := range found {
		if f.Fix == nil {
			return "", false
		}
		fixes = append(fixes, *f.Fix)
	}
	var b strings.Builder
	done := 0
	for _, f := range fixes {
		b.WriteString(src[done:f.Offset] + f.Text)
		done = f.End
	}
	return b.String() + src[done:], true
}

// TestAllCodesTested checks that each code occurs in testdata/faults. SizeFault and DepthFault have tests of their own.
func TestAllCodesTested(t *testing.T) {
	broken := map[string]bool{string(lumigl.SizeFault): true, string(lumigl.DepthFault): true}
	archives := must.Get(filepath.Glob("testdata/faults/*.txtar"))(t)
	for _, name := range archives {
		archive := must.Get(txtar.ParseFile(name))(t)
		for _, file := range archive.Files {
			if !strings.HasSuffix(file.Name, ".faults") {
				for _, f := range faultsOf(t, input(t, file)) {
					broken[string(f.Code)] = true
				}
			}
		}
	}
	for _, code := range codes(t) {
		if !broken[code] {
			t.Errorf("no file in testdata/faults has a fault with code %q", code)
		}
	}
}

// codes returns the values of all constants of type Code.
func codes(t *testing.T) []string {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "fault.go", nil, 0))(t)
	var all []string
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			if name, ok := constant.Type.(*ast.Ident); ok && name.Name == "Code" {
				all = append(all, must.Get(strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value))(t))
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("fault.go contains no constants of type Code")
	}
	return all
}

// TestExamples parses the examples in the design note.
func TestExamples(t *testing.T) {
	for _, name := range []string{"general", "tag", "snapshot"} {
		t.Run(name, func(t *testing.T) {
			src := must.Get(os.ReadFile(filepath.Join("testdata", "examples", name+".json")))(t)
			golden.File(t, filepath.Join("testdata", "examples", name+".faults"), report(t, string(src)))
		})
	}
}
