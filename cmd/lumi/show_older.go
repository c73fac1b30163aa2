package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/lumigl/query"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// older is a version of a module that exists beside the newest one, with the resources that only it holds.
type older struct {
	*lumigl.Snapshot
	version string   // such as "a::46"
	users   []string // the modules that need it
}

// String returns the version and who needs it, such as "a::46 for b".
func (o older) String() string {
	if len(o.users) == 0 {
		return term.Visible(o.version) + ", which no module needs"
	}
	return term.Visible(o.version + " for " + strings.Join(o.users, ", "))
}

// olderVersions returns what the field "versions" of a snapshot has, as [graph.Graph.Snapshot] writes it.
func olderVersions(s *lumigl.Snapshot) (all []older) {
	for deployment, resources := range s.Field("versions").Members() {
		o := older{Snapshot: &lumigl.Snapshot{}}
		for key, value := range resources.Members() {
			v, err := o.Add(urn.URN(key))
			if err != nil {
				continue // The file is not an environment's.
			}
			v.ID, _ = value.Get("id").Text()
			v.Options, v.Properties = value.Get("options"), value.Get("properties")
			parts, _ := v.URN().Parts()
			o.version, o.users = parts.Package+"::"+deployment, nil
			for _, user := range value.Get("neededBy").Elements() {
				name, _ := user.Text()
				o.users = append(o.users, name)
			}
		}
		if o.Len() > 0 {
			all = append(all, o)
		}
	}
	return all
}

// all returns the vertices of the document, and then those of older versions.
func (v *viewer) all() []*lumigl.Vertex {
	all := slices.Collect(v.doc.Base().Vertices())
	for _, o := range v.older {
		all = slices.AppendSeq(all, o.Vertices())
	}
	return all
}

// olderOf returns the older version that holds a vertex, nil if the document does.
func (v *viewer) olderOf(one *lumigl.Vertex) *older {
	for i := range v.older {
		if v.older[i].Vertex(one.Key()) == one {
			return &v.older[i]
		}
	}
	return nil
}

// find returns the vertex that a key stands for, and those with its URN in older versions.
func (v *viewer) find(key string) (all []*lumigl.Vertex, err error) {
	found, err := v.index.Find(key)
	var several *query.FindError
	switch {
	case err == nil:
		all, key = append(all, found), found.Key()
	case errors.As(err, &several) && len(several.Candidates) > 0:
		return nil, err
	}
	for _, o := range v.older {
		if one, err := query.New(o.Base()).Find(key); err == nil {
			all = append(all, one)
		}
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}
