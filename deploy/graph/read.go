package graph

import (
	"github.com/lumi-idl/lumi/lumigl"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

// Options of resources that deployments only read.
const (
	// ReadOption holds the ID of an existing resource to look up.
	ReadOption = "read"
	// CallOption marks a call of a function.
	CallOption = "call"
)

// IsRead reports whether options mark a look-up or a call.
func IsRead(options lumigl.Value) bool { return IsCall(options) || options.Get(ReadOption).Exists() }

// IsCall reports whether options mark a call.
func IsCall(options lumigl.Value) bool {
	is, _ := options.Get(CallOption).Bool()
	return is
}

// IsRead reports whether the resource is a look-up or a call. It is stored because other resources refer to its results,
// but it is never created, changed, deleted, or refreshed. Outputs holds the results.
func (r *Resource) IsRead() bool { return IsRead(r.Options) }

// Manager returns the resource with the given type and ID that a module manages, or nil if there is none. It prefers the
// named module, and the newest versions.
func (g *Graph) Manager(t tokens.Type, id, module string) (found *Resource) {
	best := 0
	for _, v := range g.all() {
		rank := 1
		if v.Module == module {
			rank += 2
		}
		if g.Newest(v.Module) == v {
			rank++
		}
		for r := range v.Resources() {
			if rank > best && r.ID == id && r.Type() == t && !r.IsRead() {
				found, best = r, rank
			}
		}
	}
	return found
}
