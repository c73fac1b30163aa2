package embedding

import "github.com/lumi-idl/lumi/idl"

// taggable is a mixin.
type taggable struct {
	idl.NamedResource
	Tags *map[string]string `lumi:"optional"`
	ARN  string             `lumi:"out"`
}

// Located is a base that only resources embed.
type Located struct {
	Region string `lumi:"replaces"`
	Zone   string `lumi:"out"`
}

// Volume has a mixin and a base.
type Volume struct {
	taggable
	Size float64
	Located
}

// Snapshot extends a resource.
type Snapshot struct {
	Volume
	Note *string `lumi:"optional"`
}

// Point is a base of plain structs.
type Point struct {
	X, Y float64
}

// Point3 has one more dimension.
type Point3 struct {
	Point
	Z float64
}
