package providertest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// This file is what programs need that run the kit outside of a Go test.

// OnStep calls f when a step of a resource begins, with the step's name as reports show it.
func OnStep(f func(r *Resource, step string)) HarnessOption {
	return func(s *setting) { s.onStep = f }
}

// Terms has reports use other names for what they advise: names are those of this package and of package lumi, such as
// MayDiffer and lumi.ErrNotFound.
func Terms(term func(name string) string) HarnessOption { return func(s *setting) { s.term = term } }

// CleanupTime limits how long it may take to delete what is left when the test ends. The default is 10 minutes.
func CleanupTime(d time.Duration) HarnessOption { return func(s *setting) { s.cleanupTime = d } }

// Plugin returns the plugin under test. The harness closes it.
func (h *Harness) Plugin() *plugin.Plugin { return h.plugin }

// Trial is a test that is not one of Go's. Its parts run one at a time.
type Trial struct {
	Ctx context.Context
	// Report is called with each failure, and Log with what helps to understand failures.
	Report, Log func(text string)

	failed, stopped atomic.Bool // stopped by FailNow, in the part that was run last
	cleanups        []func()
}

// Helper implements [TB], like the methods that follow.
func (t *Trial) Helper() {}

// Context returns the context of calls.
func (t *Trial) Context() context.Context { return t.Ctx }

// Cleanup has End call a function.
func (t *Trial) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Logf passes a text to Log.
func (t *Trial) Logf(format string, args ...any) { t.Log(fmt.Sprintf(format, args...)) }

// Errorf passes a failure to Report.
func (t *Trial) Errorf(format string, args ...any) {
	t.Fail()
	t.Report(fmt.Sprintf(format, args...))
}

// Fail makes the test a failed one.
func (t *Trial) Fail() { t.failed.Store(true) }

// Failed reports whether anything failed so far.
func (t *Trial) Failed() bool { return t.failed.Load() }

// FailNow ends the part of the test that is running.
func (t *Trial) FailNow() {
	t.Fail()
	t.stopped.Store(true)
	runtime.Goexit()
}

// Do runs a part of the test in a goroutine of its own, and reports whether it was not ended by FailNow.
func (t *Trial) Do(part func()) bool {
	t.stopped.Store(false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		part()
	}()
	<-done
	return !t.stopped.Load()
}

// End runs the cleanups.
func (t *Trial) End() {
	for _, cleanup := range slices.Backward(t.cleanups) {
		t.Do(cleanup)
	}
	t.cleanups = nil
}
