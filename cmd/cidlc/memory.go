package main

import (
	"os"
	"runtime/debug"
)

// relaxGC lets the heap grow to four times the live data instead of twice. The process is short-lived; for 1,000
// resources, this saves a fifth of the CPU time. A GOGC set by the user takes precedence.
func relaxGC() { setGC(300) }

// tightenGC makes rendering reuse the memory of syntax trees and types. Call it once they are garbage.
func tightenGC() { setGC(200) }

func setGC(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
