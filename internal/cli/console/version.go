package console

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version returns the version of this binary: the one that 'make dist' set, or what 'go install' left in its build information.
func Version(set string) string {
	if info, ok := debug.ReadBuildInfo(); ok && set == "" && info.Main.Version != "(devel)" {
		set = info.Main.Version
	}
	return cmp.Or(set, "devel")
}

// VersionLine returns what a command prints of its version: that of Go and the system, too.
func VersionLine(command, set string) string {
	return fmt.Sprintf("%s %s %s %s/%s", command, Version(set), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
