//go:build unix

// Package graph_test measures what a graph costs inside one process: loading it with all checks, saving it, and walking
// along its references.
package graph_test

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/internal/bench/cluster"
	"github.com/lumi-idl/lumi/lumigl"
)

// typed is what a program without lumigl would decode a snapshot into.
type typed struct {
	Package   string
	Resources map[string]struct {
		Type, ID   string
		Properties map[string]any
	}
}

// stages are what is measured, in turn. The first two are the floors.
var stages = []struct {
	name string
	run  func(*testing.B, *work)
}{
	{"valid", func(b *testing.B, w *work) {
		if !json.Valid(w.bytes) {
			b.Fatal("not JSON")
		}
	}},
	{"typed", func(b *testing.B, w *work) {
		var s typed
		if err := json.Unmarshal(w.bytes, &s); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(s)
	}},
	{"load", func(b *testing.B, w *work) {
		var err error
		if w.snapshot, err = lumigl.ParseSnapshot(w.text); err != nil {
			b.Fatal(err)
		}
	}},
	{"save", func(b *testing.B, w *work) {
		if err := lumigl.Write(io.Discard, w.snapshot); err != nil {
			b.Fatal(err)
		}
	}},
	{"walk", func(b *testing.B, w *work) {
		references := 0
		for r := range w.snapshot.Vertices() {
			for target := range r.Properties.References() {
				if target.Type == "" {
					b.Fatal("a reference leads nowhere")
				}
				references++
			}
		}
		if references != w.snapshot.Len() {
			b.Fatal("not all was seen")
		}
	}},
}

// work is what the stages work on.
type work struct {
	text     string
	bytes    []byte
	snapshot *lumigl.Snapshot
}

// BenchmarkStages reports the CPU time of each stage, the garbage collector's included, as the median of all iterations.
// Every iteration measures all stages in turn, so that their ratios to encoding/json's decoding hold even if the machine
// is busy.
func BenchmarkStages(b *testing.B) {
	smaller := map[string]float64{}
	for _, resources := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(resources), func(b *testing.B) {
			var text strings.Builder
			if err := cluster.Write(&text, resources); err != nil {
				b.Fatal(err)
			}
			w := &work{text: text.String(), bytes: []byte(text.String())}
			times := map[string][]float64{}
			for b.Loop() {
				for _, stage := range stages {
					runtime.GC()
					evict()
					before := cpu(b)
					stage.run(b, w)
					times[stage.name] = append(times[stage.name], (cpu(b) - before).Seconds())
				}
			}
			b.ReportMetric(0, "ns/op") // the sum of different things says nothing
			floor := median(times["typed"])
			for _, stage := range stages {
				m := median(times[stage.name])
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

// other is more than processors keep.
var other = make([]byte, 256<<20)

// evict makes the processor forget what it has kept of the graph. Otherwise a small one would be measured as nobody ever
// meets it, right after the garbage collector has looked at all of it.
func evict() {
	for i := 0; i < len(other); i += 64 {
		other[i]++
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// cpu is the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkLoad, BenchmarkSave and the others measure one stage each, for profiles and for what is allocated.
func BenchmarkLoad(b *testing.B) { single(b, "load") }

// BenchmarkSave measures saving alone.
func BenchmarkSave(b *testing.B) { single(b, "save") }

func single(b *testing.B, name string) {
	var text strings.Builder
	if err := cluster.Write(&text, 100_000); err != nil {
		b.Fatal(err)
	}
	w := &work{text: text.String()}
	for _, stage := range stages[2:] {
		if stage.name == "load" {
			stage.run(b, w)
		}
	}
	b.SetBytes(int64(len(w.text)))
	for b.Loop() {
		for _, stage := range stages {
			if stage.name == name {
				stage.run(b, w)
			}
		}
	}
}
