package apigateway

// A Deployment is a callable snapshot of a RestAPI, published to a stage.
type Deployment struct {
	child
	// A description of the deployment.
	Description *string `lumi:"optional"`
	// The stage that serves the deployment.
	Stage Stage `lumi:"replaces"`
	// The resources in the deployment. A change to any of them triggers a new deployment.
	Resources *[]*Resource `lumi:"optional,replaces"`
	// Other APIs that this one calls.
	Downstream *APIs `lumi:"optional"`
	// The URL of the stage.
	InvokeURL string `lumi:"out,fixed"`
}

// A Stage is a named reference to a deployment, with its settings.
type Stage struct {
	// The name, which is part of the URL, such as `prod`.
	StageName string
	// Variables that methods can refer to.
	Variables *map[string]string `lumi:"optional"`
	// The maximum number of requests per second.
	ThrottlingRateLimit *float64 `lumi:"optional"`
	// The maximum number of requests in a burst.
	ThrottlingBurstLimit *int `lumi:"optional"`
	// Whether requests are traced across services.
	TracingEnabled *bool `lumi:"optional"`
}
