package ec2_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	aws "github.com/lumi-idl/lumi/examples/aws/provider"
	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/tokens"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const keyID = "AKIDEXAMPLE"

// findTimeout is long enough for several attempts on a consistent server, and lagTimeout on an eventually consistent one.
const (
	findTimeout = 100 * time.Millisecond
	lagTimeout  = 500 * time.Millisecond
)

// start serves the module's resources from a new account. At the end of the test, the account must be empty.
func start(t *testing.T) (*ec2server.Server, *providertest.Harness) {
	t.Helper()
	return startWith(t, nil)
}

// startWith is like start, but overrides parts of the configuration.
func startWith(t *testing.T, config providertest.Properties) (*ec2server.Server, *providertest.Harness) {
	t.Helper()
	server := ec2server.New("us-west-2", keyID)
	t.Cleanup(func() {
		if left := server.Left(); len(left) > 0 {
			t.Errorf("resources left in the account = %v, want none", left)
		}
	})
	return server, over(t, server, config)
}

// over serves the module's resources from an account, which several harnesses may share.
func over(
	t *testing.T, server *ec2server.Server, config providertest.Properties, options ...providertest.HarnessOption,
) *providertest.Harness {
	t.Helper()
	c := &cloud.Cloud{FindTimeout: findTimeout}
	p := serve.Plugin{Package: "aws", Configure: serve.Configure(c.Configure), Resources: ec2.Resources(c), Functions: ec2.Functions(c)}
	return providertest.InProcess(t, p, append(options, providertest.Config(providertest.Properties{
		"region":      aws.USWest2,
		"credentials": providertest.Properties{"accessKeyID": keyID, "secretAccessKey": providertest.Secret("a-secret-of-the-tests")},
		"endpoints":   providertest.Properties{"ec2": server.Start(t)},
		"maxRetries":  0,
	}.With(config)))...)
}

// network creates a VPC named main.
func network(t *testing.T, h *providertest.Harness) *providertest.Resource {
	t.Helper()
	vpc := h.Resource(ec2.VPC, "main")
	vpc.Create(t, providertest.Properties{"name": "main", "cidrBlock": "10.0.0.0/16"})
	return vpc
}

// count returns the number of calls of an action since the previous call of count or server.Calls.
func count(server *ec2server.Server, action string) int {
	calls := server.Calls()
	return len(slices.DeleteFunc(calls, func(call string) bool { return call != action }))
}

// resources returns the module's providers, for calls without the test kit.
func resources(t *testing.T, server *ec2server.Server) map[tokens.Type]lumi.ResourceProvider {
	t.Helper()
	c := &cloud.Cloud{FindTimeout: lagTimeout}
	must.Do(t, c.Configure(t.Context(), &aws.Config{
		Region: aws.USWest2, Endpoints: map[aws.Service]string{aws.EC2Service: server.Start(t)}, MaxRetries: new(0),
		Credentials: &aws.Credentials{AccessKeyID: keyID, SecretAccessKey: "a-secret-of-the-tests"},
	}))
	return ec2.Resources(c)
}

// encode converts properties to a bag.
func encode(t *testing.T, properties bag) lumi.Bag {
	t.Helper()
	var decoded map[string]any
	data, err := json.Marshal(properties)
	if err == nil {
		err = json.Unmarshal(data, &decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := must.Get(structpb.NewStruct(decoded))(t)
	return lumi.BagOf(s)
}
