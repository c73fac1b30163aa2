package lumi

import (
	"errors"
	"reflect"
	"strings"

	"github.com/lumi-idl/lumi/runtime/internal/mask"
)

// Meaning returns the error that decides what err means to an engine: the first [Fault], *[InvalidError],
// *[ReplaceError], *[OutputError] or *[RetryError], or [ErrNotFound], that [errors.As] and [errors.Is] would come
// across. It is nil where there is none.
func Meaning(err error) error {
	if m := ownMeaning(err); m != nil {
		return m
	}
	for _, part := range wrapped(err) {
		if m := Meaning(part); m != nil {
			return m
		}
	}
	return nil
}

// ownMeaning does not look at what err wraps.
func ownMeaning(err error) error {
	switch e := err.(type) { //nolint:errorlint // Meaning looks at what is wrapped.
	case Fault, *InvalidError, *ReplaceError, *OutputError, *RetryError:
		return err
	case *Fault:
		if e != nil {
			return *e
		}
	case interface{ Is(target error) bool }:
		if e.Is(ErrNotFound) {
			return ErrNotFound
		}
	}
	if err == ErrNotFound { //nolint:errorlint // Meaning looks at what is wrapped.
		return err
	}
	return nil
}

// wrapped returns the errors that err wraps itself.
func wrapped(err error) []error {
	switch e := err.(type) { //nolint:errorlint // This is what errors.Is does.
	case interface{ Unwrap() error }:
		return []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}

// Invalid makes a *[InvalidError] of an error that means that properties are wrong, and leaves any other as it is. What
// was said around a fault becomes a part of its message, and what was joined to one becomes a fault of the bag as a
// whole. An error whose methods panic is left as it is too. Providers do that with what authors return; it is for those
// who call an author's code without one.
func Invalid(err error) (e error) {
	defer func() {
		if recover() != nil {
			e = err
		}
	}()
	parts, meaning := sift(err, nil)
	if !isInvalid(meaning) {
		return err
	}
	faults := make([]Fault, len(parts))
	for i, part := range parts {
		if faults[i] = part.fault; part.other != nil {
			faults[i].Message = mask.TextOf(part.other)
		}
	}
	return &InvalidError{Faults: faults}
}

// isInvalid reports whether a meaning is that properties are wrong.
func isInvalid(meaning error) bool {
	switch meaning.(type) { //nolint:errorlint // A meaning is not wrapped.
	case Fault, *InvalidError:
		return true
	}
	return false
}

// sifted is a part of an error: a fault, or another error.
type sifted struct {
	fault Fault
	other error
}

// sift takes an error apart, appends its parts to those found before, and returns its meaning too. It looks at each
// error once and asks few of them for their texts, since authors join thousands of faults one by one.
func sift(err error, found []sifted) ([]sifted, error) {
	if err == nil {
		return found, nil
	}
	switch m := ownMeaning(err).(type) { //nolint:errorlint // A meaning is not wrapped.
	case nil:
	case Fault:
		return append(found, sifted{fault: m}), m
	case *InvalidError:
		if m == nil || len(m.Faults) == 0 {
			return append(found, sifted{fault: Fault{Message: m.Error()}}), m
		}
		for _, f := range m.Faults {
			found = append(found, sifted{fault: f})
		}
		return found, m
	default:
		return append(found, sifted{other: err}), m
	}
	var meaning error
	var wrong []error // those of the wrapped errors that are about properties
	first := len(found)
	for _, part := range wrapped(err) {
		var m error
		if found, m = sift(part, found); meaning == nil {
			meaning = m
		}
		if isInvalid(m) {
			wrong = append(wrong, part)
		}
	}
	if !isInvalid(meaning) {
		return append(found[:first], sifted{other: err}), meaning
	}
	if reflect.TypeOf(err) == joinedType {
		return found, meaning
	}
	return append(found[:first], reword(found[first:], err, wrong, len(wrapped(err)))...), meaning
}

var joinedType = reflect.TypeOf(errors.Join(ErrNotFound))

// reword returns the parts of err with the text that err has around them: around the one error that it wraps, or the
// one among several that is about properties. The texts of the others are then a part of that.
func reword(parts []sifted, err error, wrong []error, wrapped int) []sifted {
	before, after := "", ""
	if len(wrong) == 1 {
		if b, a, ok := strings.Cut(mask.TextOf(err), mask.TextOf(wrong[0])); ok {
			before, after = b, a
		}
	}
	faults := make([]sifted, 0, len(parts))
	for _, part := range parts {
		switch f := part.fault; {
		case part.other == nil:
			faults = append(faults, sifted{fault: Fault{Path: f.Path, Message: before + f.Message + after}})
		case wrapped == 1:
			faults = append(faults, sifted{fault: Fault{Message: before + mask.TextOf(part.other) + after}})
		case len(wrong) > 1:
			faults = append(faults, part)
		}
	}
	return faults
}
