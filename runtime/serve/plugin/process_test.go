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
					t.Fatalf("Write = %d, %v, want %d, nil", n, err, len(part))
				}
			}
			if line := <-f.line; line != test.line {
				t.Errorf("first line of %q in parts of %d = %q, want %q", test.written, size, line, test.line)
			}
			if len(test.written) < maxLine && rest.String() != test.rest {
				t.Errorf("rest of %q in parts of %d = %q, want %q", test.written, size, &rest, test.rest)
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
		t.Errorf("String() = %q, want the end of the output", got)
	}
}
