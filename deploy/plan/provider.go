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

// Provider answers a planner's questions about resources. Its methods may be called concurrently. Properties are those of
// the provider protocol (runtime/lumirpc/provider.proto): a reference leads to a resource, and stands for its URN; a value
// that is not known yet is [lumigl.Value.IsUnknown].
type Provider interface {
	// Describe describes types of resources, in the order of types. It fails if no provider serves one of them.
	Describe(ctx context.Context, types []tokens.Type) ([]Description, error)
	// Check validates the properties in a program, and returns them with defaults filled in.
	Check(ctx context.Context, r CheckRequest) (lumigl.Value, error)
	// Name returns the last part of the URN of a resource that programs do not name.
	Name(ctx context.Context, r Desired) (string, error)
	// InspectChange compares the stored properties of a resource with those that Check returned.
	InspectChange(ctx context.Context, r InspectChangeRequest) (Difference, error)
	// Get reads a resource to import. It returns its inputs, which are absent where the provider cannot read them back, and its
	// outputs.
	Get(ctx context.Context, r Existing) (inputs, outputs lumigl.Value, err error)
}

// ConfigurationError reports that a provider refuses its configuration. Only a [Provider] makes one.
type ConfigurationError struct {
	Package string
	// Missing has the properties that are missing if the program has no configuration for the package.
	Missing []string
	Err     error
}

// Error returns the provider's reason.
func (e *ConfigurationError) Error() string {
	return fmt.Sprintf("configuration of package %q: %v", e.Package, e.Err)
}

// Unwrap returns the provider's error.
func (e *ConfigurationError) Unwrap() error { return e.Err }

// At returns what is wrong at the first resource of the package in a program. The text is that of the error without secrets.
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

// Description describes a type of resources.
type Description struct {
	Type tokens.Type
	// Named is set if programs name the resources, with the property "name".
	Named bool
	// Replaces has the properties that cannot be changed in place, Outputs those that the provider computes, and Secrets those
	// that are secrets even if a program does not mark them.
	Replaces, Outputs, Secrets []string
	// Renamed has the properties that had other names.
	Renamed []graph.Renamed
}

// WrapSecrets returns properties with those in names marked as secrets, and whether any was not.
func WrapSecrets(properties lumigl.Value, names []string) (wrapped lumigl.Value, changed bool) {
	for _, name := range names {
		if v := properties.Get(name); v.Exists() && v.Kind() != lumigl.Null && !v.IsSecret() && !v.IsUnknown() {
			properties, changed = properties.With(name, lumigl.ObjectOf(
				lumigl.Member{Key: wire.Signature, Value: lumigl.TextOf(wire.Secret)}, lumigl.Member{Key: "value", Value: v})), true
		}
	}
	return properties, changed
}

// Desired is a resource as the program has it: with the properties of the program for Check, and with those that Check
// returned otherwise.
type Desired struct {
	URN        urn.URN
	Properties lumigl.Value
	// References has what is known about the resources that the properties refer to. Those that do not exist are missing.
	References map[urn.URN]Reference
}

// Reference is what is known about a resource.
type Reference struct {
	ID         string
	Properties lumigl.Value
}

// Existing is an existing resource.
type Existing struct {
	URN urn.URN
	ID  string
	// Properties are all stored properties. They are absent if the resource is imported, or was just found.
	Properties lumigl.Value
	// References has what is known about the resources that the properties refer to.
	References map[urn.URN]Reference
}

// CheckRequest asks whether the properties in a program are valid.
type CheckRequest struct {
	Desired
	// Old has the properties that were last sent to the provider. It is absent for a new resource, and for the replacement of one.
	Old lumigl.Value
	// Seed is what generated values derive from.
	Seed []byte
}

// InspectChangeRequest asks how a resource differs from desired state.
type InspectChangeRequest struct {
	// Desired is the desired state. A reference to a resource that is replaced is unknown in its properties.
	Desired
	ID string
	// Old has all stored properties.
	Old lumigl.Value
}

// Difference is how the desired properties of a resource differ from the stored ones.
type Difference struct {
	// Changes has all differences that the provider does not ignore, in the order of their paths.
	Changes []Change
	// DeleteFirst is set if a replacement requires that the old resource is deleted first.
	DeleteFirst bool
	// Properties are those to deploy in place of what Check returned, if the provider ignores some changes; else absent.
	Properties lumigl.Value
}

// Change is a difference in one property.
type Change struct {
	// Path is the path of the value, such as "ingress[2].fromPort".
	Path string
	// Unknown is set if the new value is not known yet, so that it may turn out to equal the old one.
	Unknown bool
	// Replaces is set if the change requires a replacement.
	Replaces bool
}
