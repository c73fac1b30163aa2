package cloud

import (
	lumi "github.com/lumi-idl/lumi/runtime"
)

// FillIn sets a property that is absent to what Amazon takes then.
func FillIn[T any](unknown lumi.Paths, path lumi.Path, p **T, value T) {
	if *p == nil && !unknown.Has(path) {
		*p = &value
	}
}

// Unsupported is the fault of a property that the IDL has and this provider does not.
func Unsupported(path lumi.Path, set bool) error {
	if !set {
		return nil
	}
	return lumi.Faultf(path, "is not supported by this provider: leave it out")
}
