// Package wire defines the JSON types of the HTTP API that are not in package service.
package wire

import (
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Upload creates or updates a graph. In an update, a missing name or missing tasks are left unchanged.
type Upload struct {
	Type      string           `json:"type,omitempty" doc:"The default is \"default\". It cannot be changed."`
	Name      string           `json:"name,omitempty"`
	Tasks     []taskgraph.Task `json:"tasks,omitzero"`
	Relations []store.Owner    `json:"relations,omitempty" maxItems:"1" doc:"The owner, required by POST /graphs/."`
}

// NewSelection selects the layers of an environment.
type NewSelection struct {
	Release int64         `json:"release,omitempty" doc:"The ID of a release."`
	Plugins []int64       `json:"plugins,omitempty" doc:"The IDs of plugins, in merge order."`
	Order   []store.Layer `json:"order,omitempty" doc:"All layers, later ones overriding earlier ones; by default release, cluster, plugin."`
	Whole   bool          `json:"whole,omitempty" doc:"Tasks override whole tasks, not only their attributes."`
}

// Error is an error as defined by RFC 9457.
type Error struct {
	Title    string              `json:"title"`
	Status   int                 `json:"status"`
	Detail   string              `json:"detail"`
	Problems []taskgraph.Problem `json:"problems,omitempty" doc:"The errors in a graph."`
}

func (e *Error) Error() string { return e.Detail }

// GetStatus implements huma.StatusError.
func (e *Error) GetStatus() int { return e.Status }

// ContentType returns the media type of errors.
func (*Error) ContentType(string) string { return "application/problem+json" }
