package local

import (
	"fmt"
	"io/fs"
	"runtime"
	"strconv"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// modeProperty is the name of the mode property in File and Directory.
const modeProperty lumi.Path = File_Mode

// checkMode sets an absent mode to otherwise. It returns a fault if the mode is invalid.
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

// permissions converts a mode that has passed Check. It returns 0 if mode is nil, as in state without a mode.
func permissions(mode *string) fs.FileMode {
	if mode == nil {
		return 0
	}
	bits, _ := strconv.ParseUint(*mode, 8, 9) // Check rejects invalid modes
	return fs.FileMode(bits)
}

// readMode returns the current mode of a file, or old if it has the same meaning. On Windows, which has no modes, it
// returns old if it is not nil.
func readMode(info fs.FileInfo, old *string) *string {
	if old != nil && (runtime.GOOS == "windows" || permissions(old) == info.Mode().Perm()) {
		return old
	}
	return new(fmt.Sprintf("%03o", info.Mode().Perm()))
}

// inspectMode ignores a change of the mode if both values have the same meaning.
func inspectMode(old, want *string, diff *lumi.Diff) {
	if old != nil && want != nil && permissions(old) == permissions(want) {
		diff.Ignore(modeProperty)
	}
}
