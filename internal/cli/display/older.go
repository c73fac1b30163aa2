package display

import (
	"strings"

	"github.com/lumi-idl/lumi/internal/term"
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/urn"
)

// Older is an older version of a module that is still in use. It contains only resources that the current version
// lacks.
type Older struct {
	*lumigl.Snapshot
	Version string   // the version, such as "a::46"
	Users   []string // the modules that need the version
}

// String returns the version and its users, as in "a::46 for b".
func (o Older) String() string {
	if len(o.Users) == 0 {
		return term.Visible(o.Version) + ", not needed by any module"
	}
	return term.Visible(o.Version + " for " + strings.Join(o.Users, ", "))
}

// OlderVersions parses the field "versions", which [graph.Graph.Snapshot] adds to a snapshot.
func OlderVersions(s *lumigl.Snapshot) (all []Older) {
	for deployment, resources := range s.Field("versions").Members() {
		o := Older{Snapshot: &lumigl.Snapshot{}}
		for key, value := range resources.Members() {
			v, err := o.Add(urn.URN(key))
			if err != nil {
				continue // the file was not written by an environment
			}
			v.ID, _ = value.Get("id").Text()
			v.Options, v.Properties = value.Get("options"), value.Get("properties")
			parts, _ := v.URN().Parts()
			o.Version, o.Users = parts.Package+"::"+deployment, nil
			for _, user := range value.Get("neededBy").Elements() {
				name, _ := user.Text()
				o.Users = append(o.Users, name)
			}
		}
		if o.Len() > 0 {
			all = append(all, o)
		}
	}
	return all
}
