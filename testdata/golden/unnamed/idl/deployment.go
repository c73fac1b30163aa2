package unnamed

import "github.com/lumi-idl/lumi/idl"

// Deployment is named by its provider. Nothing is required of it.
type Deployment struct {
	idl.Resource
	// Stage is what the deployment is called in its address.
	Stage *string `lumi:"optional"`
}

// Ping has no properties at all.
type Ping struct {
	idl.Resource
}
