package features

import (
	"github.com/lumi-idl/lumi/gen/typescript/testdata/features/idl/net"
	"github.com/lumi-idl/lumi/idl"
)

// Filter selects images.
type Filter struct {
	Name   string
	Values []string `lumi:"minItems=1"`
}

type owned struct {
	idl.Function
	// The account that owns the image.
	Account string `lumi:"out"`
}

// FindImage finds the latest image that matches.
//
//lumi:rule has(Filters) || has(Family) // neither filters nor a family is given
type FindImage struct {
	owned
	Filters *[]Filter    `lumi:"optional,maxItems=10"`
	Family  *string      `lumi:"optional,minLength=1"`
	Network *net.Network `lumi:"optional"`
	Key     *string      `lumi:"optional,secret"`
	// Deprecated: use Family.
	Prefix *string `lumi:"optional"`
	// The id of the image, for servers.
	Image string    `lumi:"out,name=imageID"`
	Tags  *[]string `lumi:"out,optional"`
	Token string    `lumi:"out,secret"`
	Near  *Filter   `lumi:"out,optional"`
}

// Deprecated: use FindImage.
type Now struct {
	idl.Function
	Time float64 `lumi:"out"`
}
