package lumi_test

import (
	"errors"
	"fmt"
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
		"no route":   lumi.Uncertain(cause),
		"changing a, b requires a replacement, not an update": &lumi.ReplaceError{Paths: []lumi.Path{"a", "b"}},
	} {
		if err.Error() != want {
			t.Errorf("Error() = %q, want %q", err, want)
		}
	}
	if !errors.Is(lumi.Uncertain(cause), cause) {
		t.Error("Uncertain does not wrap its cause, want it to")
	}
}

func TestZeroErrors(t *testing.T) {
	for _, test := range []struct {
		want string
		errs []error
	}{
		{"temporary failure", []error{&lumi.RetryError{}, (*lumi.RetryError)(nil)}},
		{"unknown whether the operation took effect", []error{&lumi.UncertainError{}, (*lumi.UncertainError)(nil)}},
		{"partially done", []error{&lumi.PartialError{}, (*lumi.PartialError)(nil)}},
		{"invalid properties", []error{&lumi.InvalidError{}, (*lumi.InvalidError)(nil)}},
		{"the provider returned an invalid result", []error{&lumi.OutputError{}, (*lumi.OutputError)(nil)}},
		{"the change requires a replacement, not an update", []error{&lumi.ReplaceError{}, (*lumi.ReplaceError)(nil)}},
		{"", []error{lumi.Fault{}, &lumi.Fault{}}},
	} {
		for _, err := range test.errs {
			if err.Error() != test.want || errors.Is(err, lumi.ErrNotFound) || lumi.Invalid(err) == nil {
				t.Errorf("%T: Error() = %q, want %q", err, err, test.want)
			}
		}
	}
	if err := lumi.Uncertain(nil); err != nil {
		t.Errorf("Uncertain(nil) = %v, want nil", err)
	}
}

func TestInvalid(t *testing.T) {
	a, b := lumi.Faultf("a", "is wrong"), lumi.Faultf("b", "is bad")
	plain := errors.New("failed")
	for name, test := range map[string]struct {
		err  error
		want string // the faults, or "" for other errors
	}{
		"nil":              {nil, ""},
		"plain":            {plain, ""},
		"fault":            {a, "a: is wrong"},
		"pointer":          {&lumi.Fault{Path: "a", Message: "is wrong"}, "a: is wrong"},
		"joined":           {errors.Join(a, b), "a: is wrong\nb: is bad"},
		"joined to plain":  {errors.Join(plain, a), "failed\na: is wrong"},
		"wrapped":          {fmt.Errorf("no: %w (so)", a), "a: no: is wrong (so)"},
		"wrapped twice":    {fmt.Errorf("so: %w", fmt.Errorf("no: %w (so)", a)), "a: so: no: is wrong (so)"},
		"wrapped and more": {fmt.Errorf("%w (%w)", a, plain), "a: is wrong\nfailed"},
		"two wrapped":      {fmt.Errorf("%w or %w", a, b), "a: is wrong\nb: is bad"},
		"join wrapped":     {fmt.Errorf("no: %w", errors.Join(a, plain)), "a: no: is wrong\nno: failed"},
		"reworded":         {reworded{a}, "a: is wrong"},
		"invalid wrapped":  {fmt.Errorf("no: %w", &lumi.InvalidError{Faults: []lumi.Fault{{Message: "x"}}}), "no: x"},
		"uncertain":        {lumi.Uncertain(a), ""},
		"uncertain too":    {errors.Join(a, lumi.Uncertain(plain)), ""},
		"nil pointer":      {fmt.Errorf("no: %w", (*lumi.Fault)(nil)), "invalid properties"},
		"exists":           {fmt.Errorf("w: %w", &lumi.PartialError{ID: "x", Err: a}), ""},
		"exists too":       {errors.Join(a, &lumi.PartialError{ID: "x", Err: a}), ""},
		"joined to gone":   {errors.Join(lumi.ErrNotFound, a), "no such resource\na: is wrong"},
		"wraps itself":     {itself{}, ""},
		"retry":            {&lumi.RetryError{Err: a}, ""},
		"not found":        {fmt.Errorf("%w: %w", lumi.ErrNotFound, a), ""},
		"like not found":   {fmt.Errorf("%w: %w", missing{}, a), ""},
		"nothing joined":   {&severalErrors{nil, nil}, ""},
		"something joined": {&severalErrors{nil, a, nil}, "a: is wrong"},
	} {
		err := lumi.Invalid(test.err)
		invalid, ok := err.(*lumi.InvalidError) //nolint:errorlint // Invalid returns it as it is.
		switch {
		case test.want == "" && err != test.err: //nolint:errorlint // It must be identical.
			t.Errorf("%s: Invalid = %v, want its argument", name, err)
		case test.want != "" && (!ok || invalid.Error() != test.want):
			t.Errorf("%s: Invalid = %q, want %q", name, err, test.want)
		}
	}
	// Splitting tens of thousands of faults joined one by one takes linear time.
	var err error
	for range 20_000 {
		err = errors.Join(err, a)
	}
	var invalid *lumi.InvalidError
	if !errors.As(lumi.Invalid(err), &invalid) || len(invalid.Faults) != 20_000 {
		t.Errorf("Invalid returned %d faults, want 20,000", len(invalid.Faults))
	}
}

