package term_test

import (
	"testing"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 日本 👩\u200d💻":  "plain é 日本 👩\u200d💻",
		"\x1b[31mred\x7f\r\n":  "␛[31mred␡␍␊",
		"a\u202eb\u2028\u0085": "a\ufffdb\ufffd\ufffd",
		"\xff":                 "\ufffd",
	} {
		if found := term.Visible(text); found != want {
			t.Errorf("Visible(%q) = %q, want %q", text, found, want)
		}
	}
}

func TestParagraph(t *testing.T) {
	const text, want = "one\tcolumn\r\n \ttwo\x1b\r\nthree\r\n\r\n", "one column\n    two␛\n    three"
	if found := term.Paragraph(text); found != want {
		t.Errorf("Paragraph(%q) = %q, want %q", text, found, want)
	}
}

func TestClip(t *testing.T) {
	const on, off = "\x1b[1m", "\x1b[0m"
	for _, test := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{on + "abcd" + off, 3, on + "ab…" + off},
		{on + "ab" + off + "cd", 3, on + "ab" + off + "…"},
		{on + "宽宽" + off, 3, on + "宽…" + off},
		{on + "宽" + off + "宽", 4, on + "宽" + off + "宽"},
		{"", 3, ""},
	} {
		if got := term.Clip(test.text, test.columns); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.text, test.columns, got, test.want)
		}
	}
}
