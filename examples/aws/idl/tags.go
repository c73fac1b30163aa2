package aws

// Tags are user-defined labels, for example for billing and permissions.
//
//lumi:maxProperties=50
type Tags map[string]string

// Tagged is embedded by resources that support tags.
type Tagged struct {
	// The tags.
	Tags *Tags `lumi:"optional"`
}
