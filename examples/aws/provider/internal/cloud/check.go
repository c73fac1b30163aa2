package cloud

import (
	lumi "github.com/lumi-idl/lumi/runtime"
)

// FillIn sets an absent property to Amazon's default.
func FillIn[T any](unknown lumi.Paths, path lumi.Path, p **T, value T) {
	if *p == nil && !unknown.Has(path) {
		*p = &value
	}
}

// Unsupported returns a fault for a property that the IDL declares but this provider does not support.
func Unsupported(path lumi.Path, set bool) error {
	if !set {
		return nil
	}
	return lumi.Faultf(path, "is not supported by this provider: remove it")
}
