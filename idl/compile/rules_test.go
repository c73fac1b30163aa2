package compile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/idl/compile"
	"github.com/lumi-idl/lumi/idl/diag"
	"github.com/lumi-idl/lumi/idl/schema"
	"github.com/lumi-idl/lumi/test/kit/golden"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// TestRules compiles the cases in testdata/rules. Each case is a txtar archive. It consists of a comment, the files of
// a module named example.com/shop, and a last file named want with the output of the compiler. The comment may contain
// directives:
//
//	dir: PATH        compile this folder instead of idl
//	marker: PATH     compile with --marker=PATH
//	package: NAME    compile with --package=NAME
//	tokens: FORM     compile with --tokens=FORM
//	symlink: NEW OLD make NEW a symbolic link to OLD before compiling
//
// The output lists each diagnostic with its span, the source text of the span, its notes, and its suggestion. If there
// are none, it lists the model, one line per declaration or property.
func TestRules(t *testing.T) {
	golden.Archives(t, "testdata/rules/*.txtar", func(t *testing.T, archive *txtar.Archive) {
		t.Parallel()
		last := len(archive.Files) - 1
		if last < 0 || archive.Files[last].Name != "want" {
			t.Fatal("the last file of the archive is not named want")
		}
		golden.Part(t, &archive.Files[last], outcome(t, string(archive.Comment), archive.Files[:last]))
	})
}

// prepare writes the files of a case to a module and parses the directives in comment.
func prepare(t *testing.T, comment string, list []txtar.File) (module string, opts compile.Options) {
	t.Helper()
	files := map[string]string{}
	for _, f := range list {
		files[f.Name] = string(f.Data)
	}
	module = newModule(t, files)
	opts = compile.Options{Dir: filepath.Join(module, "idl")}
	for line := range strings.Lines(comment) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "dir":
			opts.Dir = filepath.Join(module, filepath.FromSlash(value))
		case "marker":
			opts.Markers = append(opts.Markers, value)
		case "package":
			opts.Package = value
		case "tokens":
			opts.Tokens = compile.TokenForm(value)
		case "symlink":
			link, target, _ := strings.Cut(value, " ")
			must.Do(t, os.Symlink(target, filepath.Join(module, filepath.FromSlash(link))))
		}
	}
	return module, opts
}

// outcome compiles a case and formats the result, without machine-dependent parts.
func outcome(t *testing.T, comment string, list []txtar.File) string {
	t.Helper()
	module, opts := prepare(t, comment, list)
	pkg, diags, err := load(t, opts)
	var b strings.Builder
	var usage *compile.UsageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(&b, "usage: %v\n", err)
	case err != nil:
		fmt.Fprintf(&b, "failure: %v\n", err)
	case pkg != nil:
		describeModel(&b, pkg)
	}
	for _, d := range diags {
		fmt.Fprintf(&b, "%s\n\t%s %s: %s\n", place(d.Span), d.Severity, d.Code, d.Message)
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "\tnote: %s: %s\n", place(n.Span), n.Message)
		}
		if d.Suggestion != "" {
			fmt.Fprintf(&b, "\thelp: %s\n", d.Suggestion)
		}
	}
	return strings.NewReplacer(
		opts.Dir+string(filepath.Separator), "", module, "$SHOP", filepath.Dir(module), "$TEMP",
	).Replace(b.String())
}

// place formats a span together with its source text.
func place(s diag.Span) string {
	if s.Start.Line == 0 {
		return s.Start.File
	}
	src, err := os.ReadFile(s.Start.File)
	if err != nil {
		return fmt.Sprintf("%s: %v", s.Start.File, err)
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	at := func(p diag.Position) int {
		return len(bytes.Join(lines[:p.Line-1], nil)) + p.Column - 1
	}
	return fmt.Sprintf("%s:%d:%d-%d:%d %q", s.Start.File, s.Start.Line, s.Start.Column, s.End.Line, s.End.Column,
		src[at(s.Start):at(s.End)])
}

func describeModel(b *strings.Builder, pkg *schema.Package) {
	for _, other := range pkg.Packages {
		fmt.Fprintf(b, "package %s, npm %s %s\n", other.Name, other.NPM, other.Versions)
		describeModel(b, other)
	}
	if len(pkg.Packages) > 0 {
		fmt.Fprintf(b, "package %s, npm %s\n", pkg.Name, pkg.NPM)
	}
	for _, m := range pkg.Modules {
		for _, f := range m.Files {
			fmt.Fprintf(b, "%s\n", f.Path())
			for _, d := range f.Decls {
				describeDecl(b, d)
			}
		}
	}
}

func describeDecl(b *strings.Builder, d schema.Decl) {
	kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", d), "*schema."))
	fmt.Fprintf(b, "\t%s %s", kind, d.Head().Name)
	describeOption(b, "deprecated", d.Head().Deprecated)
	switch d := d.(type) {
	case *schema.Resource:
		fmt.Fprintf(b, " %s", d.Token)
		describeOption(b, "was", strings.Join(d.Was, ","))
	case *schema.Enum:
		for i, key := range schema.MemberKeys(d) {
			fmt.Fprintf(b, " %s=%q", key, d.Members[i].Value)
			describeOption(b, "deprecated", d.Members[i].Deprecated)
		}
	case *schema.Alias:
		fmt.Fprintf(b, " %s", typeText(d.Target))
		describeConstraints(b, d.Constraints)
	case *schema.Const:
		fmt.Fprintf(b, " %T %#v", d.Value, d.Value)
	}
	b.WriteString("\n")
	for _, p := range schema.Properties(d) {
		fmt.Fprintf(b, "\t\t%s %s %s", p.Field, p.Name, typeText(p.Type))
		for _, flag := range []struct {
			name string
			set  bool
		}{
			{"pointer", p.Pointer}, {"optional", p.Optional}, {"out", p.Out}, {"in", p.In}, {"replaces", p.Replaces},
			{"secret", p.Secret},
		} {
			if flag.set {
				b.WriteString(" " + flag.name)
			}
		}
		describeConstraints(b, p.Constraints)
		if p.Default != nil {
			fmt.Fprintf(b, " default=%#v", p.Default)
		}
		describeOption(b, "deprecated", p.Deprecated)
		describeOption(b, "conflictsWith", strings.Join(p.ConflictsWith, ","))
		describeOption(b, "was", strings.Join(p.Was, ","))
		describeOption(b, "requiredWith", strings.Join(p.RequiredWith, ","))
		describeOption(b, "exactlyOneOf", strings.Join(p.ExactlyOneOf, ","))
		b.WriteString("\n")
	}
	for _, r := range schema.Rules(d) {
		fmt.Fprintf(b, "\t\trule %s %q\n", r.JSON(), r.Message)
	}
}

func describeConstraints(b *strings.Builder, c *schema.Constraints) {
	for name, arg := range c.All() {
		fmt.Fprintf(b, " %s=%v", name, arg)
	}
}

func describeOption(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, " %s=%q", name, value)
	}
}

func typeText(t schema.Type) string {
	switch t := t.(type) {
	case schema.Primitive:
		return string(t)
	case *schema.List:
		return "[]" + typeText(t.Elem)
	case *schema.Map:
		return "map[" + typeText(t.Key) + "]" + typeText(t.Elem)
	case *schema.Ref:
		if r, ok := t.Decl.(*schema.Resource); ok && r.Foreign() != nil {
			return r.Token
		}
		return t.Decl.Head().File.Module.Token() + "." + t.Decl.Head().Name
	}
	return fmt.Sprintf("unknown type %T", t)
}
