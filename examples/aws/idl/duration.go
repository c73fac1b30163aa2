package aws

// Seconds is a duration in seconds.
//
//lumi:min=0
type Seconds int
