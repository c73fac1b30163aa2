package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by 'make dist'. A binary that 'go install' built knows its version from its build information.
var version string

// versionLine is what --version prints.
func versionLine() string {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" && info.Main.Version != "(devel)" {
		v = info.Main.Version
	}
	return fmt.Sprintf("cidlc %s %s %s/%s", cmp.Or(v, "devel"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
