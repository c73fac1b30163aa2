package local

import (
	"fmt"
	"io/fs"
	"runtime"
	"strconv"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// modeProperty is the name of the mode property of File and Directory.
const modeProperty lumi.Path = File_Mode

// checkMode fills in the default mode, or returns a fault.
func checkMode(mode **string, otherwise string, unknown lumi.Paths) error {
	switch {
	case unknown.Has(modeProperty):
		return nil
	case *mode == nil:
		*mode = &otherwise
	case !isMode(**mode):
		return lumi.Faultf(modeProperty, "must be three octal digits, such as %s", otherwise)
	}
	return nil
}

func isMode(s string) bool {
	_, err := strconv.ParseUint(s, 8, 9)
	return err == nil && len(s) >= 3 && len(s) <= 4
}

// permissions returns the permissions of a checked mode. State without a mode has none.
func permissions(mode *string) fs.FileMode {
	if mode == nil {
		return 0
	}
	bits, _ := strconv.ParseUint(*mode, 8, 9) // Check rejects all others.
	return fs.FileMode(bits)
}

// readMode returns the current mode in the notation of old. Windows has no modes.
func readMode(info fs.FileInfo, old *string) *string {
	if old != nil && (runtime.GOOS == "windows" || permissions(old) == info.Mode().Perm()) {
		return old
	}
	return new(fmt.Sprintf("%03o", info.Mode().Perm()))
}

// inspectMode ignores a change of notation.
func inspectMode(old, want *string, diff *lumi.Diff) {
	if old != nil && want != nil && permissions(old) == permissions(want) {
		diff.Ignore(modeProperty)
	}
}
