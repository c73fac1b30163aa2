//go:build unix

package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/internal/bench/cluster"
)

// BenchmarkGraph loads a snapshot in a process of its own: by lumigl with all checks, and, for the floor, by
// encoding/json into structs.
func BenchmarkGraph(b *testing.B) {
	loadgraph := build(b, "internal/bench/loadgraph")
	for _, resources := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(resources), func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "snapshot.json")
			f, err := os.Create(name)
			if err != nil {
				b.Fatal(err)
			}
			if err := cluster.Write(f, resources); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			var lumigl, json costs
			for b.Loop() {
				json = append(json, measure(b, exec.Command(loadgraph, "json", name)))
				lumigl = append(lumigl, measure(b, exec.Command(loadgraph, "lumigl", name)))
			}
			b.ReportMetric(0, "ns/op") // the sum of two different things says nothing
			b.ReportMetric(json.cpu(), "json-cpu-s")
			b.ReportMetric(lumigl.cpu(), "lumigl-cpu-s")
			b.ReportMetric(json.peak(), "json-peak-MiB")
			b.ReportMetric(lumigl.peak(), "lumigl-peak-MiB")
			b.ReportMetric(lumigl.cpu()/json.cpu(), "lumigl/json")
		})
	}
}
