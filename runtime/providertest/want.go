package providertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// An Option sets the expected failure of a step. The step ends where it fails, and the resource is in the state that
// the provider reported.
type Option func(*expectation)

// expectation is the expected outcome of a step. The zero value is success.
type expectation struct {
	what  string // "" for success
	met   func(err error) bool
	shown []string // faults
	// uncertain makes the step continue with the resource that exists, if any.
	uncertain bool
}

// WantFaults expects exactly these faults, in any order, each as "path: message".
func WantFaults(faults ...string) Option {
	return func(e *expectation) {
		*e = expectation{what: "faults", shown: faults, met: func(err error) bool {
			var invalid *lumi.InvalidError
			return errors.As(err, &invalid) && len(faultDiff(faults, invalid.Faults)) == 0
		}}
	}
}

// WantError expects an error whose message contains a text. Nothing must have changed, which the kit checks itself
// after a failed Update.
func WantError(text string) Option {
	return want(fmt.Sprintf("an error with %q", text), func(err error) bool {
		return !errors.As(err, new(*lumi.PartialError)) && !isUncertain(err) && strings.Contains(err.Error(), text)
	})
}

// WantPartial expects Create or Update to fail partially, with an error whose message contains a text. The kit checks
// with Get that the resource is in the state that the provider reported. If the error is also uncertain, the change
// may already be complete.
func WantPartial(text string) Option {
	return want(fmt.Sprintf("a partial failure with %q", text), func(err error) bool {
		return errors.As(err, new(*lumi.PartialError)) && strings.Contains(err.Error(), text)
	})
}

// WantRetry expects a [lumi.RetryError] whose message contains a text.
func WantRetry(text string) Option {
	return want(fmt.Sprintf("a retryable error with %q", text), func(err error) bool {
		return errors.As(err, new(*lumi.RetryError)) && strings.Contains(err.Error(), text)
	})
}

// WantUncertain expects a [lumi.UncertainError] from Create, Update, or Delete, whose message contains a text. The step
// then continues as an engine does. After a Create, it calls Create again if the provider declares that idempotent, or
// else Find; it ends if Find finds nothing or is not supported. After an Update or Delete, it calls Get and then
// repeats the call, which must succeed.
func WantUncertain(text string) Option {
	return func(e *expectation) {
		want(fmt.Sprintf("an uncertain outcome with %q", text), func(err error) bool {
			return isUncertain(err) && strings.Contains(err.Error(), text)
		})(e)
		e.uncertain = true
	}
}

// WantNotFound expects the resource not to be found.
func WantNotFound() Option {
	return want("no such resource", func(err error) bool { return errors.Is(err, lumi.ErrNotFound) })
}

func want(what string, met func(err error) bool) Option {
	return func(e *expectation) { *e = expectation{what: what, met: met} }
}

// faultDiff lists missing and unexpected faults.
func faultDiff(want []string, faults []lumi.Fault) []string {
	var diff []string
	rest := slices.Clone(want)
	var more []string
	for _, f := range faults {
		if i := slices.Index(rest, f.Error()); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			more = append(more, "found    "+f.Error())
		}
	}
	for _, text := range rest {
		diff = append(diff, "expected "+text)
	}
	return append(diff, more...)
}

// explain formats an error with its meaning.
func explain(err error) string {
	var (
		invalid *lumi.InvalidError
		partial *lumi.PartialError
		retry   *lumi.RetryError
	)
	switch {
	case errors.As(err, &partial):
		return fmt.Sprintf("%v (%s now exists)", err, partial.ID)
	case isUncertain(err):
		return fmt.Sprintf("%v (unknown whether it took effect)", err)
	case errors.As(err, &invalid):
		return "the properties are invalid:\n" + indent(err.Error())
	case errors.As(err, &retry):
		return fmt.Sprintf("%v (retryable)", err)
	}
	return err.Error()
}
