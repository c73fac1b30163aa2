package diag

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/lumi-idl/lumi/test/kit/expect"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// at returns a span within one line.
func at(file string, line, from, to int) Span {
	return Span{Start: Position{file, line, from}, End: Position{file, line, to}}
}

// sources returns a TextOptions.Source function that serves in-memory files.
func sources(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		content, ok := files[name]
		if !ok {
			return nil, errors.New("no such file")
		}
		return []byte(content), nil
	}
}

func text(t testing.TB, list []Diagnostic, opts TextOptions) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, Text(&b, list, opts))
	return b.String()
}

func TestText(t *testing.T) {
	long := "\tA string // " + strings.Repeat("x", 60) + "HERE" + strings.Repeat("y", 60)
	tests := []struct {
		name   string
		source string
		list   []Diagnostic
		want   string
	}{
		{
			name: "nothing",
			want: "",
		},
		{
			name:   "notes and help",
			source: "package a\n\ntype T struct {\n\tA, B string `lumi:\"name=x\"`\n}\n",
			list: []Diagnostic{{
				Code: "E0102", Severity: Error, Span: at("a.go", 4, 5, 6), Message: "two properties are called x",
				Notes: []Note{
					{Span: at("a.go", 4, 2, 3), Message: "the first is here"},
					{Message: "names count on the wire"},
				},
				Suggestion: "give each field a line and a name of its own",
			}},
			want: `
a.go:4:5: error E0102: two properties are called x
 4 |     A, B string ¶lumi:"name=x"¶
   |        ^
a.go:4:2: note: the first is here
 4 |     A, B string ¶lumi:"name=x"¶
   |     ^
note: names count on the wire
help: give each field a line and a name of its own

1 error
`,
		},
		{
			name:   "several lines",
			source: "type (\n\tA struct {\n\t\tB int\n\t\tC int\n\t}\n)\n",
			list: []Diagnostic{
				{Code: "E1", Severity: Error, Message: "m", Span: Span{Position{"a.go", 2, 4}, Position{"a.go", 5, 3}}},
				{Code: "E2", Severity: Error, Message: "m", Span: Span{Position{"a.go", 2, 4}, Position{"a.go", 3, 4}}},
				{Code: "E3", Severity: Warning, Message: "m", Span: Span{Position{"a.go", 2, 4}, Position{"a.go", 3, 1}}},
			},
			want: `
a.go:2:4: error E1: m
 2 |     A struct {
   |       ^^^^^^^^
..
 5 |     }
   |     ^

a.go:2:4: error E2: m
 2 |     A struct {
   |       ^^^^^^^^
 3 |         B int
   |         ^

a.go:2:4: warning E3: m
 2 |     A struct {
   |       ^^^^^^^^

2 errors, 1 warning
`,
		},
		{
			name:   "long line",
			source: long,
			list: []Diagnostic{
				{Code: "E1", Severity: Error, Message: "m", Span: at("a.go", 1, 74, 78)},
				{Code: "E1", Severity: Error, Message: "m", Span: at("a.go", 1, 2, 3)},
				{Code: "E1", Severity: Error, Message: "m", Span: at("a.go", 1, len(long), len(long)+1)},
			},
			want: `
a.go:1:74: error E1: m
 1 | …xxxxxxxxxxxxxxxxxxHEREyyyyyyyyyyyyyyyyyy…
   |                    ^^^^

a.go:1:2: error E1: m
 1 |     A string // xxxxxxxxxxxxxxxxxxxxxxxx…
   |     ^

a.go:1:137: error E1: m
 1 | …yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
   |                                         ^

3 errors
`,
		},
		{
			name:   "wide and combining runes",
			source: "a 世界 e\u0301 x\r\n",
			list: []Diagnostic{
				{Code: "E1", Severity: Error, Message: "m", Span: at("a.go", 1, 3, 9)},
				{Code: "E1", Severity: Error, Message: "m", Span: at("a.go", 1, 10, 13)},
				{Code: "E1", Severity: Error, Message: "m", Span: at("a.go", 1, 14, 15)},
			},
			want: `
a.go:1:3: error E1: m
 1 | a 世界 ` + "e\u0301" + ` x
   |   ^^^^

a.go:1:10: error E1: m
 1 | a 世界 ` + "e\u0301" + ` x
   |        ^

a.go:1:14: error E1: m
 1 | a 世界 ` + "e\u0301" + ` x
   |          ^

3 errors
`,
		},
		{
			name:   "places that are half known or wrong",
			source: "one\n",
			list: []Diagnostic{
				{Code: "E1", Severity: Error, Message: "nowhere"},
				{Code: "E1", Severity: Error, Message: "file", Span: Span{Start: Position{File: "a.go"}}},
				{Code: "E1", Severity: Error, Message: "line", Span: at("a.go", 1, 0, 0)},
				{Code: "E1", Severity: Error, Message: "line end", Span: at("a.go", 1, 4, 4)},
				{Code: "E1", Severity: Error, Message: "past the line's end", Span: at("a.go", 1, 40, 50)},
				{Code: "E1", Severity: Error, Message: "past the file's end", Span: at("a.go", 9, 1, 2)},
				{Code: "E1", Severity: Error, Message: "end before start", Span: at("a.go", 1, 2, 1)},
				{Code: "E1", Severity: Error, Message: "no such file", Span: at("b.go", 1, 2, 1)},
			},
			want: `
error E1: nowhere

a.go: error E1: file

a.go:1: error E1: line
 1 | one

a.go:1:4: error E1: line end
 1 | one
   |    ^

a.go:1:40: error E1: past the line's end
 1 | one
   |    ^

a.go:9:1: error E1: past the file's end

a.go:1:2: error E1: end before start
 1 | one
   |  ^

b.go:1:2: error E1: no such file

8 errors
`,
		},
		{
			name:   "control characters",
			source: "a\x1b[31mb\x00\u202ec\xff\n",
			list: []Diagnostic{{
				Code: "E1", Severity: Error, Span: at("a.go", 1, 2, 3),
				Message: "found \x1b[2J\u009b\u2066\n\thave (int)\r\n\twant ()", Suggestion: "do\tnot\x07",
			}},
			want: `
a.go:1:2: error E1: found ␛[2J��
    have (int)
    want ()
 1 | a␛[31mb␀�c�
   |  ^
help: do not␇

1 error
`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := text(t, test.list, TextOptions{Source: sources(map[string]string{"a.go": test.source}), Width: 47})
			got = strings.ReplaceAll(got, "`", "¶")
			want := strings.TrimPrefix(test.want, "\n")
			expect.Equal(t, want, got, "Text")
		})
	}
}

