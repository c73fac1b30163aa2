package sim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	lumi "github.com/lumi-idl/lumi/runtime"
)

type resource struct {
	Resource
	asked   map[string]any // inputs in the Create request
	changes int
	by      string    // token of the last Update
	before  *Resource // state before the last Update, or nil if there was none
	settled time.Time // time at which the last change becomes visible everywhere
	gone    time.Time // time at which the deletion finishes, or zero if the resource is not being deleted
}

// Change simulates drift: it sets an input of an existing resource without a call. A nil value removes the input.
func (c *Cloud) Change(id lumi.ID, property string, value any) {
	defer c.lock()()
	c.resources[id].set(map[string]any{property: value})
}

// Remove simulates drift: it removes a resource without a call, even if other resources refer to it.
func (c *Cloud) Remove(id lumi.ID) {
	defer c.lock()()
	delete(c.resources, id)
}

// lock locks the cloud, removes all resources whose deletion has finished, and returns a function that unlocks the cloud.
func (c *Cloud) lock() (unlock func()) {
	c.mu.Lock()
	maps.DeleteFunc(c.resources, func(_ lumi.ID, r *resource) bool {
		return !r.gone.IsZero() && !time.Now().Before(r.gone)
	})
	return c.mu.Unlock
}

// first returns the matching resource with the lowest id, or nil if no resource matches.
func (c *Cloud) first(match func(r *resource) bool) *resource {
	var found *resource
	for _, r := range c.resources {
		if match(r) && (found == nil || r.ID < found.ID) {
			found = r
		}
	}
	return found
}

// alive returns the resource with the given id, or nil if it does not exist or is being deleted.
func (c *Cloud) alive(id lumi.ID) *resource {
	if r := c.resources[id]; r != nil && r.gone.IsZero() {
		return r
	}
	return nil
}

// withToken returns the resource of type t that was created with token, or nil if there is none or it is being deleted.
func (c *Cloud) withToken(t Type, token string) *resource {
	return c.first(func(r *resource) bool {
		return r.Type == t.Token && token != "" && r.Token == token && r.gone.IsZero()
	})
}

// create creates a resource, or returns the existing one if t is idempotent and the token was used before. It sets only the
// inputs in given, which is a subset of inputs if the call fails halfway.
func (c *Cloud) create(a *attempt, t Type, inputs, given map[string]any) (*resource, error) {
	r := c.withToken(t, a.Token)
	switch {
	case a.Token == "":
		c.violate("Create of %s without a token", a.URN)
	case r != nil && !reflect.DeepEqual(r.asked, inputs):
		c.violate("Create of %s with other inputs and the token of %s", a.URN, r.ID)
		return nil, fmt.Errorf("the token was already used for %s, with different inputs", r.ID)
	case r != nil && !t.Idempotent:
		c.violate("Create of %s again, although %s exists", a.URN, r.ID)
	}
	if err := c.reach(given); err != nil {
		return nil, err
	}
	if r == nil || !t.Idempotent {
		taken := func(r *resource) bool { return r.Type == t.Token && r.name() == fmt.Sprint(inputs["name"]) }
		if other := c.first(taken); t.Unique && other != nil {
			return nil, lumi.Faultf("name", "is taken by %s", other.ID)
		}
		id := lumi.ID(fmt.Sprintf("%s-%012x", strings.ToLower(t.Token.Name()), a.chance.Uint64()>>16))
		r = &resource{
			Resource: Resource{ID: id, Type: t.Token, URN: a.URN, Token: a.Token},
			asked:    inputs, settled: time.Now().Add(a.share(c.options.Lag)),
		}
		c.resources[id] = r
	}
	c.changed[a.Token] = c.changed[a.Token] || t.Idempotent
	c.write(a, r, given)
	return r, nil
}

// isLate reports whether an Update must have no effect, since another attempt had one before a later Update.
func (c *Cloud) isLate(a *attempt, t Type, r *resource) bool {
	if !t.Repeatable {
		return false
	}
	if a.Token == "" {
		c.violate("%s of %s without a token", a.Op, a.URN)
	}
	if c.changed[a.Token] {
		return r.by != a.Token
	}
	c.changed[a.Token], r.by = true, a.Token
	return false
}

// write sets inputs of a resource. If any of them changes, it records the call's effect.
func (c *Cloud) write(a *attempt, r *resource, inputs map[string]any) {
	a.ID = r.ID
	differs := r.changes == 0
	for property, v := range inputs {
		differs = differs || !reflect.DeepEqual(r.Inputs[property], v)
	}
	if differs {
		c.note(a)
		r.set(inputs)
	}
}

// note records that the call has changed the cloud.
func (c *Cloud) note(a *attempt) {
	c.effects++
	a.Effect = c.effects
}

func (c *Cloud) violate(format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

// set updates the inputs and outputs. It replaces the maps instead of modifying them, since copies of the resource share
// them.
func (r *resource) set(inputs map[string]any) {
	r.changes++
	all := map[string]any{}
	maps.Copy(all, r.Inputs)
	maps.Copy(all, inputs)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	r.Inputs = all
	id := string(r.ID)
	r.Outputs = map[string]any{"arn": id + ".arn", "etag": fmt.Sprint(id, ".etag.", r.changes), "key": id + ".key"}
}

func (r *Resource) name() string { return fmt.Sprint(r.Inputs["name"]) }

// hiddenFor returns the time until a new resource becomes visible everywhere, or 0 if it already is.
func (r *resource) hiddenFor() time.Duration {
	if r.before != nil {
		return 0
	}
	return max(0, time.Until(r.settled))
}

// reach returns a fault if the inputs refer to a missing resource, or a [lumi.RetryError] if they refer to
// a resource that is not fully visible yet.
func (c *Cloud) reach(inputs map[string]any) error {
	for _, ref := range references(inputs) {
		to := c.alive(ref.to)
		if to == nil {
			return lumi.Faultf(ref.from, "refers to %s, which does not exist", ref.to)
		}
		if wait := to.hiddenFor(); wait > 0 {
			return &lumi.RetryError{Err: fmt.Errorf("%s is not fully visible yet", ref.to), After: wait}
		}
	}
	return nil
}

// userOf returns a resource that refers to the given one, or nil if there is none. It chooses the lowest id.
func (c *Cloud) userOf(to *resource) *resource {
	return c.first(func(r *resource) bool {
		return r != to && slices.ContainsFunc(references(r.Inputs), func(ref reference) bool { return ref.to == to.ID })
	})
}

type reference struct {
	from lumi.Path
	to   lumi.ID
}

// references returns all references in inputs.
func references(inputs map[string]any) (all []reference) {
	on, _ := inputs["on"].([]any)
	for _, id := range on {
		all = append(all, reference{"on", lumi.ID(id.(string))})
	}
	for _, property := range []string{"at", "parent"} {
		if to, ok := inputs[property].(string); ok {
			id, _, _ := strings.Cut(to, ".")
			all = append(all, reference{lumi.Path(property), lumi.ID(id)})
		}
	}
	return all
}
