package aws

// Seconds is a span of time, in seconds.
//
//lumi:min=0
type Seconds float64
