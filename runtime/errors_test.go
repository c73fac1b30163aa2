package lumi_test

import (
	"errors"
	"strconv"
	"testing"

	lumi "github.com/lumi-idl/lumi/runtime"
)

func TestErrors(t *testing.T) {
	cause := errors.New("no route")
	for want, err := range map[string]error{
		"a[0]: is 5": lumi.Faultf(lumi.Path("a").Index(0), "is %d", 5),
		"is wrong":   lumi.Faultf("", "is wrong"),
		"a: x\nb: y": &lumi.InvalidError{Faults: []lumi.Fault{{Path: "a", Message: "x"}, {Path: "b", Message: "y"}}},
		"no route":   lumi.Partial(cause),
		"a change of a, b needs a replacement, not an update": &lumi.ReplaceError{Paths: []lumi.Path{"a", "b"}},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if !errors.Is(lumi.Partial(cause), cause) {
		t.Error("the cause of a partial failure is lost")
	}
}

// size is an enum of many values.
type size string

func (s *size) Lumi() *string { return (*string)(s) }
func (s size) Valid() bool    { return len(s) == 1 }
func (size) Values() []string {
	var values []string
	for i := range 20 {
		values = append(values, strconv.Itoa(i))
	}
	return values
}

type sized struct{ Size size }

func (s *sized) Lumi(p *lumi.Props) { lumi.Required(p, "size", &s.Size, lumi.Enum[*size]()) }

func TestManyValues(t *testing.T) {
	err := lumi.Decode(bag(t, `{"size": "huge"}`), &sized{})
	want := `size: expected one of "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11" or 8 others, found "huge"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
