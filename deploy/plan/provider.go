package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Provider answers the planner's questions about resources. Its methods must be safe for concurrent use. Properties
// have the same form as in the provider protocol (runtime/lumirpc/provider.proto): a reference to a resource represents
// its URN, and [lumigl.Value.IsUnknown] is true for values that are not known yet.
type Provider interface {
	// Describe returns the descriptions of resource types, in the order of types. It returns an error if a type has no
	// provider.
	Describe(ctx context.Context, types []tokens.Type) ([]Description, error)
	// Check validates properties from a program and returns them with defaults filled in.
	Check(ctx context.Context, r CheckRequest) (lumigl.Value, error)
	// Name returns the last part of the URN of a resource not named in the program.
	Name(ctx context.Context, r Desired) (string, error)
	// InspectChange compares the stored properties of a resource with desired properties returned by Check.
	InspectChange(ctx context.Context, r InspectChangeRequest) (Difference, error)
	// Get reads a resource to import or to look up. It omits inputs that the provider cannot read back. It returns a
	// *[NotFoundError] if the resource does not exist.
	Get(ctx context.Context, r Existing) (inputs, outputs lumigl.Value, err error)
	// Call calls the function that is the type of r.URN, with r.Properties as arguments. It returns the results.
	Call(ctx context.Context, r Desired) (lumigl.Value, error)
}

// NotFoundError is returned by a [Provider] if a resource does not exist.
type NotFoundError struct{ Err error }

// Error returns the provider's error message.
func (e *NotFoundError) Error() string { return e.Err.Error() }

// Unwrap returns the provider's error.
func (e *NotFoundError) Unwrap() error { return e.Err }

// ConfigurationError is returned by a [Provider] that rejects its configuration.
type ConfigurationError struct {
	Package string
	// Missing lists the required properties if the program does not configure the package.
	Missing []string
	Err     error
}

// Error returns the package and the provider's error message.
func (e *ConfigurationError) Error() string {
	return fmt.Sprintf("configuration of package %q: %v", e.Package, e.Err)
}

// Unwrap returns the provider's error.
func (e *ConfigurationError) Unwrap() error { return e.Err }

// At converts the error to an *[Error] at the program's first resource of the package. The message is text, which must
// not contain secrets, followed by advice.
func (e *ConfigurationError) At(desired *lumigl.Snapshot, text string) *Error {
	name := e.Package[strings.LastIndexByte(e.Package, '/')+1:]
	advice := fmt.Sprintf("correct the values that the program passes to %s.configure, or under providers in Lumi.yaml", name)
	if len(e.Missing) > 0 {
		advice = fmt.Sprintf("add %s.configure({ %s: … }) to the program before the first resource, or add them under providers in Lumi.yaml", name, strings.Join(e.Missing, ": …, "))
	}
	f := Fault{Message: text + "\n" + advice}
	for v := range desired.Vertices() {
		if v.Type.Package() == e.Package {
			f.URN, f.Source = v.URN(), v.Source
			break
		}
	}
	return &Error{Faults: []Fault{f}}
}

// Description describes a resource type.
type Description struct {
	Type tokens.Type
	// Function is set for a function, whose results are the Outputs and whose arguments are all other properties.
	Function bool
	// Named is set if the property "name" is the resource's name in programs.
	Named bool
	// Replaces lists the properties that cannot be changed in place. Outputs lists the properties computed by the
	// provider, and Fixed those of them that updates never change. Secrets lists the properties that are always secret,
	// even if not marked as secret in a program.
	Replaces, Outputs, Fixed, Computed, Secrets []string
	// WriteOnly lists the properties that are sent to the provider but never read back.
	WriteOnly []string
	// Renamed lists the properties that have former names.
	Renamed []graph.Renamed
	// Name holds the constraints on the names that programs choose.
	Name NameRules
}

// NameRules are the constraints on the names that programs choose.
type NameRules struct {
	// MinLength and MaxLength bound the number of Unicode characters. MaxLength is 0 if there is no maximum.
	MinLength, MaxLength int
	// Pattern is a regular expression that matches part of every name, or "".
	Pattern string
	// Scope is the property within which names are unique, or "" if they are unique within a provider configuration.
	Scope string
}

// WrapSecrets marks the named properties as secrets. It reports whether any of them was not marked already.
func WrapSecrets(properties lumigl.Value, names []string) (wrapped lumigl.Value, changed bool) {
	for _, name := range names {
		if v := properties.Get(name); v.Exists() && v.Kind() != lumigl.Null && !v.IsSecret() && !v.IsUnknown() {
			properties, changed = properties.With(name, lumigl.SecretOf(v)), true
		}
	}
	return properties, changed
}

// Desired is a desired resource. Properties are returned by Check, except in a [CheckRequest], where they come from the
// program.
type Desired struct {
	URN        urn.URN
	Properties lumigl.Value
	// References describes the existing resources referenced by the properties.
	References map[urn.URN]Reference
}

// Reference is the known state of a resource.
type Reference struct {
	ID         string
	Properties lumigl.Value
}

// Existing is an existing resource.
type Existing struct {
	URN urn.URN
	ID  string
	// Properties holds all stored properties. It is absent if the resource is imported or was just found.
	Properties lumigl.Value
	// References describes the resources referenced by the properties.
	References map[urn.URN]Reference
	// Graph has the resources that the answer may refer to by ID, besides References. It may be nil.
	Graph *graph.Graph
}

// WithID returns the URN of the resource with the given type and ID, or "" if there is none. It prefers the resources in
// References, and then those of the same module.
func (e Existing) WithID(t tokens.Type, id string) urn.URN {
	for _, u := range slices.Sorted(maps.Keys(e.References)) {
		if u.Type() == t && e.References[u].ID == id {
			return u
		}
	}
	if e.Graph == nil {
		return ""
	}
	parts, _ := e.URN.Parts()
	if r := e.Graph.Manager(t, id, parts.Package); r != nil {
		return r.URN
	}
	return ""
}

// CheckRequest is a request to validate the properties from a program.
type CheckRequest struct {
	Desired
	// Old holds the properties last sent to the provider. It is absent for a new resource or a replacement.
	Old lumigl.Value
	// Seed seeds generated values.
	Seed []byte
}

// InspectChangeRequest is a request to compare a resource with its desired state.
type InspectChangeRequest struct {
	// Desired is the desired state. References to replaced resources in its properties are unknown values.
	Desired
	ID string
	// Old holds all stored properties.
	Old lumigl.Value
}

// Difference is the difference between stored and desired properties.
type Difference struct {
	// Changes lists the changes that the provider does not ignore, sorted by path.
	Changes []Change
	// DeleteFirst is set if the old resource must be deleted before its replacement is created.
	DeleteFirst bool
	// Properties holds the properties to deploy instead of those returned by Check if the provider ignores some
	// changes. Otherwise, it is absent.
	Properties lumigl.Value
}

// Change is a difference in a single property.
type Change struct {
	// Path is the path of the property, such as "ingress[2].fromPort".
	Path string
	// Unknown is set if the new value is not known yet, so that it may turn out to be unchanged.
	Unknown bool
	// Replaces is set if the change requires a replacement.
	Replaces bool
}
