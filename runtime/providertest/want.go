package providertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// An Option says how a step must end, where it is not to succeed. Such a step ends where it failed, and the resource is
// as the provider says that it is.
type Option func(*expectation)

// expectation is what a step must end with. The zero one is success.
type expectation struct {
	what  string // "" for success
	met   func(err error) bool
	shown []string // faults
	// uncertain says that the step goes on with what exists.
	uncertain bool
}

// WantFaults has the step end with faults: exactly these, in any order, each as "path: message".
func WantFaults(faults ...string) Option {
	return func(e *expectation) {
		*e = expectation{what: "faults", shown: faults, met: func(err error) bool {
			var invalid *lumi.InvalidError
			return errors.As(err, &invalid) && len(faultDiff(faults, invalid.Faults)) == 0
		}}
	}
}

// WantError has the step end with an error whose message has a text in it. Nothing has changed, which the kit sees for
// itself after a failed Update.
func WantError(text string) Option {
	return want(fmt.Sprintf("an error with %q", text), func(err error) bool {
		return !errors.As(err, new(*lumi.PartialError)) && !isUncertain(err) && strings.Contains(err.Error(), text)
	})
}

// WantPartial has Create or Update end in the middle, with an error whose message has a text in it. The resource must
// then be as the provider says: the kit compares that with what Get reads. If the error is also uncertain, what was asked
// for may be done already.
func WantPartial(text string) Option {
	return want(fmt.Sprintf("a partial failure with %q", text), func(err error) bool {
		return errors.As(err, new(*lumi.PartialError)) && strings.Contains(err.Error(), text)
	})
}

// WantRetry has the step end with a [lumi.RetryError] whose message has a text in it.
func WantRetry(text string) Option {
	return want(fmt.Sprintf("a retryable error with %q", text), func(err error) bool {
		return errors.As(err, new(*lumi.RetryError)) && strings.Contains(err.Error(), text)
	})
}

// WantUncertain has Create, Update or Delete fail with a [lumi.UncertainError] whose message has a text in it. The step
// then does what an engine does, and goes on with what exists. After a Create it calls Create again, if the provider says
// that this is idempotent, or else Find. The step ends if that finds nothing, or if the provider can do neither. After an
// Update or a Delete it calls Get, and then repeats the call, which must succeed.
func WantUncertain(text string) Option {
	return func(e *expectation) {
		want(fmt.Sprintf("an uncertain outcome with %q", text), func(err error) bool {
			return isUncertain(err) && strings.Contains(err.Error(), text)
		})(e)
		e.uncertain = true
	}
}

// WantNotFound has the step find no resource.
func WantNotFound() Option {
	return want("no such resource", func(err error) bool { return errors.Is(err, lumi.ErrNotFound) })
}

func want(what string, met func(err error) bool) Option {
	return func(e *expectation) { *e = expectation{what: what, met: met} }
}

// faultDiff lists what of the faults is missing, and what there is beyond.
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

// explain says what an error is.
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
