package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestPieces(t *testing.T) {
	for _, test := range []struct{ extension, source, want string }{
		{".go", "package p // a comment\n\nvar stands = `one\ntwo` /* three */ + \"//four\"\n", "1 // a comment|3 `one\ntwo`|4 /* three */|4 \"//four\""},
		{".go", "`lumi:\"pattern='a',says='b'\"`", "1 `lumi:\"pattern='a',='b'\"`"},
		{".go", "not Go # at all \"text", "1 \"text"},
		{".md", "# Title\n```go\nstands\n```\n    stands\ntext\n", "1 # Title|6 text|7 "},
		{".ts", "// one\nconst stands = \"a//b\" + 'c'; /* two\nthree */ `d\n${e}`", "1 // one|2 \"a//b\"|2 'c'|2 /* two\nthree */|3 `d\n${e}`"},
		{".sh", "# one\nstands=\"two # three\" 'four'\n", "1 # one|2 \"two # three\"|2 'four'"},
	} {
		var got []string
		for _, p := range pieces(test.extension, []byte(test.source)) {
			got = append(got, fmt.Sprint(p.line, " ", p.text))
		}
		if got := strings.Join(got, "|"); got != test.want {
			t.Errorf("pieces(%q, %q)\n=    %q\nwant %q", test.extension, test.source, got, test.want)
		}
	}
}
