// Package traps describes a resource with a property of each kind that OpenTofu treats in its own way.
package traps

import "github.com/lumi-idl/lumi/idl"

// The Config of the provider.
type Config struct {
	idl.Config
	// The version of the API, which is a reserved name in a provider block.
	Version string
	// A password.
	Password string `lumi:"secret"`
}

// A Trap is a resource in memory.
type Trap struct {
	idl.NamedResource `lumi:"maxLength=20"`
	// The number of bars, which is a reserved name in a resource block.
	Count *int `lumi:"optional,default=1,min=1"`
	// A word that the provider chooses from the seed.
	Word *string `lumi:"optional,computed"`
	// A word that the provider chooses when it creates the trap.
	Late *string `lumi:"optional,computed"`
	// A number that never changes.
	Serial int `lumi:"out,fixed"`
	// The number of changes.
	Revision int `lumi:"out"`
	// A secret that the provider makes.
	Key string `lumi:"out,secret"`
	// A secret that is never read back.
	PIN *string `lumi:"optional,in,secret"`
	// The place of the trap.
	Place *Place `lumi:"optional,replaces"`
	// Where other traps are.
	VPCIDs *[]string `lumi:"optional,equal=set"`
	// A document.
	Document *string `lumi:"optional,equal=json"`
	// Secrets that no attribute of OpenTofu can carry one by one.
	Logins *[][]Login `lumi:"optional"`
	// Secrets in lists in a map.
	ByUser *map[string][]Login `lumi:"optional"`
	// Logins that can be nested attributes.
	Plain *[]Login `lumi:"optional"`
	// Any value.
	Anything any `lumi:"optional"`
	// Any values.
	List *[]any `lumi:"optional"`
	// Named values.
	Values *map[string]any `lumi:"optional"`
	// Structs with any value.
	Holders *[]Holder `lumi:"optional"`
	// A tree.
	Tree *Tree `lumi:"optional"`
	// A shape.
	Shape *Shape `lumi:"optional"`
	// Any resource.
	Other *idl.Resource `lumi:"optional"`
	// A trap or a bait.
	Either *Either `lumi:"optional"`
	// Another trap.
	Peer *Trap `lumi:"optional"`
	// Baits by name.
	Baits *map[string]*Bait `lumi:"optional"`
	// The content.
	Source *idl.Asset `lumi:"optional"`
	// The contents.
	Files *idl.Archive `lumi:"optional"`
}

// A Place is a place.
type Place string

// The places.
const (
	PlaceForest Place = "forest"
	PlaceHouse  Place = "house"
)

// A Login is a user with a password.
type Login struct {
	// The user.
	User string
	// The password.
	Password *string `lumi:"optional,secret"`
	// The number of uses.
	Uses *int `lumi:"optional,default=0"`
}

// A Holder has any value.
type Holder struct {
	// The value.
	Value any
}

// A Tree contains trees.
type Tree struct {
	// The label.
	Label string
	// The parts.
	Children *[]Tree `lumi:"optional"`
}

// A Shape is a circle or a square.
type Shape struct {
	idl.OneOf
	Circle *Circle
	Square *Square
}

// A Circle is a shape.
type Circle struct {
	// The radius.
	Radius float64
}

// A Square is a shape.
type Square struct {
	// The side.
	Side float64
	// The color.
	Color *string `lumi:"optional"`
}

// Either is a trap or a bait.
type Either struct {
	idl.OneOf
	Trap *Trap
	Bait *Bait
}

// A Bait is a resource that the provider names.
type Bait struct {
	idl.Resource
	// The food.
	Food string `lumi:"replaces"`
	// The label, which is in lower case.
	Label *string `lumi:"optional"`
}
