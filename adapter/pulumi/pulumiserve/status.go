package pulumiserve

import (
	"errors"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/idl/schema"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/wire"
)

var errUnconfigured = errors.New("the provider's configuration depends on changes that are not deployed yet: deploy them first")

// statusOf returns an error as a status. The engine takes only code Unknown to mean that the resource may have changed.
func statusOf(err error) error {
	switch {
	case err == nil || errors.As(err, new(interface{ GRPCStatus() *status.Status })):
		return err
	case errors.As(err, new(*lumi.UncertainError)):
		return status.Error(codes.Unknown, err.Error())
	case errors.As(err, new(*lumi.InvalidError)):
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return status.Error(codes.FailedPrecondition, err.Error())
}

// partly returns the status for a resource that exists despite a failure. The engine stores the properties, and updates the resource
// in the next deployment.
func partly(id string, properties, inputs *structpb.Struct, err error) error {
	s := status.New(codes.Unknown, err.Error())
	detailed, failed := s.WithDetails(&pulumirpc.ErrorResourceInitFailed{
		Id: id, Properties: properties, Inputs: inputs, Reasons: []string{err.Error()},
	})
	if failed != nil { // impossible for this detail
		return s.Err()
	}
	return detailed.Err()
}

// failuresOf returns the faults of properties. The engine prints the value of the property that a failure names, so one whose value
// may contain a secret is named only in the reason.
func failuresOf(invalid *lumi.InvalidError, properties []*schema.Property) []*pulumirpc.CheckFailure {
	var failures []*pulumirpc.CheckFailure
	for _, f := range invalid.Faults {
		failure := &pulumirpc.CheckFailure{Property: string(f.Path), Reason: f.Message}
		if p := propertyOf(properties, string(f.Path)); p != nil && (p.Secret || !isPlain(p.Type)) {
			failure.Property, failure.Reason = "", f.Error()
		}
		failures = append(failures, failure)
	}
	return failures
}

// isPlain reports whether values of a type have no parts.
func isPlain(t schema.Type) bool {
	p, ok := schema.Underlying(t).(schema.Primitive)
	_, isReference := referents(t)
	return isText(t) || isReference || ok && p != schema.Any
}

// diffOf returns changes in the engine's form.
func diffOf(d *lumi.InspectChangeResponse) *pulumirpc.DiffResponse {
	resp := &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DIFF_NONE, DeleteBeforeReplace: d.DeleteBeforeReplace,
		HasDetailedDiff: true, DetailedDiff: map[string]*pulumirpc.PropertyDiff{},
	}
	replaces := lumi.Paths{}
	for _, p := range d.Replaces {
		replaces[p] = struct{}{}
		resp.Replaces = append(resp.Replaces, root(p))
	}
	for _, c := range d.Changes {
		resp.Changes = pulumirpc.DiffResponse_DIFF_SOME
		resp.Diffs = append(resp.Diffs, root(c.Path))
		kind := changeKinds[c.Kind]
		if replaces.Within(c.Path) {
			kind++ // ADD_REPLACE follows ADD, and so on.
		}
		resp.DetailedDiff[string(c.Path)] = &pulumirpc.PropertyDiff{Kind: kind}
	}
	resp.Replaces, resp.Diffs = slices.Compact(resp.Replaces), slices.Compact(resp.Diffs)
	return resp
}

var changeKinds = map[lumi.ChangeKind]pulumirpc.PropertyDiff_Kind{
	lumi.Added: pulumirpc.PropertyDiff_ADD, lumi.Removed: pulumirpc.PropertyDiff_DELETE, lumi.Modified: pulumirpc.PropertyDiff_UPDATE,
}

// root returns the name of the property that contains p.
func root(p lumi.Path) string { return wire.PathParts(string(p))[0] }
