package console

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// firstGC is the heap size in bytes at which the first garbage collection runs.
const firstGC = 512 << 20

// RelaxGC delays garbage collection. Nearly all memory that a command allocates stays in use until it exits, within seconds,
// so collecting a growing heap frees little. The user's own settings take precedence.
func RelaxGC() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstGC)
	// The first collection frees this object. Without changing the settings then, later collections would come ever faster.
	runtime.AddCleanup(new([64]byte), func(int) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}, 0)
}
