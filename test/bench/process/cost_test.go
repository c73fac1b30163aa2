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

// cost is what a process and all that it started cost together.
type cost struct {
	wall, cpu time.Duration
	// peak is the memory, in bytes, of the process that used most.
	peak int64
}

// measure runs a command that succeeds.
func measure(b *testing.B, cmd *exec.Cmd) cost {
	b.Helper()
	return measureExit(b, cmd, 0)
}

// measureExit runs a command that ends with an exit code. Its standard output is dropped, since keeping it would take
// memory in this process.
func measureExit(b *testing.B, cmd *exec.Cmd, exit int) cost {
	b.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exit {
		b.Fatalf("%v: %v\n%s", cmd.Args, err, &stderr)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	peak := int64(usage.Maxrss) //nolint:unconvert // It is an int32 on some systems.
	if runtime.GOOS != "darwin" {
		peak *= 1024 // all but one count in KiB
	}
	return cost{
		wall: time.Since(start),
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		peak: peak,
	}
}

// costs are those of several runs of the same thing.
type costs []cost

// A median is not moved by one run that something else on the machine got in the way of.
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

// goCache is where the go command keeps what it has built.
func goCache(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
