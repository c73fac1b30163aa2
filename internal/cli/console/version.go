package console

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version returns the version of this binary. It is the version set by 'make dist' or, failing that, the version
// recorded by 'go install'.
func Version(set string) string {
	if info, ok := debug.ReadBuildInfo(); ok && set == "" && info.Main.Version != "(devel)" {
		set = info.Main.Version
	}
	return cmp.Or(set, "devel")
}

// VersionLine returns the output of a version command, which includes the Go version and the platform.
func VersionLine(command, set string) string {
	return fmt.Sprintf("%s %s %s %s/%s", command, Version(set), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
