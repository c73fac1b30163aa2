package cloud

import (
	"reflect"

	lumi "github.com/lumi-idl/lumi/runtime"
)

// Set changes a property of a resource from what it has to what is wanted, if these differ. Has is part of the state's
// properties. Create and Update first set those to what exists, so that a failure leaves them as the resource is then.
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
