// Package images has functions with arguments and results of many types.
package images

import "github.com/lumi-idl/lumi/idl"

// A Server runs an image.
type Server struct {
	idl.NamedResource
	Image string
}

// A Filter limits the images.
type Filter struct {
	Name   string
	Values []string `lumi:"minItems=1"`
}

// Newest is the order of the images.
type Newest string

// The orders.
const (
	NewestFirst Newest = "first"
	NewestLast  Newest = "last"
)

// owned is embedded by functions that return the owner.
type owned struct {
	idl.Function
	// The account that owns the image.
	Account string `lumi:"out"`
}

// FindImage finds an image.
//
//lumi:rule has(Filters) || has(Family) // neither filters nor a family is given
type FindImage struct {
	owned
	// What to look for.
	Filters *[]Filter `lumi:"optional,maxItems=10"`
	Family  *string   `lumi:"optional,minLength=1,conflictsWith=prefix"`
	// Deprecated: use Family.
	Prefix *string `lumi:"optional"`
	Newest *Newest `lumi:"optional,default=first"`
	// A server with a similar image.
	Like  *Server   `lumi:"optional"`
	Key   *string   `lumi:"optional,secret"`
	Image string    `lumi:"out,name=imageID"`
	Size  int       `lumi:"out"`
	Tags  *[]string `lumi:"out,optional"`
	Near  *Filter   `lumi:"out,optional"`
	Token string    `lumi:"out,secret"`
}

// Time returns the current time.
//
// Deprecated: use the clock of the program.
type Time struct {
	idl.Function
	Now string `lumi:"out"`
}
