package console

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
)

// firstGC is the size of the heap, in bytes, at which garbage is collected for the first time.
const firstGC = 512 << 20

// RelaxGC delays garbage collection. Nearly all that a command allocates stays in use until it ends, within seconds, so
// that collections of a heap that is still growing find little to free. The user's own settings take precedence.
func RelaxGC() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstGC)
	// The first collection frees this object. Without the change of settings, the ones after it would come ever faster.
	runtime.AddCleanup(new([64]byte), func(int) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}, 0)
}
