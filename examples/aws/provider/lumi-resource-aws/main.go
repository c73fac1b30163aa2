// Command lumi-resource-aws is the provider of package aws.
//
// If its configuration contains no credentials, they come from the SDK's defaults: AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, AWS_PROFILE, the files in ~/.aws, or the machine's role. AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_EC2,
// and AWS_ENDPOINT_URL_S3 override the endpoints.
package main

import (
	"maps"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
)

func main() {
	account := new(cloud.Cloud)
	resources := map[tokens.Type]lumi.ResourceProvider{}
	maps.Copy(resources, ec2.Resources(account))
	maps.Copy(resources, s3.Resources(account))
	serve.Main(serve.Plugin{
		Package:   "aws",
		Configure: serve.Configure(account.Configure),
		Resources: resources,
		Functions: ec2.Functions(account),
	})
}
