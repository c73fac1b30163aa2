package typescript

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
)

// Collisions reports functions of the IDL that would hide exports of hand-written files: in a barrel, the name of a
// generated file wins over the same name in "export *". Idl and pack are the folders as shown in messages; existing
// contains the files in pack, and may be nil. The error is one of reading existing.
func Collisions(pkg *schema.Package, idl, pack string, existing fs.FS) ([]diag.Diagnostic, error) {
	if existing == nil {
		return nil, nil
	}
	var list []diag.Diagnostic
	for _, f := range folders(pkg) {
		names := map[string]*schema.Function{}
		for _, file := range f.files {
			for _, d := range file.Decls {
				if fn, ok := d.(*schema.Function); ok {
					for _, name := range schema.TSNames(fn) {
						names[name] = fn
					}
				}
			}
		}
		if len(names) == 0 {
			continue
		}
		neighbors, err := handWritten(existing, f)
		if err != nil {
			return nil, err
		}
		if slices.Contains(neighbors, barrelName) {
			continue
		}
		for _, neighbor := range neighbors {
			file := path.Join(f.path, neighbor)
			source, err := fs.ReadFile(existing, file)
			if err != nil {
				return nil, err
			}
			for _, export := range exportsIn(string(source)) {
				if fn := names[export.name]; fn != nil {
					list = append(list, collision(fn, export, idl, filepath.Join(pack, filepath.FromSlash(file))))
				}
			}
		}
	}
	return diag.Sort(list), nil
}

func collision(fn *schema.Function, e export, idl, file string) diag.Diagnostic {
	span := func(file string, line, column, length int) diag.Span {
		start := diag.Position{File: file, Line: line, Column: column}
		end := start
		end.Column += length
		return diag.Span{Start: start, End: end}
	}
	return diag.Diagnostic{
		Code: diag.NameCollision, Severity: diag.Error,
		Span:       span(filepath.Join(idl, filepath.FromSlash(fn.File.Path())), fn.Pos.Line, fn.Pos.Column, len(fn.Name)),
		Message:    fmt.Sprintf("%s and the hand-written file %s would both export %s", fn.Name, filepath.Base(file), e.name),
		Notes:      []diag.Note{{Span: span(file, e.line, e.column, len(e.name)), Message: "the other " + e.name + " is here"}},
		Suggestion: "rename one of them",
	}
}

// export is an exported name in TypeScript source, with its position.
type export struct {
	name         string
	line, column int
}

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	// exported matches an exported declaration or namespace up to its name, or a list of exported names.
	exported = regexp.MustCompile(`\bexport\s+(?:(?:(?:declare|abstract|async|const|function\s*\*?|class|let|var|enum|interface|type|` +
		`namespace|module)\s*)+\s|\*\s*as\s+)([\pL_$][\pL\pN_$]*)|\bexport\s+(?:type\s*)?\{([^}]*)\}`)
	// listed matches the name under which a list exports one of its elements.
	listed = regexp.MustCompile(`([\pL_$][\pL\pN_$]*)\s*(?:,|$)`)
)

// exportsIn returns the names that TypeScript source exports, other than those of "export *" and of destructured
// variables. It needs no parser: it is wrong only about text within strings.
func exportsIn(source string) (list []export) {
	blank := func(comment string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, comment)
	}
	code := comments.ReplaceAllStringFunc(source, blank)
	add := func(from, to int) {
		before := code[:from]
		list = append(list, export{code[from:to], 1 + strings.Count(before, "\n"), from - strings.LastIndexByte(before, '\n')})
	}
	for _, m := range exported.FindAllStringSubmatchIndex(code, -1) {
		if m[2] >= 0 {
			add(m[2], m[3])
			continue
		}
		for _, name := range listed.FindAllStringSubmatchIndex(code[m[4]:m[5]], -1) {
			add(m[4]+name[2], m[4]+name[3])
		}
	}
	return list
}
