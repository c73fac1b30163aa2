// Package cloud is what all modules of the provider share: the way to Amazon, tags, and what Amazon's errors mean.
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

// Cloud is the way to an account in a region. Configure comes before all else.
type Cloud struct {
	// FindTimeout is how long something may take to become visible after a Create whose answer was lost, 3 s if it is 0.
	FindTimeout time.Duration

	config    sdk.Config
	endpoints map[aws.Service]string
	defaults  aws.Tags
}

// Configure takes the provider's configuration. What that leaves open comes from where Amazon's own tools look: the
// environment, the files in ~/.aws, and the machine's role.
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
	// Whoever has no credentials should hear that now, and not once a resource.
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
			faults = append(faults, lumi.Faultf(path, "this provider has no resources of that service"))
		} else if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			faults = append(faults, lumi.Faultf(path, "%q is no address such as https://localhost:4566", address))
		}
	}
	return errors.Join(append(faults, CheckPlainTags(aws.Config_DefaultTags, config.DefaultTags, nil))...)
}

// maxAttempts counts the first attempt, too.
func maxAttempts(config *aws.Config) int {
	if config.MaxRetries == nil {
		return aws.DefaultMaxRetries + 1
	}
	return int(*config.MaxRetries) + 1
}

func withoutCredentials(config *aws.Config, err error) error {
	if config.AssumeRole != nil {
		return fmt.Errorf("assuming the role %s: %w", *config.AssumeRole, Error(err))
	}
	return fmt.Errorf("no credentials for Amazon: set %s in the configuration, or AWS_ACCESS_KEY_ID and"+
		" AWS_SECRET_ACCESS_KEY or AWS_PROFILE in the environment (%w)", aws.Config_Credentials, err)
}

// Region is where all resources are.
func (c *Cloud) Region() aws.Region { return aws.Region(c.config.Region) }

// Client makes what a module reaches its service through, when it first needs it: after Configure. The endpoint is the one
// of the configuration, which goes before those of the environment; nil if it has none.
func Client[T any](c *Cloud, service aws.Service, open func(config sdk.Config, endpoint *string) T) func() T {
	return sync.OnceValue(func() T {
		var endpoint *string
		if address, ok := c.endpoints[service]; ok {
			endpoint = &address
		}
		return open(c.config.Copy(), endpoint)
	})
}
