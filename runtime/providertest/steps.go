package providertest

import (
	lumi "github.com/lumi-idl/lumi/runtime"
)

// Check calls the provider's Check and returns its result.
func (r *Resource) Check(t TB, properties Properties, options ...Option) lumi.Bag {
	t.Helper()
	s := r.step(t, "check", options)
	checked, ok := s.check(s.encode(properties))
	if ok {
		s.end()
	}
	return lumi.BagOf(checked)
}

// Plan calls Check with the values at the given paths unknown, as if they depended on resources that do not exist yet. If
// the resource exists, it then calls InspectChange.
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

// Retry simulates a lost response to the last Create. It calls Create with the same token if Create is idempotent, and Find
// if the provider supports it. It ends the test if neither is the case.
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

// GetID reads a resource of this type by its id, as for an import, and returns its properties.
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

// NoChange checks that the resource needs no change, and that the provider ignores each of the given changes of properties
// and keeps the old values.
func (r *Resource) NoChange(t TB, set ...Properties) {
	t.Helper()
	s := r.step(t, "no change", nil)
	s.exists(true)
	s.noChange()
	for _, other := range set {
		s.ignored(other)
	}
}

// Inspect returns the response of InspectChange for setting some properties.
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

// Update sets some properties. It calls the provider's Update twice, as after a lost response, and then checks that the
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

// Replace sets some properties whose changes require a replacement. It checks that Update refuses the change, and replaces
// the resource. The old resource is deleted first if InspectChange requires it, and otherwise last.
func (r *Resource) Replace(t TB, set Properties, options ...Option) {
	t.Helper()
	s := r.step(t, "replace", options)
	s.exists(true)
	if s.replace(Replacement{Set: set}) {
		s.end()
		s.settled()
	}
}

// Upgrade simulates an engine whose state was stored by an older version of the provider: it refreshes the resource, calls
// InspectChange, and updates the resource if there are changes. If not, the current state is kept.
func (r *Resource) Upgrade(t TB, u Upgrade) {
	t.Helper()
	s := r.step(t, "upgrade", nil)
	s.exists(true)
	s.upgrade(u)
}

// Delete deletes the resource, checks that it no longer exists, and then checks that deleting it again succeeds.
func (r *Resource) Delete(t TB, options ...Option) {
	t.Helper()
	s := r.step(t, "delete", options)
	s.exists(true)
	if s.delete() {
		s.end()
	}
}
