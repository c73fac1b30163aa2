package main_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/ec2server"
	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
	"github.com/lumi-idl/lumi/test/kit/must"
)

const region = "us-west-2"

// command starts fake EC2 and S3 servers. It returns the plugin's command, with environment variables that point to them.
func command(t *testing.T) (c plugin.Command, ec2 *ec2server.Server, s3 *s3server.Server) {
	t.Helper()
	ec2, s3 = ec2server.New(region, s3server.AccessKeyID), s3server.Start(t, region)
	return plugin.Command{
		Path: providertest.Build(t, "."),
		Env: []string{
			"HOME=" + t.TempDir(), "AWS_EC2_METADATA_DISABLED=true",
			"AWS_ACCESS_KEY_ID=" + s3server.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + s3server.SecretAccessKey,
			"AWS_ENDPOINT_URL_EC2=" + ec2.Start(t), "AWS_ENDPOINT_URL_S3=" + s3.URL,
		},
	}, ec2, s3
}

func TestBinary(t *testing.T) {
	t.Parallel()
	c, server, _ := command(t)
	h := providertest.Binary(t, c, providertest.Config(providertest.Properties{"region": region}))

	vpc := h.Resource(ec2.VPC, "main")
	vpc.Life(t, providertest.Life{
		Create:   providertest.Properties{"name": "main", "cidrBlock": "10.0.0.0/16"},
		Updates:  []providertest.Change{{Set: providertest.Properties{"enableDNSHostnames": true}}},
		Replaces: []providertest.Replacement{{Set: providertest.Properties{"cidrBlock": "10.1.0.0/16"}}},
	})
	bucket := h.Resource(s3.Bucket, "lumi-binary")
	bucket.Create(t, providertest.Properties{"name": "lumi-binary"})
	h.Unnamed(s3.BucketObject).Life(t, providertest.Life{
		Create:  providertest.Properties{"bucket": bucket, "key": "a", "source": lumi.TextAsset("one")},
		Known:   []string{"bucket", "key"},
		Updates: []providertest.Change{{Set: providertest.Properties{"source": lumi.TextAsset("two")}}},
	})
	bucket.Delete(t)
	if left := server.Left(); len(left) > 0 {
		t.Errorf("resources left in the account = %v, want none", left)
	}
}

// web is the path of the graph of the program web, and module the prefix of its URNs.
const (
	web    = "../../programs/web/graph.json"
	module = "urn:lumi:dev::aws-example:index::"
)

// Deploying the program web creates each resource exactly once, despite throttled requests and lost responses.
func TestWeb(t *testing.T) {
	t.Parallel()
	c, account, buckets := command(t)
	var log bytes.Buffer
	c.Log = &log
	var events []lumi.Event
	c.Events = func(e lumi.Event) { events = append(events, e) }
	account.Lag = 1
	account.Fail("CreateVpc", ec2server.Lost)
	account.Fail("CreateSubnet", ec2server.BrokenAfter)
	account.Fail("CreateSecurityGroup", ec2server.Broken) // Find returns ErrNotFound, so Create is called again
	buckets.Lose(s3server.Is("PUT /lumi-example-pages"))
	e := drive(t, c, load(t, web, "lumi-example-pages"))
	if e.attempts != 6+2+2+1 { // six resources, two calls of Find, a Find and a second Create of the group, a second Create of the bucket
		t.Errorf("calls of Create and Find = %d, want %d", e.attempts, 6+2+2+1)
	}
	if left := account.Left(); len(left) > 0 {
		t.Errorf("resources left in the account = %v, want none", left)
	}
	if !slices.Contains(events, lumi.Event{
		URN: module + "aws:ec2:SecurityGroup::web", Message: "waiting for the resource: not found yet", Progress: true,
	}) {
		t.Errorf("events = %v, want progress of a wait for the security group", events)
	}
	if err := e.Close(); err != nil || strings.Contains(log.String(), s3server.SecretAccessKey) {
		t.Errorf("Close = %v, want nil and no secret access key in the log:\n%s", err, log.String())
	}
}

// TestAmazon deploys the program web to a real AWS account. It runs only if LUMI_TEST_AWS=1 is set.
func TestAmazon(t *testing.T) {
	if os.Getenv("LUMI_TEST_AWS") == "" {
		t.Skip("set LUMI_TEST_AWS=1 to create and delete a VPC, a security group, and a bucket in your account")
	}
	bucket := "lumi-example-" + strings.ToLower(rand.Text())
	e := drive(t, plugin.Command{Path: providertest.Build(t, ".")}, load(t, web, bucket))
	must.Do(t, e.Close())
}

// drive creates all resources in a graph, checks that they have no changes until the graph is modified, and deletes them.
func drive(t *testing.T, c plugin.Command, g *graph) *engine {
	t.Helper()
	e := start(t, c)
	must.Do(t, e.Configure(t.Context(), lumi.BagOf(g.Configuration["aws"])))
	e.create(g)

	var names []string
	for _, name := range e.order {
		names = append(names, e.state[name].typ.Name()+" "+name.Name())
	}
	want := []string{
		"VPC web", "SecurityGroup web", "Subnet web-a", "Subnet web-b", "Bucket " + g.bucket,
		"BucketObject " + g.bucket + "/index.html",
	}
	if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(want))) {
		t.Errorf("created resources = %v, want %v", names, want)
	}
	group, bucket := e.state[module+"aws:ec2:SecurityGroup::web"], e.state[urn.URN(module+"aws:s3:Bucket::"+g.bucket)]
	got := must.Get(e.provider(bucket.typ).Get(t.Context(), &lumi.GetRequest{ID: bucket.id, Purpose: lumi.Import}))(t)
	if tags, _ := got.Properties.Get("tags").(map[string]any); tags["firewall"] != string(group.id) {
		t.Errorf("bucket tags = %v, want tag firewall with %s", tags, group.id)
	}

	if changes := e.changes(g); len(changes) > 0 {
		t.Errorf("changes after deployment, want none:\n%s", strings.Join(changes, "\n"))
	}
	rules := g.resources[module+"aws:ec2:SecurityGroup::web"].Properties.GetFields()["securityGroupIngress"].GetListValue()
	rules.Values = rules.GetValues()[:1]
	if changes := e.changes(g); len(changes) != 1 || !strings.HasPrefix(changes[0], "web: - securityGroupIngress[1]: ") {
		t.Errorf("changes after removing a rule, want only its removal:\n%s", strings.Join(changes, "\n"))
	}

	e.remove()
	return e
}
