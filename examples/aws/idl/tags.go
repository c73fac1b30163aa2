package aws

// Tags are labels of the user's own choosing. Amazon attaches no meaning to them, but bills and permissions can refer
// to them.
//
//lumi:maxProperties=50
type Tags map[string]string

// Tagged is embedded by every resource that can be tagged.
type Tagged struct {
	// Labels for people, bills and permissions.
	Tags *Tags `lumi:"optional"`
}
