package console

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// firstGC is the heap size at which the first garbage collection runs, in bytes.
const firstGC = 512 << 20

// RelaxGC delays garbage collection. Commands exit within seconds and use nearly all allocated memory until then, so
// collecting a growing heap would free little. GOGC and GOMEMLIMIT take precedence.
func RelaxGC() {
	if tuned() {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstGC)
	// The first collection frees this object. It restores the defaults, since otherwise collections would become more
	// and more frequent.
	runtime.AddCleanup(new([64]byte), func(int) { NormalGC() }, 0)
}

// NormalGC reverts [RelaxGC]. Commands that run for long and allocate little that they keep call it.
func NormalGC() {
	if !tuned() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

func tuned() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
