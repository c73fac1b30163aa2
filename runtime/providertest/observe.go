package providertest

import (
	"time"

	"github.com/lumi-idl/lumi/runtime/serve/plugin"
)

// This file is what programs need that run the kit outside of a Go test.

// OnStep calls f when a step of a resource begins, with the step's name as reports show it.
func OnStep(f func(r *Resource, step string)) HarnessOption {
	return func(s *setting) { s.onStep = f }
}

// Terms has reports use other names for what they advise: names are those of this package and of package lumi, such as
// MayDiffer and lumi.ErrNotFound.
func Terms(term func(name string) string) HarnessOption { return func(s *setting) { s.term = term } }

// CleanupTime limits how long it may take to delete what is left when the test ends. The default is 10 minutes.
func CleanupTime(d time.Duration) HarnessOption { return func(s *setting) { s.cleanupTime = d } }

// Plugin returns the plugin under test. The harness closes it.
func (h *Harness) Plugin() *plugin.Plugin { return h.plugin }
