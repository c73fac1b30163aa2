package lumigl_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// seeds adds the inputs of other tests to the corpus.
func seeds(f *testing.F) {
	f.Helper()
	examples := must.Get(filepath.Glob("testdata/examples/*.json"))(f)
	valid := must.Get(filepath.Glob("testdata/valid/*.json"))(f)
	for _, name := range append(examples, valid...) {
		f.Add(string(must.Get(os.ReadFile(name))(f)))
	}
	archives := must.Get(filepath.Glob("testdata/faults/*.txtar"))(f)
	for _, name := range archives {
		archive := must.Get(txtar.ParseFile(name))(f)
		for _, file := range archive.Files {
			f.Add(string(file.Data))
		}
	}
}

// FuzzParse checks that a valid file is equal and canonical after a round trip, and that the faults of an invalid file
// are sorted and within the text.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Add("{\"\nx: y\", \"z\": 1}")
	f.Add(`{"resources": 1, "pending": {"deletes": [{"urn": "u", "type": "t", "properties": {}}]}}`)
	f.Fuzz(func(t *testing.T, src string) {
		doc, err := lumigl.Parse(src)
		if err == nil {
			walk(doc)
			rewrite(t, doc)
			return
		}
		var invalid *lumigl.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Faults) == 0 {
			t.Fatalf("Parse returned a %T, want an *InvalidError with faults: %v", err, err)
		}
		last := 0
		for _, fault := range invalid.Faults {
			if fault.Offset < last || fault.End < fault.Offset || fault.End > len(src) {
				t.Errorf("fault %q has the range %d to %d, after a fault at %d, in a text of %d bytes", fault.Code, fault.Offset, fault.End, last, len(src))
			}
			last = fault.Offset
			line := 1 + strings.Count(src[:fault.Offset], "\n")
			column := 1 + len([]rune(src[1+strings.LastIndexByte(src[:fault.Offset], '\n'):fault.Offset]))
			if fault.Line != line || fault.Column != column || fault.Message == "" || len(fault.Message) > 10_000 {
				t.Errorf("fault at %d:%d has another position or no useful message: %s", line, column, fault.Error())
			}
			if fault.Code == lumigl.DanglingFault && slices.ContainsFunc(invalid.Faults, func(f lumigl.Fault) bool {
				return f.Code == lumigl.ElisionFault
			}) {
				t.Errorf("Parse returned a dangling reference in a file with an elision: %s", fault.Error())
			}
		}
		bounds(t, src, invalid)
		if fixed, ok := fix(src, invalid.Faults); ok && !invalid.More {
			if found := faultsOf(t, fixed); len(found) > 0 && isSyntax(found[0].Code) {
				t.Errorf("the text after all fixes has a syntax error: %v\n%q", found[0].Error(), fixed)
			}
		}
	})
}

// bounds checks that fixes are within the text, sorted, and do not overlap.
func bounds(t *testing.T, src string, invalid *lumigl.InvalidError) {
	t.Helper()
	var fixes []lumigl.Fix
	for _, f := range invalid.Faults {
		if f.Fix != nil {
			fixes = append(fixes, *f.Fix)
		}
		if f.Fix != nil && (f.Fix.Offset > f.Fix.End || f.Fix.End > len(src)) {
			t.Errorf("fix has the range %d to %d in a text of %d bytes", f.Fix.Offset, f.Fix.End, len(src))
		}
	}
	for i := 1; i < len(fixes); i++ {
		if fixes[i].Offset < fixes[i-1].End {
			t.Errorf("fixes %+v and %+v overlap", fixes[i-1], fixes[i])
		}
	}
}

// isSyntax reports whether a code identifies a rule of JSON. Fixes must not introduce such errors.
func isSyntax(code lumigl.Code) bool {
	switch code {
	case lumigl.TrailingCommaFault, lumigl.MissingCommaFault, lumigl.ExtraCommaFault, lumigl.MissingColonFault, lumigl.CommentFault,
		lumigl.StringFault, lumigl.NumberFault, lumigl.LiteralFault, lumigl.BracketFault, lumigl.KeyFault,
		lumigl.UnexpectedFault, lumigl.SpaceFault, lumigl.DuplicateKeyFault:
		return true
	}
	return false
}

// rewrite checks that a parsed document is equal after a round trip and that its text is then canonical.
func rewrite(t *testing.T, doc lumigl.Document) {
	t.Helper()
	if err := doc.Check(); err != nil {
		t.Fatalf("Check of a parsed document: %v", err)
	}
	text, err := lumigl.Append(nil, doc)
	if err != nil {
		t.Fatalf("Append of a parsed document: %v", err)
	}
	again, err := lumigl.Parse(string(text))
	if err != nil {
		t.Fatalf("Parse of a written document: %v\n%s", err, text)
	}
	if problem := difference(doc, again); problem != "" {
		t.Fatalf("a round trip changed the document: %s\n%s", problem, text)
	}
	second, err := lumigl.Append(nil, again)
	if err != nil || !bytes.Equal(text, second) {
		t.Fatalf("second Append = %v\n%s\nwant\n%s", err, second, text)
	}
}

// walk calls the accessors of all parts of a document.
func walk(doc lumigl.Document) {
	g := doc.Base()
	for v := range g.Vertices() {
		walkValue(v.Properties)
		walkValue(v.Extensions)
		g.Vertex(v.Key())
	}
	for _, m := range g.Fields {
		walkValue(m.Value)
	}
	if s, ok := doc.(*lumigl.Snapshot); ok {
		walkValue(s.Args)
		for _, r := range s.Pending.Deletes {
			walkValue(r.Properties)
		}
		for _, o := range s.Pending.Operations {
			walkValue(o.Resource.Properties)
		}
		_ = s.Sort()
	}
	_ = doc.Check()
	_, _ = lumigl.Append(nil, doc)
}

func walkValue(v lumigl.Value) {
	for _, e := range v.Elements() {
		walkValue(e)
	}
	for key, e := range v.Members() {
		walkValue(e)
		v.Get(key)
	}
	if target, _, ok := v.Target(); ok {
		_ = target.Key()
	}
	_, _ = v.Float()
	_, _ = v.Int()
	_, _ = v.Literal()
	v.Equal(lumigl.ListOf(v).At(0))
	for range v.References() {
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "-0.0e5", "1e21", "123456789012345678901", "1234567890123456789012", "0.000001", "0.0000001",
		"1e4611686018427387903", "1e-4611686018427387904", "10e99999999999999999999", "0e99999999999999999999",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := lumigl.NumberOf(s)
		if !ok {
			return
		}
		canonical, _ := v.Literal()
		w, ok := lumigl.NumberOf(canonical)
		if again, _ := w.Literal(); !ok || again != canonical || !v.Equal(w) {
			t.Errorf("Literal of %s = %s, then %s, want no change", s, canonical, again)
		}
		a, fits := v.Float()
		if b, also := w.Float(); a != b || fits != also {
			t.Errorf("Float of %s = %g, %t, but of %s = %g, %t", s, a, fits, canonical, b, also)
		}
	})
}
