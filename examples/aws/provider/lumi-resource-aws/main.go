// Command lumi-resource-aws is the provider of package aws.
package main

import (
	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func main() {
	serve.Main(serve.Provider{
		Package: "aws",
		Resources: map[tokens.Type]lumi.ResourceProvider{
			ec2.SecurityGroup: ec2.NewSecurityGroups(&ec2.Memory{}),
		},
	})
}
