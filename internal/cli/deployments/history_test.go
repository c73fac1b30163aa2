package deployments

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lumi-idl/lumi/deploy/store"
)

func TestPastSteps(t *testing.T) {
	event := func(kind, urn string, state store.State) store.Event {
		return store.Event{Kind: kind, URN: urn, State: state}
	}
	past := newPast(store.Job{}, []store.Event{
		event("create", "a", store.Failed), event("delete", "b", store.Done), event("create", "a", store.Unknown), event("delete", "b", store.Done),
		event("create", "a", store.Done), event("replace", "c", store.Done), event("delete", "c", store.Done), event("create", "a", store.Skipped),
		event("create", "d", store.Done), event("update", "d", store.Failed),
	})
	want := []store.Event{
		event("create", "a", store.Done), event("delete", "b", store.Done), event("delete", "b", store.Done), event("replace", "c", store.Done),
		event("delete", "c", store.Done), event("create", "a", store.Skipped), event("create", "d", store.Done), event("update", "d", store.Failed),
	}
	if diff := cmp.Diff(want, past.Steps); diff != "" {
		t.Errorf("Steps (-want +got):\n%s", diff)
	}
	counts := map[string]int{"create": 2, "delete": 2, "replace": 1, "SKIPPED": 1, "FAILED": 1}
	if diff := cmp.Diff(counts, past.Counts); diff != "" {
		t.Errorf("Counts (-want +got):\n%s", diff)
	}
}

// Seconds is the running time of both processes without the gap between them. The first process ended without an event.
func TestPastSeconds(t *testing.T) {
	at := func(seconds int64, state store.State, urn string) store.Event {
		return store.Event{Time: time.Unix(seconds, 0), State: state, URN: urn}
	}
	events := []store.Event{
		at(0, store.Wait, ""), at(10, store.Running, ""), at(12, store.Done, "a"), at(100, store.Running, ""), at(103, store.Done, "b"),
		at(104, store.Failed, ""), at(200, store.Running, ""), at(201, store.Aborting, ""), at(205, store.Aborted, ""),
	}
	for n, want := range map[int]float64{2: 0, 3: 2, 4: 2, 5: 5, 6: 6, 7: 6, 8: 7, 9: 11} {
		if got := newPast(store.Job{}, events[:n]).Seconds; got != want {
			t.Errorf("Seconds after %d events = %v, want %v", n, got, want)
		}
	}
}

// BenchmarkPast measures newPast for deployments with many steps. The metric must not grow with the number of steps.
func BenchmarkPast(b *testing.B) {
	for _, steps := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			events := make([]store.Event, steps)
			for i := range events {
				events[i] = store.Event{Kind: "create", URN: fmt.Sprintf("urn:lumi:dev::a:index::a:index:T::resource-%d", i), State: store.Done}
			}
			b.ReportAllocs()
			for b.Loop() {
				newPast(store.Job{}, events)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step")
		})
	}
}
