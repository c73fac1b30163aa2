//go:build unix

package process_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lumi-idl/lumi/test/bench/cluster"
)

// BenchmarkGraph loads a snapshot in a separate process: with lumigl and full validation and, as a lower bound, with
// encoding/json into structs.
func BenchmarkGraph(b *testing.B) {
	loadgraph := build(b, "test/bench/loadgraph")
	for _, resources := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(resources), func(b *testing.B) {
			name := file(b, "snapshot.json", func(w io.Writer) error { return cluster.Write(w, resources) })
			var lumigl, json costs
			for b.Loop() {
				json = append(json, measure(b, exec.Command(loadgraph, "json", name)))
				lumigl = append(lumigl, measure(b, exec.Command(loadgraph, "lumigl", name)))
			}
			b.ReportMetric(0, "ns/op") // the sum of different loads is meaningless
			b.ReportMetric(json.cpu(), "json-cpu-s")
			b.ReportMetric(lumigl.cpu(), "lumigl-cpu-s")
			b.ReportMetric(json.peak(), "json-peak-MiB")
			b.ReportMetric(lumigl.peak(), "lumigl-peak-MiB")
			b.ReportMetric(lumigl.cpu()/json.cpu(), "lumigl/json")
		})
	}
}

// BenchmarkCommands compares lumi commands on 100,000 resources with decoding the command's first file into structs with
// encoding/json.
func BenchmarkCommands(b *testing.B) {
	const resources = 100_000
	plain := func(w io.Writer) error { return cluster.Write(w, resources) }
	half := func(w io.Writer) error { return cluster.WriteChanged(w, 0, resources, func(int) bool { return true }) }
	pulumi := func(w io.Writer) error { return cluster.WritePulumi(w, resources) }
	openTofu := func(w io.Writer) error { return cluster.WriteOpenTofu(w, resources) }
	lumi, loadgraph := build(b, "cmd/lumi"), build(b, "test/bench/loadgraph")
	for _, c := range []struct {
		name, format string
		args         []string
		files        []func(io.Writer) error
		exit         int
	}{
		{"convert-pulumi", "pulumi", []string{"convert"}, []func(io.Writer) error{pulumi}, 0},
		{"convert-opentofu", "opentofu", []string{"convert"}, []func(io.Writer) error{openTofu}, 0},
		// Every line differs from its canonical form, since the snapshot is indented by four spaces.
		{"fmt-check", "json", []string{"fmt", "--check"}, []func(io.Writer) error{plain}, 1},
		{"diff-half", "json", []string{"diff"}, []func(io.Writer) error{plain, half}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			var names []string
			for i, write := range c.files {
				names = append(names, file(b, fmt.Sprintf("%d.json", i), write))
			}
			args := slices.Concat(c.args, names)
			var lumiCosts, json costs
			for b.Loop() {
				json = append(json, measure(b, exec.Command(loadgraph, c.format, names[0])))
				lumiCosts = append(lumiCosts, measureExit(b, exec.Command(lumi, args...), c.exit))
			}
			b.ReportMetric(0, "ns/op") // the sum of different commands is meaningless
			b.ReportMetric(json.cpu(), "json-cpu-s")
			b.ReportMetric(lumiCosts.cpu(), "lumi-cpu-s")
			b.ReportMetric(json.peak(), "json-peak-MiB")
			b.ReportMetric(lumiCosts.peak(), "lumi-peak-MiB")
			b.ReportMetric(lumiCosts.cpu()/json.cpu(), "lumi/json")
		})
	}
}

// file creates a file in a temporary folder, writes its content with write, and returns its path.
func file(b *testing.B, name string, write func(io.Writer) error) string {
	b.Helper()
	name = filepath.Join(b.TempDir(), name)
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	if err := write(f); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}
