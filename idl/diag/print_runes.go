package diag

import "unicode"

// runeWidth returns how many columns a terminal gives to a rune.
func runeWidth(r rune) int {
	switch {
	case r < 0x300: // Nearly every rune is one of these.
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide holds the blocks of Unicode whose characters take two columns.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, // Hangul Jamo, leading consonants
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, // CJK radicals and punctuation
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1}, // Kana, CJK ideographs, Yi
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, // Hangul Jamo, extended
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul syllables
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, // CJK compatibility ideographs
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, // CJK compatibility forms
		{Lo: 0xff01, Hi: 0xff60, Stride: 1}, // full-width forms
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1}, // full-width signs
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x18cff, Stride: 1}, // Tangut, Khitan
		{Lo: 0x1aff0, Hi: 0x1b2ff, Stride: 1}, // Kana supplements
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, // pictographs and emoticons
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, // transport symbols
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, // more pictographs
		{Lo: 0x1fa70, Hi: 0x1faff, Stride: 1}, // yet more pictographs
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1}, // CJK ideographs, extended
	},
}
