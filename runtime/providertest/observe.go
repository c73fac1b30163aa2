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

// This file supports programs that run the kit outside of a Go test.

// OnStep calls f when a step of a resource starts, with the step's name in reports.
func OnStep(f func(r *Resource, step string)) HarnessOption {
	return func(s *setting) { s.onStep = f }
}

// Terms translates Go names in reports, such as MayDiffer and lumi.ErrNotFound.
func Terms(term func(name string) string) HarnessOption { return func(s *setting) { s.term = term } }

// CleanupTime limits the time for deleting remaining resources at the end of the test. The default is 10 minutes.
func CleanupTime(d time.Duration) HarnessOption { return func(s *setting) { s.cleanupTime = d } }

// Plugin returns the plugin under test. The harness closes it.
func (h *Harness) Plugin() *plugin.Plugin { return h.plugin }

// Trial is a [TB] outside of a Go test. Its parts run one at a time.
type Trial struct {
	Ctx context.Context
	// Report receives each failure, and Log further information about failures.
	Report, Log func(text string)

	failed, stopped atomic.Bool // stopped is set by FailNow in the latest part
	cleanups        []func()
}

// Helper implements [TB], like the methods below.
func (t *Trial) Helper() {}

// Context returns the context of calls.
func (t *Trial) Context() context.Context { return t.Ctx }

// Cleanup registers a function for End to call.
func (t *Trial) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Logf formats a text for Log.
func (t *Trial) Logf(format string, args ...any) { t.Log(fmt.Sprintf(format, args...)) }

// Errorf formats a failure for Report.
func (t *Trial) Errorf(format string, args ...any) {
	t.Fail()
	t.Report(fmt.Sprintf(format, args...))
}

// Fail marks the test as failed.
func (t *Trial) Fail() { t.failed.Store(true) }

// Failed reports whether the test has failed.
func (t *Trial) Failed() bool { return t.failed.Load() }

// FailNow ends the running part of the test.
func (t *Trial) FailNow() {
	t.Fail()
	t.stopped.Store(true)
	runtime.Goexit()
}

// Do runs a part of the test in its own goroutine, and reports whether it ended without FailNow.
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

// End runs the cleanups, last added first.
func (t *Trial) End() {
	for _, cleanup := range slices.Backward(t.cleanups) {
		t.Do(cleanup)
	}
	t.cleanups = nil
}
