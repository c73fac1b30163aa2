package content

import (
	"testing"
	"time"
)

// LimitRemote replaces the limits on remote content for one test. Zero leaves a limit as it is.
func LimitRemote(t testing.TB, size int64, silence, wait time.Duration) {
	before := remote
	t.Cleanup(func() { remote = before })
	if size > 0 {
		remote.size = size
	}
	if silence > 0 {
		remote.silence = silence
	}
	if wait > 0 {
		remote.wait = wait
	}
}

// LimitUnpacking replaces the limits on archive files for one test.
func LimitUnpacking(t testing.TB, size, ratio, directory int64) {
	before := unpacking
	t.Cleanup(func() { unpacking = before })
	unpacking = unpackLimits{size: size, ratio: ratio, directory: directory}
}
