package providertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Resource is a resource under test. A [Function] has one, too, without a name. Its methods are steps of its life cycle.
// Each makes the same calls as an engine and checks the invariants of every provider. A Resource is not safe for concurrent
// use.
type Resource struct {
	h         *Harness
	token     tokens.Type
	name      string
	provider  lumi.ResourceProvider // nil for a given resource and a function
	function  lumi.Function         // nil for a resource
	described *lumi.Description
	first     urn.URN // the original URN, from which seeds and tokens are derived
	mayDiffer []lumi.Path
	// mayBeEmpty lists the names of computed properties.
	mayBeEmpty []string
	doing      string // the name of the current step
	began      int    // the number of calls before the step
	reported   map[reported]bool
	found      []string // violations not yet reported

	// incarnation is incremented when the resource is deleted or replaced, and attempt for each new Create. again is set
	// if a Create with the same properties would be a retry, for which attempt is not incremented.
	incarnation, attempt int
	again                bool
	// changes is the number of Updates and Deletes, not counting repetitions, and last is the last of them that succeeded.
	// twin is set while a call is made twice at once.
	changes int
	last    *change
	twin    *twin

	// asked holds the properties last requested by the test, and wanted the corresponding result of Check and
	// InspectChange, or nil if the resource does not exist. created holds the properties passed to the last Create.
	asked           Properties
	wanted, created *structpb.Struct
	// hidden holds the paths, without list indices, of values that must be declared secret, since a response wrapped
	// them.
	hidden map[string]bool

	// The fields below are guarded by h.mu, since other resources may refer to this one.
	urn   urn.URN
	id    lumi.ID          // empty while the resource does not exist
	state *structpb.Struct // all properties, requested and computed
}

// String returns the resource's name in reports.
func (r *Resource) String() string {
	if r.function != nil {
		return string(r.token)
	}
	return fmt.Sprintf("%s %q", r.token, r.name)
}

// URN returns the resource's URN. It changes on creation if the provider names the resource.
func (r *Resource) URN() urn.URN {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return r.urn
}

// ID returns the resource's id. It is empty while the resource does not exist.
func (r *Resource) ID() lumi.ID {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return r.id
}

// Output returns the value at a path of the resource's properties, including computed ones, for use in [Properties]. It
// returns nil if there is none.
func (r *Resource) Output(path lumi.Path) *structpb.Value { return at(r.current(), path) }

// MayDiffer adds the paths of values that Get need not return as requested, because the cloud normalizes or does not return
// them. Resource references and assets may always be missing, since clouds store neither URNs nor the sources of files.
func (r *Resource) MayDiffer(paths ...lumi.Path) { r.mayDiffer = append(r.mayDiffer, paths...) }

// MayBeEmpty adds the names of computed properties that may be "", 0, or objects of only such values. By default, such a
// value of a required property is reported unless the test expects it, since the provider probably forgot to set it.
func (r *Resource) MayBeEmpty(names ...string) { r.mayBeEmpty = append(r.mayBeEmpty, names...) }

// current returns a copy of the state.
func (r *Resource) current() *structpb.Struct {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return clone(r.state)
}

// is records the id and state of the existing resource.
func (r *Resource) is(id lumi.ID, state *structpb.Struct) {
	r.h.mu.Lock()
	r.id, r.state = id, state
	r.h.mu.Unlock()
	r.h.track(r, id, state)
}

// store sets the properties stored by an engine. state holds all properties, and wanted the properties returned by Check.
func (r *Resource) store(state, wanted *structpb.Struct) {
	r.h.mu.Lock()
	r.state, r.wanted = state, wanted
	r.h.mu.Unlock()
	r.h.track(r, r.ID(), state)
}

// next starts a new incarnation.
func (r *Resource) next() { r.wanted, r.again, r.incarnation = nil, false, r.incarnation+1 }

// seed returns the seed of the current incarnation.
func (r *Resource) seed() lumi.Seed {
	sum := sha256.Sum256(fmt.Appendf(nil, "seed of %s, %d", r.first, r.incarnation))
	return sum[:]
}

// intent returns the token for an attempt to create the resource, which is identified by a number, or for a change.
func (r *Resource) intent(attempt any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "token of %s, %v", r.first, attempt))
	return hex.EncodeToString(sum[:16])
}

// format returns the resource's URN with the given name.
func (r *Resource) format(name string) (urn.URN, error) {
	return urn.Format(urn.Parts{
		Environment: r.h.environment, Package: r.token.Package(), Module: r.token.Module(), Type: r.token, Name: name,
	})
}

// declares reports whether the IDL sets flag on any property for whose path is returns true.
func (r *Resource) declares(flag lumi.Flags, is func(property lumi.Path) bool) bool {
	return slices.ContainsFunc(r.described.Properties, func(p lumi.Property) bool {
		return p.Flags&flag != 0 && is(lumi.Path(p.Name))
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

// isHidden reports whether the value at a path must be declared secret.
func (r *Resource) isHidden(path lumi.Path) bool {
	if r.declares(lumi.Secret, func(p lumi.Path) bool { return p == path }) {
		return true
	}
	return r.hidden[index.ReplaceAllString(string(path), "[]")]
}

// learn records the paths of values wrapped in answer but not in asked. The IDL must declare them secret.
func (r *Resource) learn(asked, answer *structpb.Struct) {
	parts("", structpb.NewStructValue(answer), func(p lumi.Path, v *structpb.Value) bool {
		if !isSecret(v) {
			return true
		}
		if !isHiddenIn(asked, p) {
			if r.hidden == nil {
				r.hidden = map[string]bool{}
			}
			r.hidden[index.ReplaceAllString(string(p), "[]")] = true
		}
		return false
	})
}

// isHiddenIn reports whether the value at a path of bag is inside a secret or contains one.
func isHiddenIn(bag *structpb.Struct, path lumi.Path) bool {
	found := false
	parts("", structpb.NewStructValue(bag), func(p lumi.Path, v *structpb.Value) bool {
		found = found || isSecret(v) && (p.Holds(path) || path.Holds(p))
		return !found
	})
	return found
}

// wrapped returns a copy of a bag with all known secrets wrapped.
func (r *Resource) wrapped(bag *structpb.Struct) *structpb.Struct {
	if r == nil || bag == nil {
		return bag
	}
	made := clone(bag)
	parts("", structpb.NewStructValue(made), func(p lumi.Path, v *structpb.Value) bool {
		if isSecret(v) {
			return false
		}
		if p == "" || !r.isHidden(p) || isNull(v) {
			return true
		}
		v.Kind = lumi.NewSecret(&structpb.Value{Kind: v.GetKind()}).Kind
		return false
	})
	return made
}