// reworded is an error that wraps another but does not contain its text.
type reworded struct{ error }

func (reworded) Error() string { return "in other words" }

func (e reworded) Unwrap() error { return e.error }

// The first of several joined errors does not always determine the meaning.
func TestMeaning(t *testing.T) {
	failed := errors.New("could not delete bucket")
	partial, unsure := &lumi.PartialError{ID: "x"}, lumi.Uncertain(lumi.ErrNotFound)
	gone := fmt.Errorf("bucket: %w", lumi.ErrNotFound)
	for name, test := range map[string]struct{ err, want error }{
		"nil":             {nil, nil},
		"gone":            {gone, lumi.ErrNotFound},
		"gone and failed": {errors.Join(gone, failed), nil},
		"failed and gone": {fmt.Errorf("w: %w", errors.Join(failed, gone)), nil},
		"all gone":        {errors.Join(gone, errors.Join(missing{}, nil)), lumi.ErrNotFound},
		"gone, since":     {fmt.Errorf("%w: %w", lumi.ErrNotFound, failed), lumi.ErrNotFound},
		"a part exists":   {errors.Join(&lumi.RetryError{}, partial), partial},
		"no part":         {(*lumi.PartialError)(nil), nil},
		"uncertain":       {fmt.Errorf("w: %w", unsure), unsure},
		"joined later":    {errors.Join(failed, gone, lumi.Faultf("a", "is wrong"), &lumi.RetryError{}, unsure), unsure},
		"joined first":    {errors.Join(unsure, &lumi.ReplaceError{}), unsure},
		"formatted":       {fmt.Errorf("%w: %w", &lumi.RetryError{}, unsure), unsure},
		"deep":            {errors.Join(failed, fmt.Errorf("w: %w", errors.Join(gone, unsure))), unsure},
		"unsure of parts": {errors.Join(unsure, fmt.Errorf("w: %w", partial)), partial},
		"parts, unsure":   {errors.Join(partial, unsure), partial},
		"first unsure":    {errors.Join(unsure, &lumi.UncertainError{}), unsure},
	} {
		if got := lumi.Meaning(test.err); got != test.want { //nolint:errorlint // A meaning is not wrapped.
			t.Errorf("%s: Meaning = %v, want %v", name, got, test.want)
		}
	}
}

// itself is an error that wraps itself.
type itself struct{}

func (itself) Error() string { return "again" }

func (e itself) Unwrap() error { return e }

// missing is an error of another package whose Is method matches an error of this package.
type missing struct{}

func (missing) Error() string { return "gone" }

func (missing) Is(target error) bool { return target == lumi.ErrNotFound }

type severalErrors []error

func (*severalErrors) Error() string { return "several" }

func (e *severalErrors) Unwrap() []error { return *e }

// size is an enum with many values.
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
	want := `size: expected "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11" or 8 others, found a string "huge"`
	if err == nil || err.Error() != want {
		t.Errorf("Decode error = %v, want %s", err, want)
	}
}
