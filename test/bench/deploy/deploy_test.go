//go:build unix

// Package deploy_test measures the CPU time and memory used by a deployment in the engine, its store, and the plugin.
// The provider's operations are no-ops.
package deploy_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// BenchmarkDeploy deploys independent resources and chains of ten, to a store on disk and, if available, to one on an
// in-memory file system. It alternates between the sizes.
func BenchmarkDeploy(b *testing.B) {
	engine := buildEngine(b)
	for _, chain := range []int{1, 10} {
		b.Run(fmt.Sprintf("chain=%d", chain), func(b *testing.B) { benchmark(b, engine, chain) })
	}
}

func buildEngine(b *testing.B) string {
	b.Helper()
	engine := filepath.Join(b.TempDir(), "engine")
	if out, err := exec.Command("go", "build", "-o", engine, "./engine").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return engine
}

func benchmark(b *testing.B, engine string, chain int) {
	folders := map[string]string{"disk": b.TempDir()}
	if folder, err := os.MkdirTemp("/dev/shm", "lumi"); err == nil {
		defer os.RemoveAll(folder)
		folders["memory"] = folder
	}
	sizes := []int{1000, 5000, 10_000, 20_000}
	cpu, peak := map[string]float64{}, map[string]float64{}
	for b.Loop() {
		for _, resources := range sizes {
			for name, folder := range folders {
				path := filepath.Join(folder, fmt.Sprintf("%d-%d.db", resources, b.N))
				seconds, bytes := measure(b, exec.Command(engine, path, strconv.Itoa(resources), strconv.Itoa(chain)))
				cpu[name+strconv.Itoa(resources)] += seconds
				peak[name+strconv.Itoa(resources)] += bytes
				for _, end := range []string{"", "-wal", "-shm"} {
					_ = os.Remove(path + end)
				}
			}
		}
	}
	n := float64(b.N)
	for name := range folders {
		for _, resources := range sizes {
			ms := 1000 * cpu[name+strconv.Itoa(resources)] / n / float64(resources)
			b.ReportMetric(ms, fmt.Sprintf("CPU-ms/resource-of-%d-%s", resources, name))
		}
		b.ReportMetric(cpu[name+"20000"]/cpu[name+"10000"], "CPU-20000/10000-"+name)
		b.ReportMetric((peak[name+"20000"]-peak[name+"1000"])/n/19_000/1024, "KiB/resource-"+name)
	}
	b.ReportMetric(0, "ns/op")
}

// measure runs cmd and returns the total CPU time of its processes, in seconds, and the peak memory of the largest one, in
// bytes.
func measure(b *testing.B, cmd *exec.Cmd) (seconds, peak float64) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %v\n%s", cmd.Args, err, &stderr)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	peak = float64(usage.Maxrss)
	if runtime.GOOS != "darwin" {
		peak *= 1024 // every other system reports KiB
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peak
}
