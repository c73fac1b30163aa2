package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/store"
)

func TestPastSteps(t *testing.T) {
	event := func(kind, urn string, state store.State) store.Event {
		return store.Event{Kind: kind, URN: urn, State: state}
	}
	past := newPast(store.Deployment{}, []store.Event{
		event("create", "a", store.Failed), event("delete", "b", store.Done), event("create", "a", store.Unknown), event("delete", "b", store.Done),
		event("create", "a", store.Done), event("replace", "c", store.Done), event("delete", "c", store.Done), event("create", "a", store.Skipped),
		event("create", "d", store.Done), event("update", "d", store.Failed),
	})
	want := []store.Event{
		event("create", "a", store.Done), event("delete", "b", store.Done), event("delete", "b", store.Done), event("replace", "c", store.Done),
		event("delete", "c", store.Done), event("create", "a", store.Skipped), event("create", "d", store.Done), event("update", "d", store.Failed),
	}
	if diff := cmp.Diff(want, past.Steps); diff != "" {
		t.Error(diff)
	}
	counts := map[string]int{"create": 2, "delete": 2, "replace": 1, "SKIPPED": 1, "FAILED": 1}
	if diff := cmp.Diff(counts, past.Counts); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkPast measures the history of deployments with many steps. The metric must not grow with their number.
func BenchmarkPast(b *testing.B) {
	for _, steps := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			events := make([]store.Event, steps)
			for i := range events {
				events[i] = store.Event{Kind: "create", URN: fmt.Sprintf("urn:lumi:dev::a:index::a:index:T::resource-%d", i), State: store.Done}
			}
			b.ReportAllocs()
			for b.Loop() {
				newPast(store.Deployment{}, events)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step")
		})
	}
}
