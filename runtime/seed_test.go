package lumi_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/test/kit/expect"
)

// Names must never change, since a different name would replace the resource.
func TestSeedName(t *testing.T) {
	var all strings.Builder
	for r := range rune(256) {
		all.WriteRune(r + 0x100)
	}
	for _, test := range []struct {
		seed, prefix string
		n            int
		alphabet     string
		want         string
	}{
		{"seed", "queue-", 8, lumi.LowerAlphanumeric, "queue-5x1soeyo"},
		{"seed", "queue-", 12, lumi.LowerAlphanumeric, "queue-5x1soeyo8q7c"},
		{"seed", "topic-", 8, lumi.LowerAlphanumeric, "topic-fl2jrzd2"},
		{"other", "queue-", 8, lumi.LowerAlphanumeric, "queue-ey84fncm"},
		{"", "queue-", 8, lumi.LowerAlphanumeric, "queue-46higer9"},
		{"seed", "", 8, "01", "11101010"},
		{"seed", "", 40, "01", "1110101011110011100000110011001001011010"},
		{"seed", "x", 3, "a", "xaaa"},
		{"seed", "x", 0, "a", "x"},
		{"seed", "", 4, "äöü", "öüüö"},
		{"seed", "", 4, all.String(), "ćǑđǨ"},
	} {
		got := lumi.Seed(test.seed).Name(test.prefix, test.n, test.alphabet)
		if got != test.want {
			t.Errorf("Seed(%q).Name(%q, %d, %q) = %q, want %q", test.seed, test.prefix, test.n, test.alphabet, got, test.want)
		}
		if n := utf8.RuneCountInString(strings.TrimPrefix(got, test.prefix)); n != test.n {
			t.Errorf("Name = %q with %d characters after the prefix, want %d", got, n, test.n)
		}
	}
}

// All characters are about equally frequent. The test is deterministic.
func TestSeedNameUniform(t *testing.T) {
	const each = 4000
	for _, size := range []int{2, 36, 100, 129, 256} {
		alphabet := make([]rune, size)
		for i := range alphabet {
			alphabet[i] = rune(0x100 + i)
		}
		count := map[rune]int{}
		for _, r := range lumi.Seed("seed").Name("", each*size, string(alphabet)) {
			count[r]++
		}
		for _, r := range alphabet {
			if n := count[r]; n < each*9/10 || n > each*11/10 {
				t.Errorf("with %d characters, %q occurs %d times, want about %d", size, r, n, each)
			}
		}
	}
}

func TestSeedNamePanics(t *testing.T) {
	for _, test := range []struct {
		n        int
		alphabet string
		want     string
	}{
		{1, "", "lumi: Seed.Name: the alphabet must have 1 to 256 characters, not 0"},
		{1, strings.Repeat("a", 257), "lumi: Seed.Name: the alphabet must have 1 to 256 characters, not 257"},
		{-1, "a", "lumi: Seed.Name: n must not be negative"},
	} {
		func() {
			defer func() {
				expect.Equal(t, test.want, fmt.Sprint(recover()))
			}()
			lumi.Seed("seed").Name("x", test.n, test.alphabet)
		}()
	}
}
