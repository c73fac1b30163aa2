// Package provisioning converts between the messages of the provisioner protocol and the types of package provisioner.
package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/lumi-idl/lumi/runtime/lumirpc"
	"github.com/lumi-idl/lumi/runtime/provisioner"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Encode converts a change to a message. If a value cannot be sent, the error names it and its resource.
func Encode(c *provisioner.Change) (*lumirpc.GraphChange, error) {
	m := &lumirpc.GraphChange{Environment: c.Environment, Module: c.Module, Task: c.Task}
	var err error
	for _, list := range []struct {
		from []*provisioner.Resource
		to   *[]*lumirpc.Resource
	}{{c.New, &m.New}, {c.Old, &m.Old}, {c.Context, &m.Context}} {
		for _, r := range list.from {
			one := &lumirpc.Resource{Key: r.Key, Urn: string(r.URN), Type: string(r.Type), Id: r.ID}
			if one.Properties, err = encodeObject(r.Properties); err != nil {
				return nil, fmt.Errorf("properties of %s: %w", r.Key, err)
			}
			if one.Metadata, err = encodeObject(r.Metadata); err != nil {
				return nil, fmt.Errorf("metadata of %s: %w", r.Key, err)
			}
			for _, u := range r.Dependencies {
				one.Dependencies = append(one.Dependencies, string(u))
			}
			*list.to = append(*list.to, one)
		}
	}
	return m, nil
}

// Decode converts a message to a change.
func Decode(m *lumirpc.GraphChange) *provisioner.Change {
	return &provisioner.Change{
		Environment: m.GetEnvironment(), Module: m.GetModule(), Task: m.GetTask(),
		New: decodeAll(m.GetNew()), Old: decodeAll(m.GetOld()), Context: decodeAll(m.GetContext()),
	}
}

func decodeAll(all []*lumirpc.Resource) []*provisioner.Resource {
	var resources []*provisioner.Resource
	for _, m := range all {
		r := &provisioner.Resource{
			Key: m.GetKey(), URN: urn.URN(m.GetUrn()), Type: tokens.Type(m.GetType()), ID: m.GetId(),
			Properties: decodeObject(m.GetProperties()), Metadata: decodeObject(m.GetMetadata()),
		}
		for _, u := range m.GetDependencies() {
			r.Dependencies = append(r.Dependencies, urn.URN(u))
		}
		resources = append(resources, r)
	}
	return resources
}

var states = map[provisioner.State]lumirpc.StatusResponse_State{
	provisioner.Running: lumirpc.StatusResponse_RUNNING,
	provisioner.Failed:  lumirpc.StatusResponse_FAILED,
	provisioner.Done:    lumirpc.StatusResponse_DONE,
}

// EncodeStatus converts a status to a message. It returns an error if the state is invalid or the metadata cannot be
// sent.
func EncodeStatus(s *provisioner.Status) (*lumirpc.StatusResponse, error) {
	m := &lumirpc.StatusResponse{State: states[s.State], Message: s.Message}
	if m.GetState() == lumirpc.StatusResponse_STATE_UNSPECIFIED {
		return nil, fmt.Errorf("invalid state %q: it must be running, failed or done", s.State)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Metadata)) {
		if !utf8.ValidString(key) {
			return nil, fmt.Errorf("metadata of %q: the key is not UTF-8", key)
		}
		object, err := encodeObject(s.Metadata[key])
		if err != nil {
			return nil, fmt.Errorf("metadata of %s: %w", key, err)
		}
		if m.Metadata == nil {
			m.Metadata = map[string]*structpb.Struct{}
		}
		m.Metadata[key] = object
	}
	return m, nil
}

// DecodeStatus converts a message to a status. An unknown state becomes its number, in decimal.
func DecodeStatus(m *lumirpc.StatusResponse) *provisioner.Status {
	s := &provisioner.Status{State: provisioner.State(fmt.Sprint(int32(m.GetState()))), Message: m.GetMessage()}
	for state, of := range states {
		if of == m.GetState() {
			s.State = state
		}
	}
	for key, object := range m.GetMetadata() {
		if s.Metadata == nil {
			s.Metadata = map[string]provisioner.Properties{}
		}
		s.Metadata[key] = decodeObject(object)
	}
	return s
}
