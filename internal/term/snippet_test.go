package term_test

import (
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/internal/term"
)

func TestSnippet(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, test := range []struct {
		name, source, mark string // mark is the text of the span
		want               string
	}{
		{"tabs", "\ta\tb", "b", " 7 |     a    b\n   |          ^\n"},
		{"joined runes", "a 👩\u200d💻 b", "b", " 7 | a 👩\u200d💻 b\n   |      ^\n"},
		{"part of a joined rune", "a 👩\u200d💻 b", "💻", " 7 | a 👩\u200d💻 b\n   |   ^^\n"},
		{"line break", "a\r\nb", "\r\n", " 7 | a\n   |  ^\n"},
		{"two lines", "a b\n c d", "b\n c", " 7 | a b\n   |   ^\n 8 |  c d\n   |  ^\n"},
		{"a line and its end", "a b\nc", "b\n", " 7 | a b\n   |   ^\n"},
		{"many lines", "ab\n\n\n\ncd", "b\n\n\n\nc", "  7 | ab\n    |  ^\n...\n 11 | cd\n    | ^\n"},
		{"long line", long + "HERE" + long, "HERE", " 7 | …ééééééééHEREéééééééé…\n   |          ^^^^\n"},
		{"escape sequence", "\x1b]a\x07c", "c", " 7 | ␛]a␇c\n   |     ^\n"},
		{"hidden line", "a <b> c", "c", ""},
		{"line after a hidden line", "<b>\nc", "c", " 7 | c\n   | ^\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := strings.Index(test.source, test.mark)
			s := term.Snippet{Stream: term.Stream{Width: 27}, Source: test.source, Hidden: func(from, to int) bool {
				return strings.Contains(test.source[from:to], "<")
			}}
			var got strings.Builder
			s.Print(&got, 7, from, from+len(test.mark), term.Plain)
			if got.String() != test.want {
				t.Errorf("Print:\n%s\nwant:\n%s", &got, test.want)
			}
		})
	}
}
