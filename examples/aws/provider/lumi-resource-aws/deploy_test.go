package main_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	ec2api "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	s3api "github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// lumi deploys the program web, updates it after a change, and destroys it. SDK clients verify the resources.
func TestDeploy(t *testing.T) {
	t.Parallel()
	checkout := must.Get(filepath.Abs("../../../.."))(t)
	c, account, buckets := command(t)
	bin := t.TempDir()
	node.Run(t, checkout, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/lumi")
	must.Do(t, os.Symlink(c.Path, filepath.Join(bin, "lumi-resource-aws")))
	programs, _ := node.Workspace(t, checkout, "aws")
	lumi := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "lumi"), args...)
		cmd.Dir, cmd.Env = programs, append(os.Environ(), c.Env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("lumi %v: %v\n%s", args, err, out)
		}
		if strings.Contains(string(out), s3server.SecretAccessKey) {
			t.Errorf("output of lumi %v contains the secret access key:\n%s", args, out)
		}
		return string(out)
	}
	cloud := newAmazon(account.Start(t), buckets.URL)

	if out := lumi("deploy", "--yes"); !strings.Contains(out, "6 to create\n") {
		t.Errorf("first deployment does not create 6 resources:\n%s", out)
	}
	cloud.expect(t, 2, "<!doctype html>\n<title>It works</title>\n")
	lumi("plan", "--check")

	edit(t, filepath.Join(programs, "web", "main.ts"), "It works", "It still works", "[80, 443]", "[443]")
	if out := lumi("deploy", "--yes"); !strings.Contains(out, "2 to update, 4 unchanged\n") {
		t.Errorf("second deployment does not update 2 of 6 resources:\n%s", out)
	}
	cloud.expect(t, 1, "<!doctype html>\n<title>It still works</title>\n")

	if out := lumi("destroy", "--yes"); !strings.Contains(out, "6 to delete\n") {
		t.Errorf("destroy does not delete 6 resources:\n%s", out)
	}
	list, err := cloud.s3.ListBuckets(t.Context(), &s3api.ListBucketsInput{})
	if left := account.Left(); err != nil || len(list.Buckets)+len(left) > 0 {
		t.Errorf("left in the account: %d buckets and %v, error %v; want nothing", len(list.Buckets), left, err)
	}
}

// edit replaces text in a file. pairs alternates between old and new text.
func edit(t *testing.T, name string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// amazon accesses an account with SDK clients, without the provider.
type amazon struct {
	ec2 *ec2api.Client
	s3  *s3api.Client
}

func newAmazon(ec2URL, s3URL string) amazon {
	keys := credentials.NewStaticCredentialsProvider(s3server.AccessKeyID, s3server.SecretAccessKey, "")
	return amazon{
		ec2api.New(ec2api.Options{BaseEndpoint: &ec2URL, Region: region, Credentials: keys}),
		s3api.New(s3api.Options{BaseEndpoint: &s3URL, Region: region, Credentials: keys, UsePathStyle: true}),
	}
}

// expect checks that the account contains the resources of the program web, with the given number of firewall rules and the
// given page.
func (a amazon) expect(t *testing.T, rules int, page string) {
	t.Helper()
	ctx := t.Context()
	subnets, err := a.ec2.DescribeSubnets(ctx, &ec2api.DescribeSubnetsInput{})
	if err != nil || len(subnets.Subnets) != 2 {
		t.Fatalf("DescribeSubnets = %v, %v, want 2 subnets", subnets, err)
	}
	groups := must.Get(a.ec2.DescribeSecurityGroups(ctx, &ec2api.DescribeSecurityGroupsInput{}))(t)
	i := slices.IndexFunc(groups.SecurityGroups, func(g ec2types.SecurityGroup) bool { return *g.GroupName == "web" })
	if i < 0 || len(groups.SecurityGroups[i].IpPermissions) != rules || *groups.SecurityGroups[i].VpcId != *subnets.Subnets[0].VpcId {
		t.Fatalf("DescribeSecurityGroups = %v, want web with %d rules", groups.SecurityGroups, rules)
	}
	tags, err := a.s3.GetBucketTagging(ctx, &s3api.GetBucketTaggingInput{Bucket: sdk.String("lumi-example-pages")})
	if err != nil || !slices.ContainsFunc(tags.TagSet, func(tag s3types.Tag) bool {
		return *tag.Key == "firewall" && *tag.Value == *groups.SecurityGroups[i].GroupId
	}) {
		t.Errorf("bucket tags = %v, %v, want tag firewall with %s", tags, err, *groups.SecurityGroups[i].GroupId)
	}
	object := must.Get(a.s3.GetObject(ctx, &s3api.GetObjectInput{Bucket: sdk.String("lumi-example-pages"), Key: sdk.String("index.html")}))(t)
	defer object.Body.Close()
	if text, err := io.ReadAll(object.Body); err != nil || string(text) != page {
		t.Errorf("content of index.html = %q, %v, want %q", text, err, page)
	}
}
