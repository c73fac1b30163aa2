// Package sns has topics.
package sns

import "github.com/lumi-idl/lumi/idl"

// Topic is what messages are about.
type Topic struct{ idl.Resource }
