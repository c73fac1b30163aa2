package pulumi_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lumi-idl/lumi/adapter/pulumi/pulumitest"
	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/lumischema"
	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

// The provider works by Pulumi's rules, and nothing is left in the account.
func TestPulumi(t *testing.T) {
	t.Parallel()
	buckets, account := s3server.Start(t, string(aws.USWest2)), ec2server.New(string(aws.USWest2), s3server.AccessKeyID)
	fixture := strings.NewReplacer(
		"$KEY", s3server.AccessKeyID, "$SECRET", s3server.SecretAccessKey, "$S3", buckets.URL, "$EC2", account.Start(t),
	).Replace(string(must.Get(os.ReadFile("../opentofu/fixture.json"))(t)))
	file := filepath.Join(t.TempDir(), "fixture.json")
	must.Do(t, os.WriteFile(file, []byte(fixture), 0o600))
	t.Cleanup(func() { // after the kit's
		keys := credentials.NewStaticCredentialsProvider(s3server.AccessKeyID, s3server.SecretAccessKey, "")
		client := api.New(api.Options{BaseEndpoint: &buckets.URL, UsePathStyle: true, Region: string(aws.USWest2), Credentials: sdk.NewCredentialsCache(keys)})
		list, err := client.ListBuckets(context.Background(), &api.ListBucketsInput{})
		if left := account.Left(); err != nil || len(list.Buckets)+len(left) > 0 {
			t.Errorf("left in the account: %d buckets and %v, error %v", len(list.Buckets), left, err)
		}
	})
	c := new(cloud.Cloud)
	resources := map[tokens.Type]lumi.ResourceProvider{}
	maps.Copy(resources, ec2.Resources(c))
	maps.Copy(resources, s3.Resources(c))
	plugin := serve.Plugin{Package: "aws", Configure: serve.Configure(c.Configure), Resources: resources}
	pulumitest.Run(t, plugin, lumischema.JSON, file)
}
