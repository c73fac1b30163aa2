package suggest

import (
	"slices"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	type code string
	codes := []code{"FileName", "OptionalWithoutPointer", "DuplicateProperty", "MapKey", "NumberKind"}
	for got, want := range map[string]code{
		"filenames": "FileName", "OptionalWithoutPtr": "OptionalWithoutPointer", "DuplicateProp": "DuplicateProperty",
		"mapkey": "MapKey", "": "", "E0001": "", "Kubernetes": "",
	} {
		if near := Name(got, codes); near != want {
			t.Errorf("Name(%q) = %q, want %q", got, near, want)
		}
	}
}

func TestTo(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits int
		names string
		want  string
	}{
		{"chekc", 2, "fmt check graph", "check"},
		{"CHECK", 0, "fmt check", "check"},
		{"mainn", 2, "maim main", "main"},
		{"mainn", 0, "maim main", ""},
		{"e", 2, "a bb", ""},
		{"abcd", 2, "x dcba", ""}, // the same letters in another order
		{"abc", 3, "", ""},
		{"Foo", 2, "bool", ""},
		{"bol", 2, "bool", "bool"},
		{"boool", 2, "Foo", ""},
		{"ünter", 2, "unter", "unter"},
	} {
		if got := To(test.name, test.edits, slices.Values(strings.Split(test.names, " "))); got != test.want {
			t.Errorf("To(%s) = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAll(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits int
		names string
		want  string
	}{
		{"chekc", 2, "fmt check graph", "check"},
		{"fron", 2, "front fronds frond", "front frond"},
		{"fron", 2, "frona fronb fronc frond", "frona fronb fronc"},
		{"fron", 2, "fro fronts frond", "fro frond"},
		{"MAIN", 2, "Main main mains", "Main main"},
		{"mian", 2, "main min", "main min"}, // two letters are swapped
		{"mian", 2, "miau main", "miau main"},
		{"mian", 1, "main", "main"},
		{"mian", 0, "main", ""},
		{"main", 2, "", ""},
		{"vpc-10", 2, "vpc-1 vpc-11 vpc-100 vpc", ""},
		{"vpc-10", 2, "vcp-10 vpc-11 vpc-1", "vcp-10"},
		{"vpc-1", 2, "vpc-01 vpc-10 vpc-001", "vpc-01"},
		{"vpc-0", 2, "vpc-00 vpc-1", "vpc-00"},
		{"vpc-a", 2, "vpc-b vpc-1 vpc vpc-ab", ""},
		{"vcp-A", 2, "vpc-b vpc-a", "vpc-a"},
		{"ünten", 2, "ünter ünt-n", "ünter"},
	} {
		if got := strings.Join(All(test.name, test.edits, slices.Values(strings.Split(test.names, " "))), " "); got != test.want {
			t.Errorf("All(%s) = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAlike(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"vcp", "vpc"}: true, {"a", "b"}: false, {"nowhere", "web"}: false, {"", ""}: true, {"A", "a"}: true,
		{strings.Repeat("ab", 1<<13) + "c", strings.Repeat("ba", 1<<13) + "d"}: false, // exceeds maxWork
	} {
		if got := Alike(pair[0], pair[1], 2); got != want {
			t.Errorf("Alike(%.20q, %.20q) = %v, want %v", pair[0], pair[1], got, want)
		}
	}
}

// The time is bounded for names that are hard to distinguish. Comparing all pairs of these would take minutes.
func TestWorkLimited(t *testing.T) {
	const pairs = 2000
	name := "x" + strings.Repeat("ab", pairs) + "y"
	names := func(yield func(string) bool) {
		for i := range pairs {
			if !yield("y" + strings.Repeat("ba", i) + strings.Repeat("ab", pairs-i) + "x") {
				return
			}
		}
	}
	if near := To(name, len(name)/4, names); near != "" {
		t.Errorf("To = %.20s, want none after too many comparisons", near)
	}
	if near := All(name, len(name)/4, names); near != nil {
		t.Errorf("All returned %d names, want none after too many comparisons", len(near))
	}
}
