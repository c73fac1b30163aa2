package document

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/internal/cli/console"
	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lang/muranopl"
	"github.com/lumi-idl/lumi/lang/muranopl/catalog"
)

// ReadSchemas reads schema files written by cidlc.
func ReadSchemas(con *console.Console, files []string) ([]*schema.Package, error) {
	all := make([]*schema.Package, len(files))
	for i, name := range files {
		in, err := ReadFile(con, name)
		if err != nil {
			return nil, err
		}
		if all[i], err = schema.Read(strings.NewReader(in.Src)); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	return all, nil
}

// OpenClasses reads folders and archives of classes. If classes have errors, it returns both the catalog and a
// [catalog.Errors].
func OpenClasses(con *console.Console, names []string) (*catalog.Catalog, error) {
	con.Doing("reading %s", strings.Join(names, ", "))
	classes, err := catalog.Open(names...)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, FileError(path.Path, err)
	}
	if err == nil && len(classes.Errors) > 0 {
		err = classes.Errors
	}
	return classes, err
}

// PrintClassErrors prints errors in classes and models as text on standard error or, with --json, as JSON on standard
// output. It then returns [console.ErrWrong]. It returns other errors unchanged.
func PrintClassErrors(con *console.Console, classes *catalog.Catalog, err error) error {
	if one, ok := errors.AsType[*muranopl.Error](err); ok {
		err = catalog.Errors{one}
	}
	errs, ok := errors.AsType[catalog.Errors](err)
	if !ok {
		return err
	}
	for _, one := range errs {
		if !con.JSON {
			con.Separate()
			printClassError(con, classes.Sources, one)
			continue
		}
		if err := con.PrintJSON(struct {
			File    string `json:"file"`
			Line    int    `json:"line,omitempty"`
			Column  int    `json:"column,omitempty"`
			Kind    string `json:"kind"`
			Message string `json:"message"`
			Warning bool   `json:"warning,omitempty"`
		}{one.Pos.File, one.Pos.Line, one.Pos.Column, string(one.Kind), one.Message, one.Warning}); err != nil {
			return err
		}
	}
	return console.ErrWrong
}

// printClassError prints an error with its source line and call stack.
func printClassError(con *console.Console, sources map[string]string, wrong *muranopl.Error) {
	where, kind := "", string(wrong.Kind)
	if wrong.Kind == muranopl.Thrown && len(wrong.Names) > 0 {
		kind = wrong.Names[0]
	}
	if wrong.Pos != (muranopl.Position{}) {
		where = con.Err.Paint(term.Bold, term.Visible(wrong.Pos.String())+":") + " "
	}
	severity, color := "error:", term.BoldRed
	if wrong.Warning {
		severity, color = "warning:", term.BoldYellow
	}
	fmt.Fprintf(con.Stderr, "%s%s %s\n", where, con.Err.Paint(color, severity), term.Paragraph(wrong.Message+" ["+kind+"]"))
	if src, ok := sources[wrong.Pos.File]; ok && wrong.Pos.Line > 0 && !IsSigned(src) {
		at := 0
		for range wrong.Pos.Line - 1 {
			at += strings.IndexByte(src[at:], '\n') + 1
		}
		for range wrong.Pos.Column - 1 {
			_, size := utf8.DecodeRuneInString(src[at:])
			at += size
		}
		(&term.Snippet{Stream: con.Err, Source: src}).Print(con.Stderr, wrong.Pos.Line, at, at+1, color)
	}
	for line := range strings.Lines(wrong.StackTrace()) {
		fmt.Fprintf(con.Stderr, "  %s\n", term.Visible(strings.TrimSuffix(line, "\n")))
	}
}
