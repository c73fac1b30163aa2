// Package wire defines those JSON types of the HTTP API that package service does not define.
package wire

import (
	"encoding/json"
	"fmt"

	"github.com/lumi-idl/lumi/deploy/store"
	"github.com/lumi-idl/lumi/taskgraph"
)

// Upload creates or updates a graph. An update leaves the name or the tasks unchanged if they are missing.
type Upload struct {
	Type      string              `json:"type,omitempty" doc:"The default is \"default\". It cannot be changed."`
	Name      *string             `json:"name,omitempty" doc:"An empty name removes the name."`
	Tasks     []taskgraph.Task    `json:"tasks,omitzero"`
	Relations []store.Owner       `json:"relations,omitempty" maxItems:"1" doc:"The owner, required by POST /graphs. It cannot be changed."`
	ID        int64               `json:"id,omitempty" readOnly:"true"`
	Warnings  []taskgraph.Problem `json:"warnings,omitempty" readOnly:"true"`
}

// NewSelection selects the layers of an environment. Missing fields keep their values.
type NewSelection struct {
	Environment string        `json:"environment,omitempty" readOnly:"true"`
	Release     *ID           `json:"release,omitempty"`
	Plugins     []ID          `json:"plugins,omitzero" doc:"The plugins, in merge order."`
	Order       []store.Layer `json:"order,omitzero" doc:"All layers, later ones overriding earlier ones; by default release, cluster, plugin."`
	Whole       *bool         `json:"whole,omitempty" doc:"Tasks override whole tasks, not only their attributes."`
}

// ID is the ID of a release or a plugin, in JSON as a number or as the field id of an object. The ID 0 selects none.
type ID int64

// UnmarshalJSON implements [json.Unmarshaler].
func (id *ID) UnmarshalJSON(text []byte) error {
	object := struct {
		ID json.RawMessage `json:"id"`
	}{text}
	if text[0] == '{' {
		object.ID = nil
		if err := json.Unmarshal(text, &object); err != nil {
			return err
		}
	}
	var number *int64
	if json.Unmarshal(object.ID, &number) != nil || number == nil {
		return fmt.Errorf("release and plugins: expected an ID or an object with an id, got %s", text)
	}
	*id = ID(*number)
	return nil
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
