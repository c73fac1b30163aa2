package cloud

import (
	"reflect"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Set changes a property if the current value differs from the wanted one. has points to the current value in
// state.Properties. Create and Update first set the properties to the existing values, so that a failure leaves the
// state correct.
func Set[P lumi.Object, T any](
	state *lumi.State[P], property string, has *T, wanted T, request func(wanted T) error,
) error {
	if reflect.DeepEqual(*has, wanted) {
		return nil
	}
	if err := request(wanted); err != nil {
		return Error(err)
	}
	*has = wanted
	state.Done(property)
	return nil
}
