package cloud

import (
	lumi "github.com/lumi-idl/lumi/runtime"
)

// Step is a part of an update that Amazon carries out by itself.
type Step struct {
	// Needed says whether there is anything to do.
	Needed bool
	// Do carries it out.
	Do func() error
	// Keep notes in the properties that are wanted that they are still as they were.
	Keep func()
}

// Run carries out steps in order. At the first that fails it stops, keeps what was not done, and returns what an Update
// has to: the error, as [lumi.Partial] where something was done before.
func Run(steps ...Step) error {
	done := false
	for i, step := range steps {
		if !step.Needed {
			continue
		}
		err := step.Do()
		if err == nil {
			done = true
			continue
		}
		for _, left := range steps[i:] {
			if left.Needed {
				left.Keep()
			}
		}
		if done {
			return lumi.Partial(err)
		}
		return err
	}
	return nil
}
