package main

import (
	"os"
	"runtime/debug"
)

// relaxGC lets the heap grow to four times the live data instead of twice. The process ends within a second: at 1,000
// resources this saves a fifth of the CPU time. A GOGC set by the user takes precedence.
func relaxGC() { setGC(300) }

// tightenGC is called when the syntax trees and types are garbage, so that rendering reuses their memory.
func tightenGC() { setGC(200) }

func setGC(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
