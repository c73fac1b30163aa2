//go:build unix

// Package process_test measures cidlc as its users run it: as a process with all of its children, from a cold start to the
// last file written.
//
// Creating files depends on the file system, and on a busy disk can cost more than all the rest. Files are therefore in
// memory, in /dev/shm if it exists, unless TMPDIR is set.
//
// The benchmarks do no work in their own process, since a child inherits the peak memory of its parent.
package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lumi-idl/lumi/test/kit/corpus"
)

func TestMain(m *testing.M) {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		if err := os.Setenv("TMPDIR", memory); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// BenchmarkWhole compiles a corpus to both outputs. The metrics are CPU seconds: floor is a bare load of the same corpus by
// go/packages, whole is cidlc without previous output, again is cidlc without changes, and one is cidlc after a change of
// one file. Each iteration measures all of them in turn, so that their ratios are valid even on a busy machine.
func BenchmarkWhole(b *testing.B) {
	cidlc := build(b, "cmd/cidlc")
	bareload := build(b, "test/bench/bareload")
	goCache := goCache(b)
	medians := map[int]float64{}
	for _, resources := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(resources), func(b *testing.B) {
			dir := write(b, resources)
			var floor, whole, again, one costs
			for b.Loop() {
				floor = append(floor, measure(b, exec.Command(bareload, filepath.Join(dir, "cloud", "idl"))))
				clean(b, dir)
				whole = append(whole, measure(b, compile(cidlc, dir, goCache)))
				again = append(again, measure(b, compile(cidlc, dir, goCache)))
				edit(b, dir)
				one = append(one, measure(b, compile(cidlc, dir, goCache)))
			}
			b.ReportMetric(0, "ns/op") // the sum of different metrics is meaningless
			b.ReportMetric(floor.cpu(), "floor-cpu-s")
			b.ReportMetric(whole.cpu(), "whole-cpu-s")
			b.ReportMetric(again.cpu(), "again-cpu-s")
			b.ReportMetric(whole.wall(), "whole-wall-s")
			b.ReportMetric(floor.peak(), "floor-peak-MiB")
			b.ReportMetric(whole.peak(), "whole-peak-MiB")
			b.ReportMetric(again.peak(), "again-peak-MiB")
			b.ReportMetric(whole.cpu()/floor.cpu(), "whole/floor")
			b.ReportMetric(again.cpu()/floor.cpu(), "again/floor")
			b.ReportMetric(one.cpu()/floor.cpu(), "one/floor")
			medians[resources] = whole.cpu()
			if resources == 5000 && medians[1000] > 0 {
				b.ReportMetric(whole.cpu()/medians[1000], "5000/1000")
			}
		})
	}
}

// compile returns the command that compiles a corpus. It has its own cache but shares Go's: the benchmark measures cidlc
// without its records, not the go command without its cache.
func compile(cidlc, dir, goCache string) *exec.Cmd {
	cloud := filepath.Join(dir, "cloud")
	cmd := exec.Command(cidlc, filepath.Join(dir, filepath.FromSlash(corpus.IDL)),
		"--out-pack="+filepath.Join(cloud, "pack"), "--out-provider="+filepath.Join(cloud, "provider"))
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOCACHE="+goCache)
	return cmd
}

// edit adds a struct to one file of a corpus.
func edit(b *testing.B, dir string) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(corpus.IDL), "*", "*.go"))
	if err != nil || len(names) == 0 {
		b.Fatalf("no file to edit: %v", err)
	}
	source, err := os.ReadFile(names[len(names)/2])
	if err != nil {
		b.Fatal(err)
	}
	source = fmt.Appendf(source, "\n// Edit%d is new.\ntype Edit%d struct {\n\tNew bool\n}\n", len(source), len(source))
	if err := os.WriteFile(names[len(names)/2], source, 0o644); err != nil {
		b.Fatal(err)
	}
}

// clean removes everything that compile creates.
func clean(b *testing.B, dir string) {
	b.Helper()
	for _, name := range []string{"cache", "cloud/pack", "cloud/provider"} {
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			b.Fatal(err)
		}
	}
}
