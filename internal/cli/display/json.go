package display

import (
	"encoding/json"

	"github.com/lumi-idl/lumi/internal/cli/document"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/wire"
)

// jsonVertex is the JSON form of a vertex.
type jsonVertex struct {
	Key        string          `json:"key"`
	Type       string          `json:"type,omitempty"`
	Name       string          `json:"name,omitempty"`
	ID         string          `json:"id,omitempty"`
	Options    json.RawMessage `json:"options,omitempty"`
	Source     string          `json:"source,omitempty"`
	Version    string          `json:"version,omitempty"`
	NeededBy   []string        `json:"neededBy,omitempty"`
	Properties json.RawMessage `json:"properties"`
	Extensions json.RawMessage `json:"extensions,omitempty"`
	Uses       []string        `json:"uses"`
	UsedBy     []string        `json:"usedBy"`
}

// JSON prints the given vertices as JSON.
func (v *Viewer) JSON(chosen []*lumigl.Vertex) error {
	tag := v.Doc.Base().Tag
	if tag == "" {
		tag = lumigl.DefaultTag
	}
	keys := func(others []*lumigl.Vertex) []string {
		all := make([]string, 0, len(others))
		for _, other := range others {
			all = append(all, other.Key())
		}
		return all
	}
	for _, one := range chosen {
		j := jsonVertex{
			Key: one.Key(), Uses: keys(v.Index.Dependencies(one, false)), UsedBy: keys(v.Index.Dependents(one, false)),
		}
		if v.snapshot() != nil {
			j.Type, j.Name, j.ID, j.Source = string(one.Type), v.Name(one), one.ID, one.Source
		}
		if o := v.OlderOf(one); o != nil {
			j.Version, j.NeededBy = o.Version, o.Users
		}
		j.Properties = json.RawMessage("{}")
		if one.Properties.Exists() {
			j.Properties = AppendJSON(nil, one.Properties, tag)
		}
		if one.Options.Exists() {
			j.Options = AppendJSON(nil, one.Options, tag)
		}
		if one.Extensions.Exists() {
			j.Extensions = AppendJSON(nil, one.Extensions, tag)
		}
		if err := v.Con.PrintJSON(j); err != nil {
			return err
		}
	}
	return nil
}

// AppendJSON appends value to dst as JSON, with secrets masked.
func AppendJSON(dst []byte, value lumigl.Value, tag string) []byte {
	text := func(s string) {
		dst = append(dst, quoted(s)...)
	}
	if value.IsSecret() {
		return append(dst, `{"`+wire.Signature+`":"`+wire.Secret+`","value":"`+document.Masked+`"}`...)
	}
	if to, property, ok := value.Target(); ok {
		dst = append(dst, '{')
		text(tag)
		dst = append(dst, ':')
		text(to.Key())
		if property != "" {
			dst = append(dst, `,"property":`...)
			text(property)
		}
		return append(dst, '}')
	}
	switch value.Kind() {
	case lumigl.Object:
		dst = append(dst, '{')
		some := false
		for key, m := range value.Members() {
			if some {
				dst = append(dst, ',')
			}
			some = true
			text(key)
			dst = AppendJSON(append(dst, ':'), m, tag)
		}
		return append(dst, '}')
	case lumigl.List:
		dst = append(dst, '[')
		for i, e := range value.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e, tag)
		}
		return append(dst, ']')
	}
	return append(dst, scalar(value)...)
}
