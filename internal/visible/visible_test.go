package visible_test

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/visible"
)

func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 日本 👩\u200d💻":  "plain é 日本 👩\u200d💻",
		"\x1b[31mred\x7f\r\n":  "␛[31mred␡␍␊",
		"a\u202eb\u2028\u0085": "a\ufffdb\ufffd\ufffd",
		"\xff":                 "\ufffd",
	} {
		if found := visible.String(text); found != want {
			t.Errorf("%q is shown as %q, want %q", text, found, want)
		}
	}
}

func TestParagraph(t *testing.T) {
	const text, want = "one\tcolumn\r\n \ttwo\x1b\r\nthree\r\n\r\n", "one column\n    two␛\n    three"
	if found := visible.Paragraph(text); found != want {
		t.Errorf("%q is shown as %q, want %q", text, found, want)
	}
}
