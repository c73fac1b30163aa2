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

// This file is for programs that run the kit outside of a Go test.

// OnStep calls f when a step of a resource starts. step is the step's name in reports.
func OnStep(f func(r *Resource, step string)) HarnessOption {
	return func(s *setting) { s.onStep = f }
}

// Terms sets a function that translates Go names in reports, such as MayDiffer and lumi.ErrNotFound.
func Terms(term func(name string) string) HarnessOption { return func(s *setting) { s.term = term } }

// CleanupTime sets the maximum time for deleting remaining resources at the end of the test. The default is 10 minutes.
func CleanupTime(d time.Duration) HarnessOption { return func(s *setting) { s.cleanupTime = d } }

// Plugin returns the plugin under test, which is closed by the harness.
func (h *Harness) Plugin() *plugin.Plugin { return h.plugin }

// Trial is a [TB] for use outside of a Go test. It consists of parts, which run one at a time.
type Trial struct {
	Ctx context.Context
	// Report is called with each failure, and Log with further information about failures.
	Report, Log func(text string)

	failed, stopped atomic.Bool // stopped is set by FailNow in the latest part
	cleanups        []func()
}

// Helper implements [TB]. It is a no-op.
func (t *Trial) Helper() {}

// Context returns t.Ctx.
func (t *Trial) Context() context.Context { return t.Ctx }

// Cleanup registers a function to be called by End.
func (t *Trial) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Logf calls t.Log with a formatted text.
func (t *Trial) Logf(format string, args ...any) { t.Log(fmt.Sprintf(format, args...)) }

// Errorf marks the test as failed and calls t.Report with a formatted text.
func (t *Trial) Errorf(format string, args ...any) {
	t.Fail()
	t.Report(fmt.Sprintf(format, args...))
}

// Fail marks the test as failed.
func (t *Trial) Fail() { t.failed.Store(true) }

// Failed reports whether the test has failed.
func (t *Trial) Failed() bool { return t.failed.Load() }

// FailNow marks the test as failed and ends the current part.
func (t *Trial) FailNow() {
	t.Fail()
	t.stopped.Store(true)
	runtime.Goexit()
}

// Do runs a part of the test in a new goroutine, waits for it, and reports whether it returned without calling FailNow.
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

// End calls the functions registered with Cleanup in last added, first called order.
func (t *Trial) End() {
	for _, cleanup := range slices.Backward(t.cleanups) {
		t.Do(cleanup)
	}
	t.cleanups = nil
}
