package net

// Aliases of unexported generated structs for the runtime's tests, which are in another package.
type (
	// Network_ is network.
	Network_ = network
	// Route_ is route.
	Route_ = route
	// Gateway_ is gateway.
	Gateway_ = gateway
	// Marker_ is marker.
	Marker_ = marker
)
