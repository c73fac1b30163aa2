// Package bagrpc makes and serves the calls of package lumirpc without converting property bags to messages.
package bagrpc

//go:generate go -C ../../../tools run ./protogen ../runtime/internal/bagrpc/bagrpc.proto

import (
	"bytes"
	"context"
	"errors"
	"path"

	"google.golang.org/grpc"

	"github.com/lumi-idl/lumi/internal/property"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/urn"
)

const service = "/lumirpc.ResourceProvider/"

// Register registers a server under the name of [lumirpc.ResourceProviderServer].
func Register(to grpc.ServiceRegistrar, server ResourceProviderServer) {
	desc := ResourceProvider_ServiceDesc
	desc.ServiceName = lumirpc.ResourceProvider_ServiceDesc.ServiceName
	to.RegisterService(&desc, server)
}

// NewClient returns a client of a [lumirpc.ResourceProviderServer].
func NewClient(conn grpc.ClientConnInterface) ResourceProviderClient {
	return NewResourceProviderClient(renamed{conn})
}

// renamed is a connection to a service with another name.
type renamed struct{ grpc.ClientConnInterface }

func (r renamed) Invoke(ctx context.Context, method string, req, resp any, options ...grpc.CallOption) error {
	return r.ClientConnInterface.Invoke(ctx, service+path.Base(method), req, resp, options...)
}

func (r renamed) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	return r.ClientConnInterface.NewStream(ctx, desc, service+path.Base(method), options...)
}

// Decode decodes a field with a bag. It returns the zero Bag if the field is absent, and an error if its content is not a
// Struct.
func Decode(field [][]byte) (lumi.Bag, error) {
	if len(field) == 0 {
		return lumi.Bag{}, nil
	}
	data := field[0]
	if len(field) > 1 {
		data = bytes.Join(field, nil)
	}
	object, err := property.Parse(data)
	if err != nil { // Its text varies.
		return lumi.Bag{}, errMalformed
	}
	return lumi.BagFrom(&object), nil
}

var errMalformed = errors.New("malformed properties: not a google.protobuf.Struct, or not valid UTF-8")

// Encode encodes a bag. The zero Bag is an absent field.
func Encode(bag lumi.Bag) [][]byte {
	if bag.IsZero() {
		return nil
	}
	return [][]byte{property.Encode(bag.Object())}
}

// DecodeReferences decodes references.
func DecodeReferences(sent map[string]*Reference) (lumi.References, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	refs := make(lumi.References, len(sent))
	for u, r := range sent {
		properties, err := Decode(r.GetProperties())
		if err != nil {
			return nil, err
		}
		refs[urn.URN(u)] = lumi.Reference{ID: lumi.ID(r.GetId()), Properties: properties}
	}
	return refs, nil
}

// EncodeReferences encodes references.
func EncodeReferences(refs lumi.References) map[string]*Reference {
	if len(refs) == 0 {
		return nil
	}
	sent := make(map[string]*Reference, len(refs))
	for u, r := range refs {
		sent[string(u)] = &Reference{Id: string(r.ID), Properties: Encode(r.Properties)}
	}
	return sent
}
