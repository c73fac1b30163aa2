//go:build unix

package process_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/corpus"
)

// cost is the resource usage of a process and its children.
type cost struct {
	wall, cpu time.Duration
	// peak is the peak memory, in bytes, of the largest process.
	peak int64
}

// measure runs cmd, which must exit with code 0, and returns its cost.
func measure(b *testing.B, cmd *exec.Cmd) cost {
	b.Helper()
	return measureExit(b, cmd, 0)
}

// measureExit runs cmd, which must exit with the given code, and returns its cost. It discards standard output, since
// buffering it would use memory in this process.
func measureExit(b *testing.B, cmd *exec.Cmd, exit int) cost {
	b.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exit {
		b.Fatalf("%v: %v\n%s", cmd.Args, err, &stderr)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	peak := int64(usage.Maxrss) //nolint:unconvert // Maxrss is an int32 on some systems.
	if runtime.GOOS != "darwin" {
		peak *= 1024 // every other system reports KiB
	}
	return cost{
		wall: time.Since(start),
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		peak: peak,
	}
}

// costs holds the costs of repeated runs.
type costs []cost

// median returns the median of a metric. Unlike the mean, it is not affected by a single slow run.
func (c costs) median(of func(cost) float64) float64 {
	values := make([]float64, len(c))
	for i, one := range c {
		values[i] = of(one)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func (c costs) cpu() float64  { return c.median(func(one cost) float64 { return one.cpu.Seconds() }) }
func (c costs) wall() float64 { return c.median(func(one cost) float64 { return one.wall.Seconds() }) }
func (c costs) peak() float64 {
	return c.median(func(one cost) float64 { return float64(one.peak) / (1 << 20) })
}

// build builds one of this module's commands and returns the path of the binary.
func build(b *testing.B, pkg string) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), filepath.Base(pkg))
	if out, err := exec.Command("go", "build", "-o", binary, corpus.Lumi+"/"+pkg).CombinedOutput(); err != nil {
		b.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return binary
}

// write writes a corpus and returns its folder.
func write(b *testing.B, resources int) string {
	b.Helper()
	dir := b.TempDir()
	if err := corpus.Write(dir, corpus.Options{Resources: resources}); err != nil {
		b.Fatal(err)
	}
	return dir
}

// goCache returns the path of Go's build cache.
func goCache(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
