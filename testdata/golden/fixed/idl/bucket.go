// Package fixed has outputs that an update never changes.
package fixed

import "github.com/lumi-idl/lumi/idl"

// A Bucket holds objects.
type Bucket struct {
	idl.NamedResource
	Owned
	Size int
	// The secret key of the owner.
	Key *string `lumi:"out,fixed,secret"`
	// The bucket that this one was copied from.
	From *Bucket `lumi:"out,fixed,optional"`
	// The places of its copies.
	Places []Place `lumi:"out,fixed"`
	// The number of objects.
	Count int `lumi:"out"`
}

// Owned is embedded in resources that belong to an account.
type Owned struct {
	ARN string `lumi:"out,fixed"`
}

// A Place is a region.
//
//lumi:equal=caseless
type Place string
