package providertest

import (
	lumi "github.com/lumi-idl/lumi/runtime"
)

// Check checks properties and returns them with the provider's additions.
func (r *Resource) Check(t TB, properties Properties, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "check", options)
	checked, ok := s.check(s.encode(properties))
	if ok {
		s.end()
	}
	return lumi.BagOf(checked)
}

// Plan checks properties, some of which are unknown, as if they depended on resources that do not exist. If the
// resource exists, it also inspects the change.
func (r *Resource) Plan(t TB, properties Properties, unknown ...lumi.Path) {
	t.Helper()
	s := r.step(t, "plan with "+list(unknown)+" unknown", nil)
	bag := s.encode(properties)
	for _, path := range unknown {
		if !replaceAt(bag, path, lumi.NewUnknown()) {
			s.fatalf("no property %s to make unknown", path)
		}
	}
	checked, ok := s.check(bag)
	if !ok || s.r.ID() == "" {
		return
	}
	resp, err := s.r.callInspect(s.ctx, s.r.current(), checked)
	if s.called("InspectChange", err) {
		s.reportsUnknown(unknown, resp)
	}
}

// Create creates the resource, and then checks that it can be read and needs no change.
func (r *Resource) Create(t TB, properties Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "create", options)
	s.exists(false)
	if s.create(properties) {
		s.end()
		s.settled()
	}
}

// Retry simulates an engine that did not get the response to the last Create: it calls Create again with the same
// token, or Find, or both, as the provider supports. It fails if the provider supports neither.
func (r *Resource) Retry(t TB) {
	t.Helper()
	s := r.step(t, "create again after a lost response", nil)
	s.exists(true)
	if !r.described.IdempotentCreate && !r.described.CanFind {
		s.fatalf("the provider neither has an idempotent Create nor can Find resources of this type, so an engine would have" +
			" to ask the user")
	}
	s.retry()
}

// Get reads the resource for an import and for a refresh, and returns its properties.
func (r *Resource) Get(t TB, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "get", options)
	s.exists(true)
	got, ok := s.get(r.current())
	if ok {
		s.end()
	}
	return lumi.BagOf(got)
}

// GetID reads any resource of this type by its id, as for an import.
func (r *Resource) GetID(t TB, id lumi.ID, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "get "+string(id), options)
	got, err := r.callGet(s.ctx, lumi.Import, id, nil)
	if s.called(nameOf(lumi.Import), err) {
		s.answer(nameOf(lumi.Import), got)
		s.end()
	}
	return lumi.BagOf(got)
}

// NoChange checks that the resource needs no change, even if a program makes one of the given changes: the provider
// must ignore the difference and keep the old values.
func (r *Resource) NoChange(t TB, set ...Properties) {
	t.Helper()
	s := r.step(t, "no change", nil)
	s.exists(true)
	s.noChange()
	for _, other := range set {
		s.ignored(other)
	}
}

// Inspect returns the changes that setting some properties would make.
func (r *Resource) Inspect(t TB, set Properties, options ...Option) *lumi.InspectChangeResponse {
	t.Helper()
	s := r.step(t, "inspect", options)
	s.exists(true)
	_, resp, ok := s.inspect(r.asked.With(set))
	if ok {
		s.end()
	}
	return resp
}

// Update updates the resource twice, like an engine that did not get the first response. It then checks that the
// resource can be read and needs no further change.
func (r *Resource) Update(t TB, set Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "update", options)
	s.exists(true)
	if s.update(Change{Set: set}) {
		s.end()
		s.settled()
	}
}

// Replace replaces the resource, since some properties cannot change in place, and checks that an update is refused.
// The old resource is deleted first if InspectChange requires it, and otherwise last.
func (r *Resource) Replace(t TB, set Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "replace", options)
	s.exists(true)
	if s.replace(Replacement{Set: set}) {
		s.end()
		s.settled()
	}
}

// Upgrade does what an engine does if its state was stored by an older version of the provider: it refreshes and
// inspects the resource, and updates it if necessary. A state that needs no update is left unchanged.
func (r *Resource) Upgrade(t TB, u Upgrade) {
	t.Helper()
	s := r.step(t, "upgrade", nil)
	s.exists(true)
	s.upgrade(u)
}

// Delete deletes the resource twice and checks that it is gone.
func (r *Resource) Delete(t TB, options ...Option) {
	t.Helper()
	s := r.step(t, "delete", options)
	s.exists(true)
	if s.delete() {
		s.end()
	}
}
