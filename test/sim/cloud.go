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
	asked   map[string]any // the inputs in the Create request
	changes int
	before  *Resource // the state before the last Update, nil if there was none
	settled time.Time // when the last change becomes visible everywhere
	gone    time.Time // when its deletion ends, zero if it is not being deleted
}

// Change sets an input of an existing resource without the engine's knowledge. Nil removes the input.
func (c *Cloud) Change(id lumi.ID, property string, value any) {
	defer c.lock()()
	c.resources[id].set(map[string]any{property: value})
}

// Remove removes a resource without the engine's knowledge, even if others refer to it.
func (c *Cloud) Remove(id lumi.ID) {
	defer c.lock()()
	delete(c.resources, id)
}

// lock locks the cloud and removes resources whose deletion has finished.
func (c *Cloud) lock() (unlock func()) {
	c.mu.Lock()
	maps.DeleteFunc(c.resources, func(_ lumi.ID, r *resource) bool {
		return !r.gone.IsZero() && !time.Now().Before(r.gone)
	})
	return c.mu.Unlock
}

// first returns the matching resource with the lowest id, or nil.
func (c *Cloud) first(match func(r *resource) bool) *resource {
	var found *resource
	for _, r := range c.resources {
		if match(r) && (found == nil || r.ID < found.ID) {
			found = r
		}
	}
	return found
}

// alive returns a resource that exists and is not being deleted, or nil.
func (c *Cloud) alive(id lumi.ID) *resource {
	if r := c.resources[id]; r != nil && r.gone.IsZero() {
		return r
	}
	return nil
}

// withToken returns the resource created with a token, or nil.
func (c *Cloud) withToken(t Type, token string) *resource {
	return c.first(func(r *resource) bool {
		return r.Type == t.Token && token != "" && r.Token == token && r.gone.IsZero()
	})
}

// create creates a resource, or returns the existing one if an idempotent Create is repeated. given holds the inputs
// that it sets.
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
	c.write(a, r, given)
	return r, nil
}

// write sets inputs. If the resource changes, the call counts as an effect.
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

// note numbers the effect of a call.
func (c *Cloud) note(a *attempt) {
	c.effects++
	a.Effect = c.effects
}

func (c *Cloud) violate(format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

// set sets inputs and computes the outputs. It replaces the maps instead of modifying them, since they are shared.
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

// hiddenFor returns how long a new resource remains invisible to parts of the cloud.
func (r *resource) hiddenFor() time.Duration {
	if r.before != nil {
		return 0
	}
	return max(0, time.Until(r.settled))
}

// reach returns an error if the inputs refer to a resource that is missing or not visible yet.
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

// userOf returns a resource that refers to the given one, or nil.
func (c *Cloud) userOf(to *resource) *resource {
	return c.first(func(r *resource) bool {
		return r != to && slices.ContainsFunc(references(r.Inputs), func(ref reference) bool { return ref.to == to.ID })
	})
}

type reference struct {
	from lumi.Path
	to   lumi.ID
}

// references returns the references in inputs.
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
