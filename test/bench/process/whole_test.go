//go:build unix

// Package process_test measures cidlc end to end: the process and all of its children, from a cold start to the last file
// written.
//
// On a busy disk, creating files can cost more than everything else. Unless TMPDIR is set, files are therefore created in
// memory, in /dev/shm if it exists.
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

// BenchmarkWhole compiles a corpus to both outputs. The metrics are CPU seconds: floor for loading the corpus with
// go/packages alone, whole for cidlc without previous output, again for cidlc without changes, and one for cidlc after a
// change to one file. Each iteration measures all of them, so that their ratios are meaningful even on a busy machine.
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

// compile returns the cidlc command for a corpus. It uses a fresh cidlc cache but shares Go's build cache, since the
// benchmark measures a cold start of cidlc, not of the go command.
func compile(cidlc, dir, goCache string) *exec.Cmd {
	cloud := filepath.Join(dir, "cloud")
	cmd := exec.Command(cidlc, filepath.Join(dir, filepath.FromSlash(corpus.IDL)),
		"--out-pack="+filepath.Join(cloud, "pack"), "--out-provider="+filepath.Join(cloud, "provider"))
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOCACHE="+goCache)
	return cmd
}

// edit appends a struct to one file of the corpus in dir.
func edit(b *testing.B, dir string) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(corpus.IDL), "*", "*.go"))
	if err != nil || len(names) == 0 {
		b.Fatalf("Glob of IDL files = %v, %v, want at least one", names, err)
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

// clean removes all files created by the command from compile.
func clean(b *testing.B, dir string) {
	b.Helper()
	for _, name := range []string{"cache", "cloud/pack", "cloud/provider"} {
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			b.Fatal(err)
		}
	}
}
