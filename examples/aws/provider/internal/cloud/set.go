package cloud

import (
	"reflect"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Set calls request to change a property, unless the current value equals wanted. has points to the current value in
// state.Properties, which Set updates after success. Create and Update initialize the properties with the existing values,
// so that the state remains correct after a failure.
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
