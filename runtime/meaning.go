package lumi

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/lumi-idl/lumi/runtime/wire"
)

// Meaning returns the error that determines how an engine handles err: the first [Fault], *[InvalidError],
// *[PartialError], *[UncertainError], *[ReplaceError], *[OutputError], *[RetryError], or [ErrNotFound] in err's tree,
// in the order of [errors.As]. It returns nil if there is none, or if a method of err panics. It does not call As
// methods.
//
// Among joined errors, a *[PartialError] takes precedence, followed by an *[UncertainError]. [ErrNotFound] is returned
// only if it is the meaning of every joined error.
func Meaning(err error) error {
	_, meaning := analyze(err)
	return meaning
}

// Invalid converts err to an *[InvalidError] if its [Meaning] is a [Fault] or an *[InvalidError], and otherwise returns
// err. Text that wraps a fault becomes part of its message, and other errors joined to it become faults without a path.
// Generated providers call Invalid on errors returned by authors.
func Invalid(err error) error {
	if faults, meaning := analyze(err); isInvalid(meaning) {
		return &InvalidError{Faults: faults}
	}
	return err
}

// analyze calls walk on err. The meaning is nil if a method of err panics.
func analyze(err error) (faults []Fault, meaning error) {
	defer func() {
		if recover() != nil {
			meaning = nil
		}
	}()
	return walk(err, nil, 0)
}

// isInvalid reports whether meaning is a [Fault] or an *[InvalidError].
func isInvalid(meaning error) bool {
	switch meaning.(type) { //nolint:errorlint // A meaning is not wrapped.
	case Fault, *InvalidError:
		return true
	}
	return false
}

// ownMeaning returns the meaning of err itself, ignoring errors that it wraps. It returns nil if there is none.
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

// maxWraps limits the depth of walk, in case an error wraps itself.
const maxWraps = 1 << 16

// walk returns the meaning of err, and found with the faults in err appended. The faults are meaningful only if isInvalid
// returns true for the meaning. walk formats each error at most once per level, since authors join thousands of faults one
// by one.
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

// weight returns the precedence of a meaning among the meanings of joined errors.
func weight(meaning error) int {
	switch meaning.(type) { //nolint:errorlint // A meaning is not wrapped.
	case *PartialError:
		return 2
	case *UncertainError:
		return 1
	}
	return 0
}

// formattedType is the type of errors returned by [fmt.Errorf] for several %w verbs. The first wrapped error determines
// the meaning.
var formattedType = reflect.TypeOf(fmt.Errorf("%w%w", ErrNotFound, ErrNotFound))

// wrapped returns the errors that err wraps directly.
func wrapped(err error) []error {
	switch e := err.(type) { //nolint:errorlint // This is what errors.Is does.
	case interface{ Unwrap() error }:
		return []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	}
	return nil
}
