package ec2_test

import (
	"slices"
	"testing"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/ec2server"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
)

const keyID = "AKIDEXAMPLE"

// start serves the module's resources over an account of their own, which must be empty in the end.
func start(t *testing.T) (*ec2server.Server, *providertest.Harness) {
	t.Helper()
	return startWith(t, nil)
}

// startWith has some configuration be another.
func startWith(t *testing.T, config providertest.Bag) (*ec2server.Server, *providertest.Harness) {
	t.Helper()
	server := ec2server.New("us-west-2", keyID)
	t.Cleanup(func() {
		if left := server.Left(); len(left) > 0 {
			t.Errorf("the account still has %v", left)
		}
	})
	return server, over(t, server, config)
}

// over serves the module's resources over an account that others may use, too.
func over(
	t *testing.T, server *ec2server.Server, config providertest.Bag, options ...providertest.HarnessOption,
) *providertest.Harness {
	t.Helper()
	c := new(cloud.Cloud)
	p := serve.Plugin{Package: "aws", Configure: serve.Configure(c.Configure), Resources: ec2.Resources(c)}
	return providertest.InProcess(t, p, append(options, providertest.Config(providertest.Bag{
		"region":      aws.USWest2,
		"credentials": providertest.Bag{"accessKeyID": keyID, "secretAccessKey": providertest.Secret("a-secret-of-the-tests")},
		"endpoints":   providertest.Bag{"ec2": server.Start(t)},
		"maxRetries":  0,
	}.With(config)))...)
}

// network makes a network for others to be in.
func network(t *testing.T, h *providertest.Harness) *providertest.Resource {
	t.Helper()
	vpc := h.Resource(ec2.VPC, "main")
	vpc.Create(t, providertest.Bag{"name": "main", "cidrBlock": "10.0.0.0/16"})
	return vpc
}

// count counts the calls of an action among those since the last time.
func count(server *ec2server.Server, action string) int {
	calls := server.Calls()
	return len(slices.DeleteFunc(calls, func(call string) bool { return call != action }))
}
