package mymod

import (
	deep "github.com/lumi-idl/lumi/gen/typescript/testdata/features/idl/deep/net"
	"github.com/lumi-idl/lumi/gen/typescript/testdata/features/idl/net"
)

// Rule takes the structs of that name from two modules whose packages have one name too.
type Rule struct {
	Near  net.Rule
	Deep  deep.Rule
	Rules []Rule
}
