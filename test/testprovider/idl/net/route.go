package net

import (
	"github.com/lumi-idl/lumi/idl"

	feature "github.com/lumi-idl/lumi/test/testprovider/idl"
)

// Route sends its traffic to one target.
//
//lumi:was=Way
type Route struct {
	idl.NamedResource
	Target  Target
	Backup  *Target            `lumi:"optional"`
	More    *[]Target          `lumi:"optional"`
	Action  Action             `lumi:"replaces"`
	Actions *map[string]Action `lumi:"optional"`
	Hidden  *Action            `lumi:"optional,secret"`
	Current Action             `lumi:"out"`
}

// Target is the target of a route.
type Target struct {
	idl.OneOf
	// A network.
	Network *Network
	// Another route.
	Route *Route
}

// Action is an action of a route.
type Action struct {
	idl.OneOf
	// It forwards traffic.
	Move *feature.Point
	Grow *feature.Tree  `lumi:"name=grows,was=climb"`
	Stop *feature.Empty `lumi:"secret"`
}
