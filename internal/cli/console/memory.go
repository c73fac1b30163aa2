package console

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// firstGC is the heap size in bytes at which the first garbage collection runs.
const firstGC = 512 << 20

// RelaxGC delays garbage collection. A command exits within seconds and uses nearly all allocated memory until then, so
// collecting a growing heap frees little. The user's settings take precedence.
func RelaxGC() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstGC)
	// The first collection frees this object. Change the settings then, or later collections would become ever more
	// frequent.
	runtime.AddCleanup(new([64]byte), func(int) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}, 0)
}
