package machine

// Properties exports the properties of a server for benchmarks in other packages.
type Properties = server
