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

// findTimeout is enough to look several times where new things can be seen at once, and lagTimeout where they cannot.
const (
	findTimeout = 100 * time.Millisecond
	lagTimeout  = 500 * time.Millisecond
)

// start serves the module's resources over an account of their own, which must be empty in the end.
func start(t *testing.T) (*ec2server.Server, *providertest.Harness) {
	t.Helper()
	return startWith(t, nil)
}

// startWith has some configuration be another.
func startWith(t *testing.T, config providertest.Properties) (*ec2server.Server, *providertest.Harness) {
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
	t *testing.T, server *ec2server.Server, config providertest.Properties, options ...providertest.HarnessOption,
) *providertest.Harness {
	t.Helper()
	c := &cloud.Cloud{FindTimeout: findTimeout}
	p := serve.Plugin{Package: "aws", Configure: serve.Configure(c.Configure), Resources: ec2.Resources(c)}
	return providertest.InProcess(t, p, append(options, providertest.Config(providertest.Properties{
		"region":      aws.USWest2,
		"credentials": providertest.Properties{"accessKeyID": keyID, "secretAccessKey": providertest.Secret("a-secret-of-the-tests")},
		"endpoints":   providertest.Properties{"ec2": server.Start(t)},
		"maxRetries":  0,
	}.With(config)))...)
}

// network makes a network for others to be in.
func network(t *testing.T, h *providertest.Harness) *providertest.Resource {
	t.Helper()
	vpc := h.Resource(ec2.VPC, "main")
	vpc.Create(t, providertest.Properties{"name": "main", "cidrBlock": "10.0.0.0/16"})
	return vpc
}

// count counts the calls of an action among those since the last time.
func count(server *ec2server.Server, action string) int {
	calls := server.Calls()
	return len(slices.DeleteFunc(calls, func(call string) bool { return call != action }))
}

// resources are the module's resources without the kit.
func resources(t *testing.T, server *ec2server.Server) map[tokens.Type]lumi.ResourceProvider {
	t.Helper()
	c := &cloud.Cloud{FindTimeout: lagTimeout}
	must.Do(t, c.Configure(t.Context(), &aws.Config{
		Region: aws.USWest2, Endpoints: map[aws.Service]string{aws.EC2Service: server.Start(t)}, MaxRetries: new(0.0),
		Credentials: &aws.Credentials{AccessKeyID: keyID, SecretAccessKey: "a-secret-of-the-tests"},
	}))
	return ec2.Resources(c)
}

// encode makes a bag of properties.
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
