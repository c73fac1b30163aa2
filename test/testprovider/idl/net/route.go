package net

import (
	"github.com/lumi-idl/lumi/idl"

	feature "github.com/lumi-idl/lumi/test/testprovider/idl"
)

// Route sends what it gets to one target.
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

// Target is where a route sends things.
type Target struct {
	idl.OneOf
	// A network.
	Network *Network
	// Another route.
	Route *Route
}

// Action is what a route does.
type Action struct {
	idl.OneOf
	// It moves things.
	Move *feature.Point
	Grow *feature.Tree  `lumi:"name=grows,was=climb"`
	Stop *feature.Empty `lumi:"secret"`
}
