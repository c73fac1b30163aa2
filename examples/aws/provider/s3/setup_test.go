package s3_test

import (
	"context"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	api "github.com/aws/aws-sdk-go-v2/service/s3"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

type bag = providertest.Properties

// start serves the module's resources from a new server. At the end of the test, the server must have no buckets.
func start(t *testing.T) (*s3server.Server, *providertest.Harness) {
	t.Helper()
	server := s3server.Start(t, string(aws.USWest2))
	t.Cleanup(func() {
		out, err := client(server).ListBuckets(context.Background(), &api.ListBucketsInput{})
		if err != nil || len(out.Buckets) > 0 {
			t.Errorf("left in the account: %d buckets, error %v; want none", len(out.Buckets), err)
		}
	})
	return server, over(t, server, nil)
}

// over serves the module's resources from a server, which several harnesses may share.
func over(
	t *testing.T, server *s3server.Server, config bag, options ...providertest.HarnessOption,
) *providertest.Harness {
	t.Helper()
	c := new(cloud.Cloud)
	p := serve.Plugin{Package: "aws", Configure: serve.Configure(c.Configure), Resources: s3.Resources(c)}
	return providertest.InProcess(t, p, append(options, providertest.Config(bag{
		"region": aws.USWest2,
		"credentials": bag{
			"accessKeyID": s3server.AccessKeyID, "secretAccessKey": providertest.Secret(s3server.SecretAccessKey),
		},
		"endpoints":  bag{"s3": server.URL},
		"maxRetries": 0,
	}.With(config)))...)
}

// provider returns the module's providers, for calls without the test kit, which hides the types of errors.
func provider(t *testing.T, server *s3server.Server, maxRetries int) map[tokens.Type]lumi.ResourceProvider {
	t.Helper()
	c := new(cloud.Cloud)
	must.Do(t, c.Configure(t.Context(), &aws.Config{
		Region: aws.USWest2, Endpoints: map[aws.Service]string{aws.S3Service: server.URL}, MaxRetries: &maxRetries,
		Credentials: &aws.Credentials{AccessKeyID: s3server.AccessKeyID, SecretAccessKey: s3server.SecretAccessKey},
	}))
	return s3.Resources(c)
}

// client returns an SDK client for the server.
func client(server *s3server.Server) *api.Client {
	return api.New(api.Options{
		BaseEndpoint: &server.URL, UsePathStyle: true, Region: string(aws.USWest2),
		Credentials: sdk.NewCredentialsCache(
			credentials.NewStaticCredentialsProvider(s3server.AccessKeyID, s3server.SecretAccessKey, "")),
	})
}
