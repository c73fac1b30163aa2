//go:build unix

// Package graph_test measures the in-process cost of operations on a graph: loading with full validation, saving,
// traversing references, and comparing.
package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/diff"
	"github.com/lumi-idl/lumi/test/bench/cluster"
	"github.com/lumi-idl/lumi/test/bench/cputime"
)

type stage struct {
	name string
	run  func(*testing.B, *work)
}

// stages lists the measured stages in execution order. The first two use encoding/json and serve as lower bounds.
var stages = append([]stage{
	{"valid", func(b *testing.B, w *work) {
		if !json.Valid(w.bytes) {
			b.Fatal("json.Valid = false, want true")
		}
	}},
	{"typed", func(b *testing.B, w *work) {
		var s cluster.Typed
		if err := json.Unmarshal(w.bytes, &s); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(s)
	}},
	{"load", func(b *testing.B, w *work) {
		w.snapshot = load(b, w.text)
	}},
	{"save", func(b *testing.B, w *work) {
		if err := lumigl.Write(io.Discard, w.snapshot); err != nil {
			b.Fatal(err)
		}
	}},
	{"clone", func(b *testing.B, w *work) {
		if w.snapshot.Clone().Len() != w.snapshot.Len() {
			b.Fatal("Clone returned a snapshot of another length")
		}
	}},
	{"index", func(b *testing.B, w *work) {
		w.index = lumigl.NewIndex(w.snapshot.Base())
	}},
	{"visit", func(b *testing.B, w *work) {
		visit := func(context.Context, *lumigl.Vertex) error { return nil }
		if err := w.index.Walk(b.Context(), lumigl.WalkOptions{}, visit); err != nil {
			b.Fatal(err)
		}
	}},
	{"walk", func(b *testing.B, w *work) {
		references := 0
		for r := range w.snapshot.Vertices() {
			for target := range r.Properties.References() {
				if target.Type == "" {
					b.Fatal("found a reference without a target type")
				}
				references++
			}
		}
		if references != w.snapshot.Len() {
			b.Fatalf("found %d references, want %d", references, w.snapshot.Len())
		}
	}},
}, comparisons()...)

// work is the input of the stages.
type work struct {
	text     string
	bytes    []byte
	snapshot *lumigl.Snapshot
	index    *lumigl.Index
	others   map[string]string // texts of other snapshots
	loaded   map[string]*lumigl.Snapshot
}

// others describes the snapshots to compare with: an equal one, one with changes in every hundredth cluster, one with
// changes in every cluster, and one with entirely different resources, where half of the time is spent detecting moves.
// Changes affect half of a cluster's resources.
var others = []struct {
	name    string
	first   int // offset in multiples of the number of clusters
	differs func(i int) bool
}{
	{"equal", 0, func(int) bool { return false }},
	{"hundredth", 0, func(i int) bool { return i%100 == 0 }},
	{"half", 0, func(int) bool { return true }},
	{"all", 1, func(int) bool { return false }},
}

// comparisons returns three stages for each element of others: comparing in memory, writing the diff as text, and
// comparing after loading both snapshots.
func comparisons() []stage {
	var stages []stage
	for _, other := range others {
		compare := func(b *testing.B, old, new *lumigl.Snapshot) *diff.Delta {
			d, err := diff.Compare(old, new, diff.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return d
		}
		stages = append(stages, stage{"diff-" + other.name, func(b *testing.B, w *work) {
			compare(b, w.snapshot, w.loaded[other.name])
		}}, stage{"text-" + other.name, func(b *testing.B, w *work) {
			if err := compare(b, w.snapshot, w.loaded[other.name]).WriteText(io.Discard, diff.TextOptions{Context: 1}); err != nil {
				b.Fatal(err)
			}
		}}, stage{"files-" + other.name, func(b *testing.B, w *work) {
			compare(b, load(b, w.text), load(b, w.others[other.name]))
		}})
	}
	return stages
}

func load(b *testing.B, text string) *lumigl.Snapshot {
	s, err := lumigl.ParseSnapshot(text)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func newWork(b *testing.B, resources int) *work {
	write := func(first int, differs func(i int) bool) string {
		var text strings.Builder
		if err := cluster.WriteChanged(&text, first, resources, differs); err != nil {
			b.Fatal(err)
		}
		return text.String()
	}
	text := write(0, func(int) bool { return false })
	w := &work{text: text, bytes: []byte(text), others: map[string]string{}, loaded: map[string]*lumigl.Snapshot{}}
	w.snapshot = load(b, text)
	w.index = lumigl.NewIndex(w.snapshot.Base())
	for _, other := range others {
		w.others[other.name] = write(other.first*resources, other.differs)
		w.loaded[other.name] = load(b, w.others[other.name])
	}
	return w
}

// BenchmarkStages reports the median CPU time of each stage, including garbage collection. Each iteration runs every
// stage, so that the ratios to encoding/json are meaningful even on a busy machine.
func BenchmarkStages(b *testing.B) {
	smaller := map[string]float64{}
	for _, resources := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(resources), func(b *testing.B) {
			w := newWork(b, resources)
			times := map[string][]float64{}
			for b.Loop() {
				for _, stage := range stages {
					runtime.GC()
					evict()
					before := cputime.Now(b)
					stage.run(b, w)
					times[stage.name] = append(times[stage.name], (cputime.Now(b) - before).Seconds())
				}
			}
			b.ReportMetric(0, "ns/op") // the sum of different stages is meaningless
			floor := cputime.Median(times["typed"])
			for _, stage := range stages {
				m := cputime.Median(times[stage.name])
				b.ReportMetric(m*1000, stage.name+"-cpu-ms")
				if stage.name != "typed" {
					b.ReportMetric(m/floor, stage.name+"/typed")
				}
				if small := smaller[stage.name]; small > 0 {
					b.ReportMetric(m/small, stage.name+"-100000/10000")
				}
				if resources == 10_000 {
					smaller[stage.name] = m
				}
			}
		})
	}
}

// other is larger than any CPU cache.
var other = make([]byte, 256<<20)

// evict flushes the CPU caches. Otherwise, garbage collection would leave a small graph cached.
func evict() {
	for i := 0; i < len(other); i += 64 {
		other[i]++
	}
}

// BenchmarkInMemory compares loading a graph with an engine's operations on a loaded graph. Cloning must take at most 30%
// of the time of loading.
func BenchmarkInMemory(b *testing.B) {
	w := newWork(b, 100_000)
	for _, stage := range stages {
		if slices.Contains([]string{"load", "clone", "index", "visit"}, stage.name) {
			b.Run("impl="+stage.name, func(b *testing.B) {
				before := cputime.Now(b)
				for b.Loop() {
					stage.run(b, w)
				}
				b.ReportMetric((cputime.Now(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}

func BenchmarkLoad(b *testing.B) { single(b, "load") }

func BenchmarkSave(b *testing.B) { single(b, "save") }

func BenchmarkDiff(b *testing.B) { single(b, "diff-half") }

func BenchmarkText(b *testing.B) { single(b, "text-all") }

func single(b *testing.B, name string) {
	w := newWork(b, 100_000)
	i := slices.IndexFunc(stages, func(s stage) bool { return s.name == name })
	b.SetBytes(int64(len(w.text)))
	for b.Loop() {
		stages[i].run(b, w)
	}
}
