package main

import (
	"os"
	"runtime/debug"
)

// relaxGC lets the heap grow to four times what is live instead of twice. A process that ends within a second has no
// use for tidiness: at 1,000 resources this saves a fifth of the CPU time. The user's own GOGC counts more.
func relaxGC() { setGC(300) }

// tightenGC is for when the syntax trees and types are garbage, so that what is rendered goes where they were.
func tightenGC() { setGC(200) }

func setGC(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
