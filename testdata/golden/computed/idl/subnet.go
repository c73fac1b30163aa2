// Package computed has properties that programs may leave to the provider.
package computed

import "github.com/lumi-idl/lumi/idl"

// A Subnet is a range of addresses in a zone.
type Subnet struct {
	idl.NamedResource
	Placed
	Range string `lumi:"replaces"`
	// The gateway. By default, the provider chooses one.
	Gateway *Gateway `lumi:"optional,computed"`
	Routes  *[]Route `lumi:"optional,computed"`
	Key     *string  `lumi:"optional,computed,secret"`
	Extra   any      `lumi:"optional,computed"`
}

// Placed is embedded in resources that are in a zone.
type Placed struct {
	// The zone. By default, the provider chooses one.
	Zone *string `lumi:"optional,computed,replaces"`
}

// A Gateway leads out of a subnet.
type Gateway struct {
	idl.Resource
	Address *string `lumi:"optional,computed,was=ip"`
}

// A Route leads to a gateway.
type Route struct {
	To      string
	Through *Gateway
}
