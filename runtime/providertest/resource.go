package providertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/internal/signed"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Resource is one resource under test. Its methods are steps of its life; each does what an engine would do, and checks
// what must be true of every provider. They must not be called concurrently for one and the same resource.
type Resource struct {
	h         *Harness
	token     tokens.Type
	name      string
	provider  lumi.ResourceProvider // nil for one that is given
	described *lumi.Description
	first     urn.URN // what it was called at first, which makes its seeds and tokens
	mayDiffer []lumi.Path
	// mayBeEmpty are the names of computed properties.
	mayBeEmpty []string
	doing      string // the step that is being taken
	began      int    // how many calls there were when that began
	reported   map[reported]bool
	found      []string // what is wrong with the calls since the kit last looked

	// incarnation is raised when the resource is deleted or replaced, and attempt when a creation is intended. Again says
	// that the next Create is one more try of the last, if its properties are the same.
	incarnation, attempt int
	again                bool

	// asked are the properties that the test asked for last, and wanted what Check and InspectChange made of them, nil if
	// the resource does not exist. Created are those of the last Create.
	asked           Properties
	wanted, created *structpb.Struct
	// hidden are the paths, without indices, of what answers have wrapped as secrets.
	hidden map[string]bool

	// What follows is guarded by the harness, since other resources may refer to this one.
	urn   urn.URN
	id    lumi.ID          // empty while the resource does not exist
	state *structpb.Struct // all properties, those that were asked for and those that were computed
}

// String names the resource in reports.
func (r *Resource) String() string { return fmt.Sprintf("%s %q", r.token, r.name) }

// URN is the resource's URN. A resource that the provider names has another after it was created than before.
func (r *Resource) URN() urn.URN {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return r.urn
}

// ID is the resource's id, empty while it does not exist.
func (r *Resource) ID() lumi.ID {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return r.id
}

// Output is the value of a property, such as one that the provider computed. It can be a value in [Properties]. It is
// nil where there is none.
func (r *Resource) Output(path lumi.Path) *structpb.Value { return at(r.current(), path) }

// MayDiffer names properties, or parts of such, that the provider need not report as they were asked for: those that
// the cloud writes in its own way, or does not tell. Capabilities and assets may always be missing from what Get
// returns, since a cloud knows neither URNs nor where a file came from.
func (r *Resource) MayDiffer(paths ...lumi.Path) { r.mayDiffer = append(r.mayDiffer, paths...) }

// MayBeEmpty names properties that the provider computes, and that may be "" or 0, or objects of nothing but such. That is
// what a property without a pointer in the IDL is which the provider forgets, and is reported unless it is said here, or
// the test expects just that.
func (r *Resource) MayBeEmpty(names ...string) { r.mayBeEmpty = append(r.mayBeEmpty, names...) }

// current is a copy of the state.
func (r *Resource) current() *structpb.Struct {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	return clone(r.state)
}

// is sets the state of the resource, which lives from now on.
func (r *Resource) is(id lumi.ID, state *structpb.Struct) {
	r.h.mu.Lock()
	r.id, r.state = id, state
	r.h.mu.Unlock()
	r.h.lives(r, id, state)
}

// store sets the properties that an engine has of the resource, in full and as Check returned them.
func (r *Resource) store(state, wanted *structpb.Struct) {
	r.h.mu.Lock()
	r.state, r.wanted = state, wanted
	r.h.mu.Unlock()
	r.h.lives(r, r.ID(), state)
}

// next begins another incarnation.
func (r *Resource) next() { r.wanted, r.again, r.incarnation = nil, false, r.incarnation+1 }

// seed is the seed of the incarnation.
func (r *Resource) seed() lumi.Seed {
	sum := sha256.Sum256(fmt.Appendf(nil, "seed of %s, %d", r.first, r.incarnation))
	return sum[:]
}

// intent is the token of the creation that was intended last, or of one that never was.
func (r *Resource) intent(attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "token of %s, %d", r.first, attempt))
	return hex.EncodeToString(sum[:16])
}

// format makes a URN with a name in it.
func (r *Resource) format(name string) (urn.URN, error) {
	return urn.Format(urn.Parts{
		Environment: r.h.environment, Package: r.token.Package(), Module: r.token.Module(), Type: r.token, Name: name,
	})
}

// declares reports whether the IDL gives a flag to a property whose path is one that is looked for.
func (r *Resource) declares(flag lumi.Flags, is func(property lumi.Path) bool) bool {
	return slices.ContainsFunc(r.described.Properties, func(p lumi.Property) bool {
		return p.Flags&flag != 0 && is(lumi.Path(p.Name))
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

// isHidden reports whether the value at a path must be a secret.
func (r *Resource) isHidden(path lumi.Path) bool {
	if r.declares(lumi.Secret, func(p lumi.Path) bool { return p == path }) {
		return true
	}
	return r.hidden[index.ReplaceAllString(string(path), "[]")]
}

// learn notes what a provider wraps as a secret that nobody had wrapped: it is one by its declaration.
func (r *Resource) learn(asked, answer *structpb.Struct) {
	parts("", structpb.NewStructValue(answer), func(p lumi.Path, v *structpb.Value) bool {
		if !signed.IsSecret(v) {
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

// isHiddenIn reports whether a value, or part of it, came as a secret.
func isHiddenIn(bag *structpb.Struct, path lumi.Path) bool {
	found := false
	parts("", structpb.NewStructValue(bag), func(p lumi.Path, v *structpb.Value) bool {
		found = found || signed.IsSecret(v) && (p.Holds(path) || path.Holds(p))
		return !found
	})
	return found
}

// wrapped returns a copy of a bag in which everything is wrapped that is known to be a secret.
func (r *Resource) wrapped(bag *structpb.Struct) *structpb.Struct {
	if r == nil || bag == nil {
		return bag
	}
	made := clone(bag)
	parts("", structpb.NewStructValue(made), func(p lumi.Path, v *structpb.Value) bool {
		if signed.IsSecret(v) {
			return false
		}
		if p == "" || !r.isHidden(p) || signed.IsNull(v) {
			return true
		}
		v.Kind = lumi.NewSecret(&structpb.Value{Kind: v.GetKind()}).Kind
		return false
	})
	return made
}
