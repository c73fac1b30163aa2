package aws

// Seconds is a span of time, in seconds.
type Seconds float64
