package cloud

import (
	lumi "github.com/lumi-idl/lumi/runtime"
)

// FillIn sets *p to value, the AWS default, if the property is absent and not unknown.
func FillIn[T any](unknown lumi.Paths, path lumi.Path, p **T, value T) {
	if *p == nil && !unknown.Has(path) {
		*p = &value
	}
}

// Unsupported returns a fault if a property that this provider does not support is set.
func Unsupported(path lumi.Path, set bool) error {
	if !set {
		return nil
	}
	return lumi.Faultf(path, "is not supported by this provider: remove it")
}
