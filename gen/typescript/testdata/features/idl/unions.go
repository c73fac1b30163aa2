package features

import (
	"github.com/lumi-idl/lumi/gen/typescript/testdata/features/idl/net"
	"github.com/lumi-idl/lumi/idl"
)

// Route leads to one target.
type Route struct {
	idl.NamedResource
	Target  Target
	Others  *[]Target `lumi:"optional"`
	Action  Action
	Actions *map[string]Action `lumi:"optional"`
	Hidden  *Action            `lumi:"optional,secret"`
	Current Action             `lumi:"out"`
	Next    *Target            `lumi:"out,optional"`
}

// Target is where a route leads.
type Target struct {
	idl.OneOf
	Network *net.Network
	Bare    *Bare
	Route   *Route
}

// Action is what a route does.
type Action struct {
	idl.OneOf
	// To another place.
	Forward *Proxy `lumi:"was=send"`
	Filter  *Rule  `lumi:"name=select"`
	Branch  *Both  `lumi:"deprecated='use select'"`
}

// Both has unions inside.
type Both struct {
	Left, Right *Action `lumi:"optional"`
	To          *Target `lumi:"optional"`
}
