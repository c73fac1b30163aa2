package lumigl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// invalid returns the error of a parser for an invalid text.
func invalid(t *testing.T, p lumigl.Parser, src string) *lumigl.InvalidError {
	t.Helper()
	_, err := p.Parse(src)
	var e *lumigl.InvalidError
	if !errors.As(err, &e) {
		t.Fatalf("Parse = %v, want an *InvalidError", err)
	}
	return e
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && err.Error() != want {
		t.Errorf("error =\n%v\nwant\n%s", err, want)
	}
}

func nested(levels int) string {
	return `{"vertices": {"a": {"x": ` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}}}`
}

func TestMaxDepth(t *testing.T) {
	if _, err := lumigl.Parse(nested(997)); err != nil {
		t.Errorf("Parse of 1,000 levels: %v", err)
	}
	pointer := "/vertices/a/x" + strings.Repeat("/0", 996)
	expect(t, invalid(t, lumigl.Parser{}, nested(998)), "1:1023: lists and objects are nested deeper than 1000 levels (at "+pointer+"/0)")
	expect(t, invalid(t, lumigl.Parser{MaxDepth: 4}, nested(3)), "1:27: lists and objects are nested deeper than 4 levels (at /vertices/a/x/0)")
	expect(t, invalid(t, lumigl.Parser{MaxDepth: -1}, nested(1_000_000)), "1:1023: lists and objects are nested deeper than 1000 levels (at "+pointer+"/0)")
	if e := invalid(t, lumigl.Parser{}, strings.Repeat(`{"a":`, 1_000_000)); len(e.Faults) != 1 || e.Faults[0].Code != lumigl.DepthFault {
		t.Errorf("Parse of a million nested objects = %v, want one fault with code %s", e, lumigl.DepthFault)
	}
}

func TestMaxSize(t *testing.T) {
	const src = `{"vertices": {}}`
	expect(t, invalid(t, lumigl.Parser{MaxSize: 15}, src), "1:1: the file is larger than 15 bytes")
	must.Get((lumigl.Parser{MaxSize: 16}).Parse(src))(t)
	_, err := lumigl.Parser{MaxSize: 15}.Read(strings.NewReader(src))
	expect(t, err, "1:1: the file is larger than 15 bytes")
	must.Get((lumigl.Parser{MaxSize: 16}).Read(strings.NewReader(src)))(t)
}

func TestMaxValues(t *testing.T) {
	const src = `{"vertices": {"a": {"x": [1, {}]}, "b": {}}}`
	expect(t, invalid(t, lumigl.Parser{MaxValues: 6}, src),
		"1:41: too many values; the maximum in a file is 6 (at /vertices/b)")
	expect(t, invalid(t, lumigl.Parser{MaxValues: 4}, src),
		"1:27: too many values; the maximum in a file is 4 (at /vertices/a/x/0)")
	for _, enough := range []int{7, 0, -1} {
		must.Get((lumigl.Parser{MaxValues: enough}).Parse(src))(t)
	}
}

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "graph.json")
	must.Do(t, os.WriteFile(name, []byte(`{"vertices": {"a": {}}}`), 0o644))
	f := must.Get(os.Open(name))(t)
	defer f.Close()
	doc, err := lumigl.Read(f)
	if err != nil || doc.Base().Len() != 1 {
		t.Errorf("Read = %v, %v, want a document with one vertex", doc, err)
	}
	if _, err := lumigl.Read(f); err == nil || err.Error() != "1:1: the file is empty" {
		t.Errorf("Read at the end of the file = %v, want an error", err)
	}
	f.Close()
	if _, err := lumigl.Read(f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Read of a closed file = %v, want os.ErrClosed", err)
	}
}

func TestTooManyFaults(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\"vertices\": {\n")
	for i := range 5 {
		fmt.Fprintf(&b, "\"v%d\": {\"x\": 1,},\n", i)
	}
	b.WriteString("\"a\": {}}}")
	expect(t, invalid(t, lumigl.Parser{MaxFaults: 2}, b.String()), `2:14: trailing comma (at /vertices/v0)
3:14: trailing comma (at /vertices/v1)
too many errors; the rest of the file was not checked`)
	for _, enough := range []int{5, 0, -1} {
		if e := invalid(t, lumigl.Parser{MaxFaults: enough}, b.String()); len(e.Faults) != 5 || e.More {
			t.Errorf("Parse with MaxFaults %d returned %d faults, more: %t, want 5, false", enough, len(e.Faults), e.More)
		}
	}
}

func TestWrongForm(t *testing.T) {
	_, err := lumigl.ParseGraph(`{"resources": {}}`)
	expect(t, err, `1:1: expected a file with "vertices", got one with "resources"`)
	_, err = lumigl.ParseSnapshot(`{"vertices": {}}`)
	expect(t, err, `1:1: expected a file with "resources", got one with "vertices"`)
	_, err = lumigl.ParseSnapshot(``)
	expect(t, err, "1:1: the file is empty")
}

// bounded checks that the size of an error is bounded regardless of the text.
func bounded(t *testing.T, name string, e *lumigl.InvalidError) {
	t.Helper()
	if len(e.Faults) > 100 {
		t.Errorf("%s: Parse returned %d faults, want at most 100", name, len(e.Faults))
	}
	for _, f := range e.Faults {
		if len(f.Message) > 10_000 || len(f.Pointer) > 2*4096 || len(f.Notes) > 60 {
			t.Errorf("%s: fault has a message of %d bytes, a pointer of %d bytes, and %d notes", name, len(f.Message), len(f.Pointer), len(f.Notes))
		}
	}
}

// TestHostile parses files that are expensive to parse. It would run for hours if any step took quadratic time.
func TestHostile(t *testing.T) {
	const many = 100_000
	long := strings.Repeat("k", 1<<20)
	each := func(before, after string, one func(i int) string) string {
		var b strings.Builder
		b.WriteString(before)
		for i := range many {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(one(i))
		}
		b.WriteString(after)
		return b.String()
	}
	resource := func(i, to int) string {
		return fmt.Sprintf(`"urn:lumi:e::p:m::t:m:T::%d": {"type": "t:m:T", "properties": {"to": {"#ref": "urn:lumi:e::p:m::t:m:T::%d"}}}`, i, to)
	}
	// Names with the same letters in different orders are expensive to compare.
	shuffled := func(stride int) string {
		var b [499]byte
		for i := range b {
			b[i] = 'a' + byte(i*stride%len(b)%26)
		}
		return string(b[:])
	}
	for _, test := range []struct {
		name string
		code lumigl.Code
		src  string
	}{
		{"dangling", lumigl.DanglingFault, each(`{"resources": {`, `}}`, func(i int) string { return resource(i, many+i) })},
		{"dangling and alike", lumigl.DanglingFault, each(`{"vertices": {`, `}}`, func(i int) string {
			return fmt.Sprintf(`"%s%d": {"x": {"#ref": "%s%d"}}`, shuffled(2+i%200), i, shuffled(1), many+i)
		})},
		{"dangling with long names", lumigl.DanglingFault, fmt.Sprintf(
			`{"vertices": {"a%s": {"b%s": [{"#ref": "b%s"}, {"#ref": "c%s"}]}}}`, long, long, long, long)},
		{"dangling after a long key", lumigl.DanglingFault, each(`{"vertices": {"a": {"`+long+`": [`, `]}}}`, func(int) string {
			return `{"#ref": "b"}`
		})},
		{"one key", lumigl.DuplicateKeyFault, each(`{"vertices": {"a": {`, `}}}`, func(int) string { return `"k": 1` })},
		{"vertices of one key", lumigl.DuplicateKeyFault, each(`{"vertices": {`, `}}`, func(int) string { return `"k": {}` })},
		{"one circle", lumigl.CycleFault, each(`{"resources": {`, `}}`, func(i int) string { return resource(i, (i+1)%many) })},
		{"circles of two", lumigl.CycleFault, each(`{"resources": {`, `}}`, func(i int) string { return resource(i, i^1) })},
		{"circles of one", lumigl.CycleFault, each(`{"resources": {`, `}}`, func(i int) string { return resource(i, i) })},
		{"backwards", lumigl.OrderFault, each(`{"resources": {`, `,"urn:lumi:e::p:m::t:m:T::100000":
			{"type": "t:m:T", "properties": {}}}}`, func(i int) string { return resource(i, i+1) })},
		{"pending deletes", lumigl.DanglingFault, each(`{"resources": {}, "pending": {"deletes": [`, `]}}`, func(i int) string {
			return fmt.Sprintf(`{"urn": "urn:lumi:e::p:m::t:m:T::%d", "type": "t:m:T", "properties": {"a": {"#ref": "urn:lumi:e::p:m::t:m:T::%d"},
				"b": {"#ref": "x%d"}}}`, i, many-1-i, i)
		})},
		{"commas", lumigl.ExtraCommaFault, `{"vertices": {"a": {"x": [` + strings.Repeat(",", many) + `]}}}`},
		{"words", lumigl.LiteralFault, `{"vertices": {"a": {"x": [` + strings.Repeat(strings.Repeat("w", 1000)+" ", 1000) + `]}}}`},
		{"brackets", lumigl.BracketFault, `{"vertices": {"a": {"x": [` + strings.Repeat("}", many)},
		{"open brackets", lumigl.BracketFault, strings.Repeat(`{"a":[`, 499) + strings.Repeat("}", many)},
		{"dots", lumigl.ElisionFault, `{"vertices": {"a": {"x": [` + strings.Repeat("... ", many)},
		{"open strings", lumigl.StringFault, `{"vertices": {"a": {"x": [` + strings.Repeat("\"a\n", many)},
		{"open comments", lumigl.CommentFault, strings.Repeat("/*", many)},
		{"comments", lumigl.CommentFault, strings.Repeat("/**/", many)},
		{"bytes", lumigl.UTF8Fault, `{"vertices": {"` + strings.Repeat("\xff", many) + `": {}}}`},
		{"a number", lumigl.NumberFault, `{"vertices": {"a": {"x": ` + strings.Repeat("1_", many) + `}}}`},
		{"colons", lumigl.UnexpectedFault, `{"vertices": {` + strings.Repeat(":", many) + `}}`},
		{"escapes", lumigl.EscapeFault, `{"vertices": {"a": {"x": "` + strings.Repeat(`\q`, many) + `"}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := invalid(t, lumigl.Parser{}, test.src)
			bounded(t, test.name, e)
			if first := e.Faults[0]; first.Code != test.code {
				t.Errorf("first fault has code %s, want %s: %s", first.Code, test.code, clipped(first.Error()))
			}
		})
	}
}

func clipped(s string) string { return s[:min(len(s), 300)] }

func TestLongCycle(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"resources": {`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"urn:lumi:e::p:m::t:m:T::%d": {"type": "t:m:T", "properties": {"to": {"#ref": "urn:lumi:e::p:m::t:m:T::%d"}}}`, i, (i+1)%1000)
	}
	b.WriteString(`}}`)
	e := invalid(t, lumigl.Parser{}, b.String())
	names := strings.Split(strings.TrimPrefix(e.Faults[0].Message, "resources form a dependency cycle: "), " → ")
	if len(e.Faults) != 1 || len(names) != 61 || len(e.Faults[0].Notes) != 59 {
		t.Fatalf("Parse returned %d faults, %d names, and %d notes, want 1, 61, and 59", len(e.Faults), len(names), len(e.Faults[0].Notes))
	}
	for i, want := range map[int]string{0: "0", 29: "29", 31: "971", 60: "0"} {
		if names[i] != "urn:lumi:e::p:m::t:m:T::"+want {
			t.Errorf("name %d in the cycle = %s, want one that ends in %s", i, names[i], want)
		}
	}
	if names[30] != "… 941 more …" {
		t.Errorf("name in the middle of the cycle = %q, want %q", names[30], "… 941 more …")
	}
}
