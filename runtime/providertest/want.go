package providertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// An Option sets the expected failure of a step. The step ends at the failed call, and the resource is then in the state
// reported by the provider.
type Option func(*expectation)

// expectation is the expected outcome of a step. The zero value expects success.
type expectation struct {
	what  string // a description of the failure, or "" for success
	met   func(err error) bool
	shown []string // the faults
	// uncertain is set if the step expects an uncertain outcome, after which it continues.
	uncertain bool
}

// WantFaults expects exactly the given faults, each formatted as "path: message", in any order.
func WantFaults(faults ...string) Option {
	return func(e *expectation) {
		*e = expectation{what: "faults", shown: faults, met: func(err error) bool {
			var invalid *lumi.InvalidError
			return errors.As(err, &invalid) && len(faultDiff(faults, invalid.Faults)) == 0
		}}
	}
}

// WantError expects an error whose message contains text. The call must not change anything, which the kit checks after a
// failed Update.
func WantError(text string) Option {
	return want(fmt.Sprintf("an error with %q", text), func(err error) bool {
		return !errors.As(err, new(*lumi.PartialError)) && !isUncertain(err) && strings.Contains(err.Error(), text)
	})
}

// WantPartial expects a [lumi.PartialError] from Create or Update whose message contains text. The kit checks with Get that
// the resource is in the reported state. If the error is also a [lumi.UncertainError], the change may already be complete.
func WantPartial(text string) Option {
	return want(fmt.Sprintf("a partial failure with %q", text), func(err error) bool {
		return errors.As(err, new(*lumi.PartialError)) && strings.Contains(err.Error(), text)
	})
}

// WantRetry expects a [lumi.RetryError] whose message contains text.
func WantRetry(text string) Option {
	return want(fmt.Sprintf("a retryable error with %q", text), func(err error) bool {
		return errors.As(err, new(*lumi.RetryError)) && strings.Contains(err.Error(), text)
	})
}

// WantUncertain expects a [lumi.UncertainError] from Create, Update, or Delete whose message contains text. The step then
// continues like an engine. After a Create, it calls Create again if the provider declares Create idempotent, or else Find;
// it ends if Find finds nothing or is not supported. After an Update or Delete, it calls Get and then repeats the call,
// which must succeed.
func WantUncertain(text string) Option {
	return func(e *expectation) {
		want(fmt.Sprintf("an uncertain outcome with %q", text), func(err error) bool {
			return isUncertain(err) && strings.Contains(err.Error(), text)
		})(e)
		e.uncertain = true
	}
}

// WantNotFound expects an error that wraps [lumi.ErrNotFound].
func WantNotFound() Option {
	return want("no such resource", func(err error) bool { return errors.Is(err, lumi.ErrNotFound) })
}

func want(what string, met func(err error) bool) Option {
	return func(e *expectation) { *e = expectation{what: what, met: met} }
}

// faultDiff returns a line for each missing and each unexpected fault.
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

// explain formats an error with its meaning to an engine.
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
