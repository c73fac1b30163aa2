package feature

// Limited has properties with constraints.
type Limited struct {
	Port  float64  `lumi:"min=1,max=65535"`
	Ratio *float64 `lumi:"optional,max=0.5"`
}
