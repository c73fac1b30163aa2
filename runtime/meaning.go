package lumi

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// Meaning returns the error that decides what err means to an engine: the first [Fault], *[InvalidError],
// *[PartialError], *[UncertainError], *[ReplaceError], *[OutputError] or *[RetryError], or [ErrNotFound], among err and
// what it wraps, in the order of [errors.As]. It is nil if there is none, or if a method of err panics. Methods called As
// are not asked.
//
// Of several errors that were joined, a *[PartialError] decides wherever it is, since something exists, or else an
// *[UncertainError], since something may. [ErrNotFound] decides only if all of them mean it.
func Meaning(err error) error {
	_, meaning := takeApart(err)
	return meaning
}

// Invalid turns an error that means that properties are wrong into a *[InvalidError]. The text around a fault becomes
// part of its message, and errors that were joined to one become faults without a path. Any other error, and one whose
// methods panic, stays as it is. Generated providers call it for what authors return.
func Invalid(err error) error {
	if faults, meaning := takeApart(err); isInvalid(meaning) {
		return &InvalidError{Faults: faults}
	}
	return err
}

// takeApart finds no meaning in an error whose methods panic.
func takeApart(err error) (faults []Fault, meaning error) {
	defer func() {
		if recover() != nil {
			meaning = nil
		}
	}()
	return walk(err, nil, 0)
}

// isInvalid reports whether a meaning is that properties are wrong.
func isInvalid(meaning error) bool {
	switch meaning.(type) { //nolint:errorlint // A meaning is not wrapped.
	case Fault, *InvalidError:
		return true
	}
	return false
}

// ownMeaning is the meaning of err apart from what it wraps.
func ownMeaning(err error) error {
	switch e := err.(type) { //nolint:errorlint // walk looks at what is wrapped.
	case *InvalidError, *UncertainError, *ReplaceError, *OutputError, *RetryError, Fault:
		return err
	case *Fault:
		if e == nil {
			return (*InvalidError)(nil)
		}
		return *e
	case *PartialError:
		if e != nil {
			return err
		}
	case interface{ Is(target error) bool }:
		if e.Is(ErrNotFound) {
			return ErrNotFound
		}
	}
	if err == ErrNotFound { //nolint:errorlint // walk looks at what is wrapped.
		return err
	}
	return nil
}

// maxWraps is how deep walk looks. Only an error that wraps itself is deeper.
const maxWraps = 1 << 16

// walk returns the meaning of err, and appends err to found as faults, in case it means that properties are wrong. It
// takes the text of each error at most once per level, since authors join thousands of faults one by one.
func walk(err error, found []Fault, depth int) (faults []Fault, meaning error) {
	if err == nil || depth == maxWraps {
		return found, nil
	}
	switch m := ownMeaning(err).(type) { //nolint:errorlint // A meaning is not wrapped.
	case nil:
	case Fault:
		return append(found, m), m
	case *InvalidError:
		if m == nil || len(m.Faults) == 0 {
			return append(found, Fault{Message: m.Error()}), m
		}
		return append(found, m.Faults...), m
	default:
		return append(found, Fault{Message: wire.TextOf(err)}), m
	}
	first, gone, parts := len(found), 0, wrapped(err)
	joined := reflect.TypeOf(err) != formattedType
	for _, part := range parts {
		var m error
		found, m = walk(part, found, depth+1)
		if m == ErrNotFound { //nolint:errorlint // A meaning is not wrapped.
			gone++
		}
		if meaning == nil || weight(m) > weight(meaning) || joined && meaning == ErrNotFound { //nolint:errorlint // A meaning is not wrapped.
			meaning = m
		}
	}
	switch {
	case joined && meaning == ErrNotFound && gone < len(parts): //nolint:errorlint // A meaning is not wrapped.
		meaning = nil
	case len(parts) == 1 && isInvalid(meaning):
		if before, after, ok := strings.Cut(wire.TextOf(err), wire.TextOf(parts[0])); ok {
			for i := range found[first:] {
				found[first+i].Message = before + found[first+i].Message + after
			}
		}
	case len(parts) < 2:
		found = append(found[:first], Fault{Message: wire.TextOf(err)})
	}
	return found, meaning
}

// weight says which of several meanings decides wherever it is: the greater one.
func weight(meaning error) int {
	switch meaning.(type) { //nolint:errorlint // A meaning is not wrapped.
	case *PartialError:
		return 2
	case *UncertainError:
		return 1
	}
	return 0
}

// formattedType is the type of errors with several %w, of which the first one decides, as the others explain it.
var formattedType = reflect.TypeOf(fmt.Errorf("%w%w", ErrNotFound, ErrNotFound))

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
