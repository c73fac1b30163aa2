// Package wire defines those JSON types of the HTTP API that package service does not define.
package wire

import (
	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Upload creates or updates a graph. An update leaves the name or the tasks unchanged if they are missing.
type Upload struct {
	Type      string           `json:"type,omitempty" doc:"The default is \"default\". It cannot be changed."`
	Name      string           `json:"name,omitempty"`
	Tasks     []taskgraph.Task `json:"tasks,omitzero"`
	Relations []store.Owner    `json:"relations,omitempty" maxItems:"1" doc:"The owner, required by POST /graphs."`
}

// NewSelection selects the layers of an environment.
type NewSelection struct {
	Release int64         `json:"release,omitempty" doc:"The ID of a release."`
	Plugins []int64       `json:"plugins,omitempty" doc:"The IDs of plugins, in merge order."`
	Order   []store.Layer `json:"order,omitempty" doc:"All layers, later ones overriding earlier ones; by default release, cluster, plugin."`
	Whole   bool          `json:"whole,omitempty" doc:"Tasks override whole tasks, not only their attributes."`
}

// Error is an error response as defined by RFC 9457.
type Error struct {
	Title    string              `json:"title"`
	Status   int                 `json:"status"`
	Detail   string              `json:"detail"`
	Problems []taskgraph.Problem `json:"problems,omitempty" doc:"The errors in a graph."`
}

func (e *Error) Error() string { return e.Detail }

// GetStatus implements huma.StatusError.
func (e *Error) GetStatus() int { return e.Status }

// ContentType implements huma.ContentTypeFilter.
func (*Error) ContentType(string) string { return "application/problem+json" }
