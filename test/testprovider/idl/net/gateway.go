package net

import "github.com/lumi-idl/lumi/idl"

// base is a mixin. Its properties are inlined where it is embedded.
type base struct {
	idl.Resource
	// Note comes from the mixin.
	Note *string `lumi:"optional"`
}

// Gateway is a resource named by the provider.
type Gateway struct {
	base
	Kind GatewayKind `lumi:"replaces"`
	IP   *string     `lumi:"out"`
}

// GatewayKind is an enum next to the resource.
type GatewayKind string

const (
	Internal GatewayKind = "internal"
	External GatewayKind = "external"
)

// Marker is a resource without properties.
type Marker struct {
	idl.Resource
}
