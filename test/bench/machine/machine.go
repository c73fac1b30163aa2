package machine

// Properties are a server's properties, for benchmarks in other packages.
type Properties = server
