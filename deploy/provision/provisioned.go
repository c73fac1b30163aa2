package provision

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/property"
	"github.com/lumi-idl/lumi/lumigl"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Provisioned returns providers that use a generic provider for the types for which handles returns true. The generic
// provider accepts any properties, names resources after their types, and reports every difference as an update. It
// cannot create, update, or delete resources, which is left to provisioners.
func Provisioned(providers Providers, handles func(tokens.Type) bool) Providers {
	return provisioned{providers, handles}
}

type provisioned struct {
	Providers
	handles func(tokens.Type) bool
}

// Provider implements [Providers].
func (p provisioned) Provider(
	ctx context.Context, t tokens.Type, configuration lumigl.Value,
) (lumi.ResourceProvider, string, error) {
	if p.handles(t) {
		return opaque{t: t}, "", nil
	}
	return p.Providers.Provider(ctx, t, configuration)
}

// opaque is the provider of a type handled by a provisioner. Methods not implemented here are never called.
type opaque struct {
	lumi.ResourceProvider
	t tokens.Type
}

// Describe implements [lumi.ResourceProvider].
func (o opaque) Describe(context.Context) (*lumi.Description, error) {
	return &lumi.Description{Type: o.t}, nil
}

// Check implements [lumi.ResourceProvider]. It rejects assets and archives, since changes to their contents would not
// be detected.
func (o opaque) Check(_ context.Context, r *lumi.CheckRequest) (*lumi.CheckResponse, error) {
	var invalid lumi.InvalidError
	for _, f := range r.Properties.Object().Fields() {
		if hasFile(f) {
			invalid.Faults = append(invalid.Faults, lumi.Fault{
				Path: lumi.Path(f.Name), Message: "is an asset or an archive, which provisioners do not accept",
			})
		}
	}
	if invalid.Faults != nil {
		return nil, &invalid
	}
	return &lumi.CheckResponse{Properties: r.Properties}, nil
}

// Name implements [lumi.ResourceProvider]. It derives the name of a new resource from its properties and returns an
// error for a resource that already has a name.
func (o opaque) Name(_ context.Context, r *lumi.NameRequest) (*lumi.NameResponse, error) {
	if name := r.URN.Name(); !strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], "#") {
		return nil, errors.New("a resource that a provisioner handles keeps its name")
	}
	sum := sha256.Sum256(append([]byte(r.URN+"\x00"), property.Encode(r.Properties.Object())...))
	return &lumi.NameResponse{Name: fmt.Sprintf("%s-%x", strings.ToLower(o.t.Name()), sum[:4])}, nil
}

// InspectChange implements [lumi.ResourceProvider]. It always reports a change, since it is called only if properties
// differ.
func (o opaque) InspectChange(_ context.Context, r *lumi.InspectChangeRequest) (*lumi.InspectChangeResponse, error) {
	// Metadata from the provisioner is only in the old properties.
	changes := slices.DeleteFunc(lumi.Compare(r.Old, r.New).Changes(), func(c lumi.Change) bool { return c.Kind == lumi.Removed })
	if len(changes) == 0 {
		changes = []lumi.Change{{Kind: lumi.Modified}}
	}
	return &lumi.InspectChangeResponse{Changes: changes}, nil
}

// hasFile reports whether the value of a property is or contains an asset or an archive.
func hasFile(f property.Field) bool {
	return isContent(&f.Value) || slices.ContainsFunc(f.Value.Fields(), hasFile) || slices.ContainsFunc(f.Value.Elements(), hasFile)
}
