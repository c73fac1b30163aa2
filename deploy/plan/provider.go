package plan

import (
	"context"
	"fmt"
	"strings"

	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// Provider answers the planner's questions about resources. Its methods must be safe for concurrent use. Properties are
// as in the provider protocol (runtime/lumirpc/provider.proto): a reference to a resource represents its URN, and
// values not known yet are [lumigl.Value.IsUnknown].
type Provider interface {
	// Describe returns the descriptions of resource types, in the order of types. It fails if a type has no provider.
	Describe(ctx context.Context, types []tokens.Type) ([]Description, error)
	// Check validates the properties from a program and returns them with defaults filled in.
	Check(ctx context.Context, r CheckRequest) (lumigl.Value, error)
	// Name returns the last part of the URN for a resource without a name in the program.
	Name(ctx context.Context, r Desired) (string, error)
	// InspectChange compares the stored properties of a resource with the result of Check.
	InspectChange(ctx context.Context, r InspectChangeRequest) (Difference, error)
	// Get reads a resource to import. Inputs that the provider cannot read back are absent.
	Get(ctx context.Context, r Existing) (inputs, outputs lumigl.Value, err error)
}

// ConfigurationError reports that a provider rejects its configuration. It is returned by a [Provider].
type ConfigurationError struct {
	Package string
	// Missing lists the required properties if the program has no configuration for the package.
	Missing []string
	Err     error
}

// Error returns the provider's reason.
func (e *ConfigurationError) Error() string {
	return fmt.Sprintf("configuration of package %q: %v", e.Package, e.Err)
}

// Unwrap returns the provider's error.
func (e *ConfigurationError) Unwrap() error { return e.Err }

// At returns the error with advice, located at the program's first resource of the package. text is the error message
// without secrets.
func (e *ConfigurationError) At(desired *lumigl.Snapshot, text string) *Error {
	name := e.Package[strings.LastIndexByte(e.Package, '/')+1:]
	advice := fmt.Sprintf("correct the values that the program passes to %s.configure", name)
	if len(e.Missing) > 0 {
		advice = fmt.Sprintf("add %s.configure({ %s: … }) to the program before the first resource", name, strings.Join(e.Missing, ": …, "))
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
	// Named is set if programs name resources with the property "name".
	Named bool
	// Replaces lists the properties that cannot be changed in place, Outputs those computed by the provider, and
	// Secrets those that are always secret, even if unmarked in a program.
	Replaces, Outputs, Secrets []string
	// Renamed lists the properties with former names.
	Renamed []graph.Renamed
}

// WrapSecrets returns properties with the named ones marked as secrets. changed reports whether any was unmarked.
func WrapSecrets(properties lumigl.Value, names []string) (wrapped lumigl.Value, changed bool) {
	for _, name := range names {
		if v := properties.Get(name); v.Exists() && v.Kind() != lumigl.Null && !v.IsSecret() && !v.IsUnknown() {
			properties, changed = properties.With(name, lumigl.ObjectOf(
				lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: v})), true
		}
	}
	return properties, changed
}

// Desired is a desired resource. Its properties come from the program for Check, and from Check otherwise.
type Desired struct {
	URN        urn.URN
	Properties lumigl.Value
	// References describes the existing resources referenced in the properties.
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
	// Properties holds all stored properties; absent if the resource is imported or was just found.
	Properties lumigl.Value
	// References describes the resources referenced in the properties.
	References map[urn.URN]Reference
}

// CheckRequest asks to validate the properties from a program.
type CheckRequest struct {
	Desired
	// Old holds the properties last sent to the provider; absent for a new resource or a replacement.
	Old lumigl.Value
	// Seed is the seed of generated values.
	Seed []byte
}

// InspectChangeRequest asks for the differences between a resource and desired state.
type InspectChangeRequest struct {
	// Desired is the desired state. In its properties, references to replaced resources are unknown.
	Desired
	ID string
	// Old holds all stored properties.
	Old lumigl.Value
}

// Difference describes how desired properties differ from stored ones.
type Difference struct {
	// Changes lists all differences that the provider does not ignore, sorted by path.
	Changes []Change
	// DeleteFirst is set if the old resource must be deleted before its replacement is created.
	DeleteFirst bool
	// Properties holds the properties to deploy instead of the result of Check if the provider ignores some changes.
	// Otherwise, it is absent.
	Properties lumigl.Value
}

// Change is a difference in one property.
type Change struct {
	// Path is the path of the value, such as "ingress[2].fromPort".
	Path string
	// Unknown is set if the new value is not known yet and may turn out to equal the old one.
	Unknown bool
	// Replaces is set if the change requires a replacement.
	Replaces bool
}
