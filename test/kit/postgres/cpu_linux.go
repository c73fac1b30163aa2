package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CPU returns the CPU time that the server has used so far, in seconds.
func (s *Server) CPU(t testing.TB) (seconds float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	main, _, _ := strings.Cut(string(text), "\n")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		stat, _ := os.ReadFile(file) // the process may have ended
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		isMain := file == "/proc/"+main+"/stat"
		if len(fields) < 15 || !isMain && fields[1] != main {
			continue
		}
		last := 13
		if isMain { // includes the processes that have ended
			last = 15
		}
		for _, ticks := range fields[11:last] {
			var n float64
			if _, err := fmt.Sscan(ticks, &n); err != nil {
				t.Fatal(err)
			}
			seconds += n / 100
		}
	}
	return seconds
}
