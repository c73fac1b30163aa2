package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// step is a step in the life cycle of a resource.
type step struct {
	r    *Resource
	t    TB
	ctx  context.Context
	name string
	want expectation
	// old, if not nil, holds the properties before the step's Update.
	old *structpb.Struct
	// atFirst is set for the first Create of a life, which is made twice at once if it is idempotent.
	atFirst bool
	// expected holds properties that the resource must have after the step. It may omit some.
	expected Properties
}

func (r *Resource) step(t TB, name string, options []Option) *step {
	t.Helper()
	s := &step{r: r, t: t, ctx: t.Context(), name: name}
	if !r.h.deadline.IsZero() {
		var cancel context.CancelFunc
		s.ctx, cancel = context.WithDeadline(s.ctx, r.h.deadline)
		t.Cleanup(cancel)
	}
	for _, option := range options {
		option(&s.want)
	}
	r.doing, r.began = name, r.h.calls.made()
	if r.h.onStep != nil {
		r.h.onStep(r, name)
	}
	if r.provider == nil && r.function == nil {
		s.fatalf("the resource was declared with Given and cannot be used in calls")
	}
	return s
}

// then returns a substep of s, which is expected to succeed.
func (s *step) then(name string) *step {
	return &step{r: s.r, t: s.t, ctx: s.ctx, name: s.name + ", " + name, expected: s.expected}
}

// errorf reports a violation.
func (s *step) errorf(format string, args ...any) {
	s.t.Helper()
	text := fmt.Sprintf(format, args...)
	s.report(text, text)
}

// report reports a violation, unless one with the same key has been reported to the same test. Most mistakes recur at each
// step.
func (s *step) report(key, text string) {
	s.t.Helper()
	once := reported{s.t, key}
	if s.r.reported[once] {
		return
	}
	if s.r.reported == nil {
		s.r.reported = map[reported]bool{}
	}
	s.r.reported[once] = true
	s.r.h.calls.fail(stepKey{s.r, s.r.began})
	s.t.Errorf("%s: %s: %s", s.r, s.name, s.r.h.mask(text))
}

// reported identifies a reported violation.
type reported struct {
	t   TB
	key string
}

func (s *step) fatalf(format string, args ...any) {
	s.t.Helper()
	s.errorf(format, args...)
	s.t.FailNow()
}

// differs reports a violation if found differs from expected, ignoring differences for which excused returns true.
func (s *step) differs(
	problem string, expected, found *structpb.Struct, excused func(lumi.Change) bool, help ...string,
) {
	s.t.Helper()
	expected, found = s.r.wrapped(expected), s.r.wrapped(found)
	told, paths := compare(s.r.described.Properties, expected, found, excused)
	if len(told) == 0 {
		return
	}
	report := problem + ":\n" + indent(strings.Join(told, "\n"))
	if diff := unified(inFull(paths, expected, found)); diff != "" {
		report += "\n" + indent(diff)
	}
	s.report(problem+": "+list(paths), strings.Join(append([]string{report}, help...), "\n"))
}

// called reports the violations found during a call. It returns true if the call succeeded, returns false if it failed as
// expected, and ends the test if it failed unexpectedly.
func (s *step) called(call string, err error) bool {
	s.t.Helper()
	for _, found := range append(s.r.h.watch.take(), s.r.found...) {
		s.errorf("%s", found)
	}
	s.r.found = nil
	if err == nil {
		return true
	}
	if text := err.Error(); s.r.h.mask(text) != text {
		s.errorf("the error of %s contains a secret: %s", call, text)
	}
	if s.want.met != nil && s.want.met(err) {
		return false
	}
	var invalid *lumi.InvalidError
	switch {
	case s.want.what == "":
		s.fatalf("%s failed: %s", call, explain(err))
	case s.want.shown != nil && errors.As(err, &invalid):
		s.fatalf("%s reports unexpected faults:\n%s", call,
			indent(strings.Join(faultDiff(s.want.shown, invalid.Faults), "\n")))
	}
	s.fatalf("%s failed, but must fail with %s: %s", call, s.want.what, explain(err))
	return false
}

// end ends the test if the step was expected to fail.
func (s *step) end() {
	s.t.Helper()
	if s.want.what == "" {
		return
	}
	expected := s.want.what
	if len(s.want.shown) > 0 {
		expected += ":\n" + indent(strings.Join(s.want.shown, "\n"))
	}
	s.fatalf("succeeded, expected %s", expected)
}

func (s *step) encode(properties Properties) *structpb.Struct {
	s.t.Helper()
	bag, err := properties.encode()
	if err != nil {
		s.fatalf("cannot encode the properties:\n%s", indent(err.Error()))
	}
	return bag
}

// exists ends the test if the resource does not exist, or, if want is false, if it exists.
func (s *step) exists(want bool) {
	s.t.Helper()
	switch id := s.r.ID(); {
	case want && id == "":
		s.fatalf("the resource does not exist: create it first")
	case !want && id != "":
		s.fatalf("the resource already exists as %s", id)
	}
}

// excused reports whether a change from the requested value to the one returned by Get is allowed.
func (s *step) excused(c lumi.Change) bool {
	if slices.ContainsFunc(s.r.mayDiffer, func(p lumi.Path) bool { return p.Holds(c.Path) }) {
		return true
	}
	if c.Kind == lumi.Removed {
		return isForeign(c.Old)
	}
	return isContent(c.Old) && isContent(c.New)
}

// summary formats a response of InspectChange on one line.
func summary(resp *lumi.InspectChangeResponse) string {
	if len(resp.Changes) == 0 && len(resp.Replaces) == 0 {
		return "no changes"
	}
	text := strings.Join(changeLines(resp), ", ")
	if len(resp.Replaces) > 0 {
		text += "; replaces: " + list(resp.Replaces)
	}
	return text
}

func changeLines(resp *lumi.InspectChangeResponse) []string {
	var told []string
	for _, c := range resp.Changes {
		told = append(told, c.String())
	}
	return told
}

func list(paths []lumi.Path) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}
