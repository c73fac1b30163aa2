// Package cloud contains code shared by the provider's modules: configuration, clients, tags, and errors.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	sdkconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	lumi "github.com/lumi-idl/lumi/runtime"
)

// Cloud is a connection to an AWS account in one region. Call Configure before any other method.
type Cloud struct {
	// FindTimeout is the maximum time to wait for a resource to become visible after a Create with an uncertain outcome.
	// The default is 3 seconds.
	FindTimeout time.Duration

	config    sdk.Config
	endpoints map[aws.Service]string
	defaults  aws.Tags
}

// Configure applies the provider's configuration. Settings that it omits come from the SDK's defaults: environment
// variables, the files in ~/.aws, or the machine's role. It returns an error if the configuration is invalid or there are
// no credentials.
func (c *Cloud) Configure(ctx context.Context, config *aws.Config) error {
	if err := check(config); err != nil {
		return err
	}
	options := []func(*sdkconfig.LoadOptions) error{
		sdkconfig.WithRegion(string(config.Region)),
		sdkconfig.WithRetryer(func() sdk.Retryer { return newRetryer(maxAttempts(config)) }),
		sdkconfig.WithAPIOptions([]func(*middleware.Stack) error{watchAttempts}),
	}
	if keys := config.Credentials; keys != nil {
		token := ""
		if keys.SessionToken != nil {
			token = *keys.SessionToken
		}
		options = append(options, sdkconfig.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(keys.AccessKeyID, keys.SecretAccessKey, token)))
	}
	loaded, err := sdkconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return err
	}
	if config.AssumeRole != nil {
		loaded.Credentials = sdk.NewCredentialsCache(
			stscreds.NewAssumeRoleProvider(sts.NewFromConfig(loaded), *config.AssumeRole))
	}
	// Report missing credentials here rather than for each resource.
	if _, err := loaded.Credentials.Retrieve(ctx); err != nil {
		return withoutCredentials(config, err)
	}
	c.config, c.endpoints, c.defaults = loaded, config.Endpoints, config.DefaultTags
	return nil
}

func check(config *aws.Config) error {
	var faults []error
	for _, service := range slices.Sorted(maps.Keys(config.Endpoints)) {
		address := config.Endpoints[service]
		path := lumi.Path(aws.Config_Endpoints).Key(string(service))
		if service != aws.EC2Service && service != aws.S3Service {
			faults = append(faults, lumi.Faultf(path, "this provider has no resources of this service"))
		} else if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			faults = append(faults, lumi.Faultf(path, "must be a URL such as https://localhost:4566, got %q", address))
		}
	}
	return errors.Join(append(faults, CheckPlainTags(aws.Config_DefaultTags, config.DefaultTags, nil))...)
}

// maxAttempts returns the maximum number of attempts per request, including the first one.
func maxAttempts(config *aws.Config) int {
	if config.MaxRetries == nil {
		return aws.DefaultMaxRetries + 1
	}
	return *config.MaxRetries + 1
}

func withoutCredentials(config *aws.Config, err error) error {
	if config.AssumeRole != nil {
		return fmt.Errorf("assuming role %s: %w", *config.AssumeRole, Error(err))
	}
	return fmt.Errorf("no AWS credentials found: set %s in the configuration, or in the environment AWS_PROFILE, or both"+
		" AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (%w)", aws.Config_Credentials, err)
}

// Region returns the configured region, which contains all resources.
func (c *Cloud) Region() aws.Region { return aws.Region(c.config.Region) }

// Client returns a function that returns a module's client. It creates the client on first use, which must follow
// Configure. endpoint is the configured endpoint, which overrides the environment, or nil if there is none.
func Client[T any](c *Cloud, service aws.Service, open func(config sdk.Config, endpoint *string) T) func() T {
	return sync.OnceValue(func() T {
		var endpoint *string
		if address, ok := c.endpoints[service]; ok {
			endpoint = &address
		}
		return open(c.config.Copy(), endpoint)
	})
}
