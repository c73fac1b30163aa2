package machine

import "github.com/lumi-idl/lumi/idl"

// LimitedServer is a [Server] with ten constraints.
type LimitedServer struct {
	idl.NamedResource
	Image     string   `lumi:"replaces,pattern='^[a-z]+$'"`
	Zone      string   `lumi:"maxLength=20"`
	Owner     string   `lumi:"minLength=1"`
	Kernel    *string  `lumi:"optional"`
	User      *string  `lumi:"optional"`
	Cores     float64  `lumi:"min=1,max=128"`
	Memory    float64  `lumi:"multipleOf=0.5"`
	Swap      *float64 `lumi:"optional,min=0"`
	Public    bool
	Monitored bool
	Spot      *bool              `lumi:"optional"`
	Disks     *[]Disk            `lumi:"optional,maxItems=9"`
	Tags      *map[string]string `lumi:"optional,keyPattern='^[a-z]'"`
	Addresses *[]string          `lumi:"optional,unique"`
}