func TestTextColor(t *testing.T) {
	list := []Diagnostic{{Code: "E1", Severity: Warning, Span: at("a.go", 1, 1, 2), Message: "m", Suggestion: "s"}}
	got := text(t, list, TextOptions{Color: true, Source: sources(map[string]string{"a.go": "x"})})
	want := "\x1b[1ma.go:1:1:\x1b[0m \x1b[1;33mwarning E1:\x1b[0m m\n" +
		"\x1b[34m 1 |\x1b[0m x\n\x1b[34m   |\x1b[0m \x1b[1;33m^\x1b[0m\n" +
		"\x1b[1;36mhelp:\x1b[0m s\n\n1 warning\n"
	expect.Equal(t, want, got, "Text")
}

func TestTextAndJSONEscape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anything := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
			return string(b)
		}))
		position := rapid.Custom(func(t *rapid.T) Position {
			small := rapid.IntRange(-2, 40)
			return Position{"a.go", small.Draw(t, "line"), small.Draw(t, "column")}
		})
		d := Diagnostic{
			Code: Code(anything.Draw(t, "code")), Severity: Error, Message: anything.Draw(t, "message"),
			Span:  Span{Start: position.Draw(t, "start"), End: position.Draw(t, "end")},
			Notes: []Note{{Message: anything.Draw(t, "note")}}, Suggestion: anything.Draw(t, "suggestion"),
		}
		source := anything.Draw(t, "source")
		var b, j strings.Builder
		opts := TextOptions{Source: sources(map[string]string{"a.go": source}), Width: rapid.IntRange(0, 30).Draw(t, "w")}
		must.Do(t, Text(&b, []Diagnostic{d}, opts))
		must.Do(t, JSON(&j, []Diagnostic{d}))
		for _, r := range b.String() + j.String() {
			if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("Text or JSON printed the control character %U; text is %q", r, b.String())
			}
		}
		if strings.Count(j.String(), "\n") != 1 {
			t.Fatalf("JSON = %q, want one line", j.String())
		}
	})
}

