package providertest_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/runtime/providertest"
)

var update = flag.Bool("update", false, "write the reports that come out now to the files that hold them")

// recorder is a test whose failure is what another test wants to see.
type recorder struct {
	t        *testing.T
	once     bool // whether the first failure ends it
	failed   bool
	cleanups []func()
	text     strings.Builder
	mu       sync.Mutex
	failures []string
}

var _ providertest.TB = (*recorder)(nil)

func (r *recorder) Helper()                  {}
func (r *recorder) Name() string             { return "TestBroken" }
func (r *recorder) Context() context.Context { return r.t.Context() }
func (r *recorder) Failed() bool             { return r.failed }
func (r *recorder) Cleanup(f func())         { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Logf(format string, args ...any) { fmt.Fprintf(&r.text, format+"\n", args...) }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
	r.Logf(format, args...)
	if r.once {
		runtime.Goexit()
	}
}

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

// run runs a test that fails, and returns all that it says.
func run(t *testing.T, test func(t providertest.TB)) string {
	t.Helper()
	r := &recorder{t: t}
	r.do(func() { test(r) })
	for _, cleanup := range slices.Backward(r.cleanups) {
		r.do(cleanup)
	}
	if !r.failed {
		t.Error("the test did not fail")
	}
	return r.text.String()
}

// said is what a report says before it lists calls.
func said(report string) string {
	for _, heading := range []string{"all calls:\n", "the calls of "} {
		report, _, _ = strings.Cut(report, heading)
	}
	return report
}

// do runs a function that may end its goroutine.
func (r *recorder) do(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// golden compares a report with the one that is stored.
func golden(t *testing.T, name, report string) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(report), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report); diff != "" {
		t.Errorf("another report than in %s (-want +got); run with -update if it is right:\n%s", path, diff)
	}
}
