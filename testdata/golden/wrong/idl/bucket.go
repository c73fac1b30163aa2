package wrong

import (
	"time"

	"github.com/lumi-idl/lumi/idl"
)

// Bucket breaks a rule of each kind.
type Bucket struct {
	idl.NamedResource
	Size     int64
	Created  time.Time `lumi:"out"`
	Versions *string   `lumi:"optinal"`
	Ärger    *string
	Owner    Owner `lumi:"optional,optional"`
	Grants   map[float64]*Owner
}

// Owner is a resource.
type Owner struct {
	idl.Resource
	Name, Login string `lumi:"name=login"`
}

// New does not belong here.
func New() *Bucket { return nil }

const A, B Kind = "same", "same"

type Kind string
