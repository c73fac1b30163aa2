package main_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/examples/aws/provider/ec2"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/cloud"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/ec2server"
	"github.com/lumi-idl/lumi/examples/aws/provider/internal/s3server"
	"github.com/lumi-idl/lumi/examples/aws/provider/s3"
	lumi "github.com/lumi-idl/lumi/runtime"
	"github.com/lumi-idl/lumi/runtime/providertest"
	"github.com/lumi-idl/lumi/runtime/serve"
	"github.com/lumi-idl/lumi/runtime/serve/plugin"
	"github.com/lumi-idl/lumi/runtime/urn"
)

const region = "us-west-2"

// command starts the plugin with the environment that leads it to servers of the test, and to nothing else.
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

// TestBinary takes resources of both modules through their lives, in the plugin as it is built.
func TestBinary(t *testing.T) {
	t.Parallel()
	c, server, _ := command(t)
	account := new(cloud.Cloud)
	like := serve.Provider{Package: "aws", Resources: ec2.Resources(account)}
	maps.Copy(like.Resources, s3.Resources(account))
	h := providertest.Binary(t, c, providertest.Like(like), providertest.Config(providertest.Bag{"region": region}))

	vpc := h.Resource(ec2.VPC, "main")
	vpc.Life(t, providertest.Life{
		Create:   providertest.Bag{"name": "main", "cidrBlock": "10.0.0.0/16"},
		Updates:  []providertest.Change{{Set: providertest.Bag{"enableDNSHostnames": true}}},
		Replaces: []providertest.Replacement{{Set: providertest.Bag{"cidrBlock": "10.1.0.0/16"}, CreateFirst: true}},
	})
	bucket := h.Resource(s3.Bucket, "lumi-binary")
	bucket.Create(t, providertest.Bag{"name": "lumi-binary"})
	h.Resource(s3.Object, "#1").Life(t, providertest.Life{
		Create:  providertest.Bag{"bucket": bucket, "key": "a", "source": lumi.TextAsset("one")},
		Known:   []string{"bucket", "key"},
		Updates: []providertest.Change{{Set: providertest.Bag{"source": lumi.TextAsset("two")}}},
	})
	bucket.Delete(t)
	if left := server.Left(); len(left) > 0 {
		t.Errorf("the account still has %v", left)
	}
}

// TestWeb drives the graph of the program web through the plugin: all is made, needs no change when it is looked at
// again, and goes.
func TestWeb(t *testing.T) {
	t.Parallel()
	c, account, _ := command(t)
	var log bytes.Buffer
	c.Log = &log
	p, err := plugin.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil || strings.Contains(log.String(), s3server.SecretAccessKey) {
			t.Errorf("the plugin ended with %v and wrote:\n%s", err, log.String())
		}
	})
	g := load(t, "../../programs/web/graph.json")
	if err := p.Configure(t.Context(), g.Configuration["aws"]); err != nil {
		t.Fatal(err)
	}
	e := &engine{Plugin: p, t: t, names: map[urn.URN]urn.URN{}, state: map[urn.URN]*resource{}}
	e.create(g)

	var names []string
	for _, name := range e.order {
		names = append(names, e.state[name].typ.Name()+" "+name.Name())
	}
	want := []string{
		"VPC web", "SecurityGroup web", "Subnet web-a", "Subnet web-b", "Bucket lumi-example-pages",
		"Object lumi-example-pages/index.html",
	}
	if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(want))) {
		t.Errorf("made %v, want %v", names, want)
	}
	if left := account.Left(); len(left) != 4 {
		t.Errorf("the account has %v", left)
	}
	group := e.state["urn:lumi:dev::aws-example:index::aws:ec2:SecurityGroup::web"]
	bucket := e.state["urn:lumi:dev::aws-example:index::aws:s3:Bucket::lumi-example-pages"]
	got, err := e.provider("aws:s3:Bucket").Get(t.Context(), &lumi.GetRequest{ID: bucket.id})
	if err != nil {
		t.Fatal(err)
	}
	if tag := got.Properties.GetFields()["tags"].GetStructValue().AsMap()["firewall"]; tag != string(group.id) {
		t.Errorf("the bucket is tagged with %v, and the group is %s", tag, group.id)
	}

	if changes := e.changes(g); len(changes) > 0 {
		t.Errorf("a second run would change\n%s", strings.Join(changes, "\n"))
	}
	ingress := g.resources["urn:lumi:dev::aws-example:index::aws:ec2:SecurityGroup::web"].Properties.
		GetFields()["securityGroupIngress"].GetListValue()
	ingress.Values = ingress.GetValues()[:1]
	if changes := e.changes(g); len(changes) != 1 || !strings.HasPrefix(changes[0], "web: - securityGroupIngress[1]: ") {
		t.Errorf("one rule less is\n%s", strings.Join(changes, "\n"))
	}

	e.remove()
	if left := account.Left(); len(left) > 0 {
		t.Errorf("the account still has %v", left)
	}
	for _, name := range e.order {
		r := e.state[name]
		if _, err := e.provider(r.typ).Get(t.Context(), &lumi.GetRequest{ID: r.id}); !errors.Is(err, lumi.ErrNotFound) {
			t.Errorf("reading %s after it was deleted: %v", name, err)
		}
	}
}