func TestGitHub(t *testing.T) {
	list := []Diagnostic{
		{
			Code: "E1", Severity: Error, Span: at("a,b:%.go", 1, 2, 3), Message: "100% <a>\n::error::x\x1b\r\n, y: z",
			Notes: []Note{{Span: at("b.go", 4, 5, 6), Message: "n"}, {Message: "no place"}}, Suggestion: "s",
		},
		{Code: "E2", Severity: Warning, Span: Span{Start: Position{File: "a.go"}, End: Position{File: "a.go"}}, Message: "m"},
		{Code: "E3", Severity: Error, Span: Span{Position{"a.go", 3, 9}, Position{"a.go", 5, 2}}, Message: "lines"},
	}
	const want = `::error file=a%2Cb%3A%25.go,line=1,endLine=1,col=2,endColumn=3,title=E1::` +
		`100%25 <a>%0A    ::error::x␛%0A    , y: z%0Ab.go:4:5: note: n%0Anote: no place%0Ahelp: s
::warning file=a.go,title=E2::m
::error file=a.go,line=3,endLine=5,title=E3::lines
`
	var b bytes.Buffer
	must.Do(t, GitHub(&b, list))
	expect.Equal(t, want, b.String(), "GitHub")
}

func TestJSON(t *testing.T) {
	list := []Diagnostic{
		{
			Code: "E1", Severity: Error, Span: at("a.go", 1, 2, 3), Message: "<a> & \x1b\u009b\u202e\U000e0001 世",
			Notes: []Note{{Span: at("b.go", 4, 5, 6), Message: "n"}, {Message: "no place"}}, Suggestion: "s",
		},
		{Code: "E2", Severity: Warning, Span: Span{Start: Position{File: "a.go"}, End: Position{File: "a.go"}}, Message: "m"},
	}
	var b bytes.Buffer
	must.Do(t, JSON(&b, list))
	want := `{"code":"E1","severity":"error",` +
		`"span":{"start":{"file":"a.go","line":1,"column":2},"end":{"file":"a.go","line":1,"column":3}},` +
		`"message":"<a> & \u001b\u009b\u202e\udb40\udc01 世","notes":[` +
		`{"span":{"start":{"file":"b.go","line":4,"column":5},"end":{"file":"b.go","line":4,"column":6}},"message":"n"},` +
		`{"message":"no place"}],"suggestion":"s"}
{"code":"E2","severity":"warning","span":{"start":{"file":"a.go"},"end":{"file":"a.go"}},"message":"m"}
`
	expect.Equal(t, want, b.String(), "JSON")
	dec := json.NewDecoder(&b)
	for _, d := range list {
		var got Diagnostic
		must.Do(t, dec.Decode(&got))
		expect.Equal(t, d, got, "decoded diagnostic")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteErrors(t *testing.T) {
	list := []Diagnostic{{Code: "E1", Severity: Error, Message: "m"}}
	if err := Text(brokenWriter{}, list, TextOptions{}); err == nil {
		t.Error("Text returned nil, want the write error")
	}
	if err := JSON(brokenWriter{}, list); err == nil {
		t.Error("JSON returned nil, want the write error")
	}
}

func TestTextLongLine(t *testing.T) {
	line := strings.Repeat("é", 50_000) + "WRONG" + strings.Repeat("é", 50_000)
	at := Position{File: "a.go", Line: 1, Column: 100_001}
	end := at
	end.Column += len("WRONG")
	var out strings.Builder
	must.Do(t, Text(&out, []Diagnostic{{Code: "Code", Severity: Error, Span: Span{Start: at, End: end}, Message: "wrong"}},
		TextOptions{Width: 28, Source: func(string) ([]byte, error) { return []byte(line), nil }}))
	const want = "a.go:1:100001: error Code: wrong\n" +
		" 1 | …ééééééééWRONGéééééééé…\n" +
		"   |          ^^^^^\n\n" +
		"1 error\n"
	expect.Equal(t, want, out.String())
}
