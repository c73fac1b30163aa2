package machine

// Properties are those of a server, for benchmarks in other packages.
type Properties = server
