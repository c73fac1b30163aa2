package net

// Aliases that export generated structs to the runtime's tests, which are in another package.
type (
	// Network_ exports network.
	Network_ = network
	// Route_ exports route.
	Route_ = route
	// Gateway_ exports gateway.
	Gateway_ = gateway
	// Marker_ exports marker.
	Marker_ = marker
)
