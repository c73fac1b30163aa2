//go:build linux

package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/lumi-idl/lumi/test/kit/postgres"
)

// BenchmarkStores deploys the same programs with SQLite and with PostgreSQL, in turns. The CPU time includes the server.
func BenchmarkStores(b *testing.B) {
	engine := buildEngine(b)
	server := postgres.Start(b, "fsync=on")
	proxy := server.Proxy(b)
	folder := b.TempDir()
	programs := [][2]int{{1000, 1}, {10_000, 1}, {1000, 1000}}
	file, database := map[string]float64{}, map[string]float64{}
	for b.Loop() {
		for i, p := range programs {
			name := fmt.Sprintf("%d-chain-%d", p[0], p[1])
			path := filepath.Join(folder, fmt.Sprintf("%d-%d.db", i, b.N))
			seconds, _ := measure(b, exec.Command(engine, path, strconv.Itoa(p[0]), strconv.Itoa(p[1])))
			file[name] += seconds
			_ = os.Remove(path)
			before := server.CPU(b)
			seconds, _ = measure(b, exec.Command(engine, server.URL(), strconv.Itoa(p[0]), strconv.Itoa(p[1])))
			database[name] += seconds + server.CPU(b) - before
		}
	}
	for name := range file {
		b.ReportMetric(database[name]/file[name], "PostgreSQL/SQLite-"+name)
	}
	proxy.Sent.Store(0)
	measure(b, exec.Command(engine, proxy.URL(server.URL()), "1000", "1"))
	b.ReportMetric(float64(proxy.Sent.Load())/1000, "roundtrips/resource")
	proxy.Delay = 10 * time.Millisecond
	began := time.Now()
	measure(b, exec.Command(engine, proxy.URL(server.URL()), "1000", "1"))
	b.ReportMetric(time.Since(began).Seconds(), "s/1000-resources-at-10ms")
	b.ReportMetric(0, "ns/op")
}
