package plugin

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestFirstLine(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, test := range []struct{ written, line, rest string }{
		{"1234\n", "1234", ""},
		{"1234\nand more\n", "1234", "and more\n"},
		{"\n\n", "", "\n"},
		{long, long[:maxLine], ""},
	} {
		for _, size := range []int{1, 3, len(test.written)} {
			var rest bytes.Buffer
			f := &firstLine{rest: &rest, line: make(chan string, 1)}
			for part := range slices.Chunk([]byte(test.written), size) {
				if n, err := f.Write(part); n != len(part) || err != nil {
					t.Fatalf("got %d, %v", n, err)
				}
			}
			if line := <-f.line; line != test.line {
				t.Errorf("%q by %d: got the line %q", test.written, size, line)
			}
			if len(test.written) < maxLine && rest.String() != test.rest {
				t.Errorf("%q by %d: got the rest %q", test.written, size, &rest)
			}
		}
	}
}

func TestTail(t *testing.T) {
	var said tail
	for range 1000 {
		_, _ = said.Write([]byte("something long\n")) // It cannot fail.
	}
	_, _ = said.Write([]byte("the end\n"))
	if got := said.String(); len(got) > maxTail || !strings.HasSuffix(got, "something long\nthe end") {
		t.Errorf("got %q", got)
	}
}
