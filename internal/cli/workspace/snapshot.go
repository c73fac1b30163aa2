package workspace

import (
	"context"
	"errors"

	"github.com/lumi-idl/lumi/deploy/environment"
	"github.com/lumi-idl/lumi/deploy/graph"
	"github.com/lumi-idl/lumi/deploy/run"
	"github.com/lumi-idl/lumi/deploy/secret"
	"github.com/lumi-idl/lumi/lumigl"
)

// KnownKey returns the key of the environment, or nil if it cannot be unwrapped without asking the user.
func (s *Session) KnownKey(ctx context.Context) (*secret.Key, error) {
	if s.Environment.Key == "" {
		return nil, nil
	}
	w, err := s.Wrapper()
	if err != nil {
		return nil, err
	}
	w.Ask = nil
	key, err := w.Unwrap(ctx, s.Environment.Key)
	if _, ok := errors.AsType[*secret.KeyError](err); ok {
		s.Say("cannot decrypt the secrets of %s: %s", s.Environment.Name, err)
		return nil, nil
	}
	return key, err
}

// Editor returns an engine that edits the state without calling providers.
func (s *Session) Editor(key *secret.Key) *environment.Environment {
	return environment.New(run.Options{Store: s.Store, Environment: s.Environment.Name, Key: key, Events: s.Report})
}

// Snapshot returns the state of the environment as a snapshot. If key is nil, secrets are unknown.
func (s *Session) Snapshot(ctx context.Context, key *secret.Key) (*lumigl.Snapshot, error) {
	g, err := s.Editor(key).Graph(ctx)
	if err != nil {
		return nil, err
	}
	snapshot := g.Snapshot()
	NoteProvisioners(snapshot, g)
	snapshot.Serial = uint64(max(s.Environment.Serial, 0))
	_ = snapshot.Sort() // the store orders resources by the end of their steps; an invalid snapshot stays unsorted
	return snapshot, nil
}

// Provisioned is the extension that records the provisioner of a resource and the names of its metadata properties.
const Provisioned = "lumi-provisioner"

// NoteProvisioners adds the extension [Provisioned] to the resources of a snapshot.
func NoteProvisioners(s *lumigl.Snapshot, g *graph.Graph) {
	for _, module := range g.Modules() {
		newest := g.Newest(module)
		if newest == nil {
			continue
		}
		for r := range newest.Resources() {
			if r.Provisioner == "" {
				continue
			}
			var metadata []lumigl.Value
			for name := range r.Metadata.Members() {
				metadata = append(metadata, lumigl.TextOf(name))
			}
			vertex := s.Vertex(string(r.URN))
			vertex.Extensions = vertex.Extensions.With(Provisioned, lumigl.ObjectOf(
				lumigl.Member{Key: "name", Value: lumigl.TextOf(r.Provisioner)}, lumigl.Member{Key: "metadata", Value: lumigl.ListOf(metadata...)},
			))
		}
	}
}

// EnvironmentPrefix is the prefix of arguments that refer to the state of an environment.
const EnvironmentPrefix = "env:"
