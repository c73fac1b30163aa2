package term_test

import (
	"bytes"
	"testing"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestFilter(t *testing.T) {
	on := term.Stream{Terminal: true, Color: true}
	paint := on.Paint(term.BoldRed, "a") + on.Paint(term.BoldCyan, "b") + on.Paint(term.Dim, "c")
	for text, want := range map[string]string{
		"plain é 日本 👩\u200d💻\ta\r\nb\n": "plain é 日本 👩\u200d💻\ta\r\nb\n",
		paint + "\n":    paint + "\n",
		"\x1b]0;t\x07.": "␛]0;t␇.",
		"\x1b[2J\x1b[8mx\x1b[30;40my\x1b[38;5;1mz": "␛[2J␛[8mx␛[30;40my␛[38;5;1mz",
		"a\rb\bc\x7f": "a␍b␈c␡",
		"a\u202eb\u2066c\u200ed\u061ce\u009bf\u0085": "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffd",
		"a\xffb\xc2c\x9bd":                           "a\ufffdb\ufffdc\ufffdd",
		"\ufffd.":                                    "\ufffd.",
	} {
		for _, size := range []int{1, 2, 3, len(text)} {
			var got bytes.Buffer
			w := on.Filter(&got)
			for part := []byte(text); len(part) > 0; part = part[min(size, len(part)):] {
				if n, err := w.Write(part[:min(size, len(part))]); n != min(size, len(part)) || err != nil {
					t.Fatalf("Write = %d, %v, want all bytes and no error", n, err)
				}
			}
			if got.String() != want {
				t.Errorf("Filter of %q in writes of %d bytes = %q, want %q", text, size, &got, want)
			}
		}
	}
	var got bytes.Buffer
	_, _ = term.Stream{}.Filter(&got).Write([]byte("\x1b]0;t\x07")) // a buffer never fails
	if got.String() != "\x1b]0;t\x07" {
		t.Errorf("Filter without a terminal printed %q, want the text unchanged", &got)
	}
}
