package apigateway

// A Deployment is a RestAPI as it was at one moment, in a stage where it can be called.
type Deployment struct {
	child
	// What is new, in words.
	Description *string `lumi:"optional"`
	// The stage that shows the deployment.
	Stage Stage `lumi:"replaces"`
	// The resources that are part of it: a change of any of them is a reason to deploy again.
	Resources *[]*Resource `lumi:"optional,replaces"`
	// Other interfaces to call on the way.
	Downstream *APIs `lumi:"optional"`
	// The address of the stage.
	InvokeURL string `lumi:"out"`
}

// A Stage is a name under which one deployment can be called, and how it behaves there.
type Stage struct {
	// The name, which becomes a part of the address, such as `prod`.
	StageName string
	// Values that methods can refer to.
	Variables *map[string]string `lumi:"optional"`
	// How many requests a second are let through.
	ThrottlingRateLimit *float64 `lumi:"optional"`
	// How many requests may come at once.
	ThrottlingBurstLimit *float64 `lumi:"optional"`
	// Whether requests are traced through all services.
	TracingEnabled *bool `lumi:"optional"`
}
