package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2api "github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	s3api "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lumi-idl/lumi/examples/aws/provider/test/s3server"
	"github.com/lumi-idl/lumi/test/kit/must"
	"github.com/lumi-idl/lumi/test/kit/node"
)

// tofu is the state of OpenTofu for a VPC, a subnet, a group, a bucket, and an object.
const tofu = `{
  "version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x", "outputs": {},
  "resources": [
    {"mode": "managed", "type": "aws_s3_object", "name": "page", "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
     "instances": [{"schema_version": 0, "dependencies": ["aws_s3_bucket.pages"],
       "attributes": {"id": "adopted-pages/index.html", "bucket": "adopted-pages", "key": "index.html"}}]},
    {"mode": "managed", "type": "aws_s3_bucket", "name": "pages", "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
     "instances": [{"schema_version": 0, "attributes": {"id": "adopted-pages", "bucket": "adopted-pages"}}]},
    {"mode": "managed", "type": "aws_subnet", "name": "a", "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
     "instances": [{"schema_version": 1, "dependencies": ["aws_vpc.main"], "attributes": {"id": %[2]q, "vpc_id": %[1]q}}]},
    {"mode": "managed", "type": "aws_security_group", "name": "web", "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
     "instances": [{"schema_version": 1, "dependencies": ["aws_vpc.main"], "attributes": {"id": %[3]q, "vpc_id": %[1]q}}]},
    {"mode": "managed", "type": "aws_vpc", "name": "main", "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
     "instances": [{"schema_version": 1, "attributes": {"id": %[1]q}}]}
  ]
}`

const tofuTypes = `aws:index:S3Bucket: aws:s3:Bucket
aws:index:S3Object: aws:s3:BucketObject
aws:index:Subnet: aws:ec2:Subnet
aws:index:SecurityGroup: aws:ec2:SecurityGroup
aws:index:Vpc: aws:ec2:VPC
`

// lumi takes over resources that OpenTofu created: the program type-checks in strict mode, the plan only imports, and
// neither the next plan nor the one without the option import changes anything.
func TestImport(t *testing.T) {
	t.Parallel()
	checkout := must.Get(filepath.Abs("../../../.."))(t)
	c, account, buckets := command(t)
	bin := t.TempDir()
	node.Run(t, checkout, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/lumi")
	must.Do(t, os.Symlink(c.Path, filepath.Join(bin, "lumi-resource-aws")))
	programs, _ := node.Workspace(t, checkout, "aws")
	program := filepath.Join(programs, "web", "main.ts")
	lumi := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "lumi"), args...)
		cmd.Dir, cmd.Env = programs, append(os.Environ(), c.Env...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("lumi %v: %v\n%s%s", args, err, out, &stderr)
		}
		return string(out)
	}
	ids := newAmazon(account.Start(t), buckets.URL).adoptable(t)
	must.Do(t, os.WriteFile(program, []byte("import * as aws from \"../../pack/index.js\";\naws.configure({ region: aws.Region.USWest2 });\n"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(programs, "tofu.tfstate"), fmt.Appendf(nil, tofu, ids...), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(programs, "types.yaml"), []byte(tofuTypes), 0o644))
	lumi("convert", "-o", "tofu.json", "--environment=dev", "--package=aws-example", "tofu.tfstate")

	text := lumi("import", "--from=tofu.json", "--types=types.yaml")
	if strings.Contains(text, s3server.SecretAccessKey) {
		t.Errorf("the program contains the secret access key:\n%s", text)
	}
	for _, edit := range [][2]string{
		{"import * as aws", "import * as lumi from \"@lumi/lumi\";\nimport * as aws"}, {"\n\n", "\naws.configure({ region: aws.Region.USWest2 });\n"},
		{`declare const bucketObjectSource: aws.s3.BucketObjectArgs["source"];`, `const bucketObjectSource = lumi.Asset.fromText("<p>");`},
	} {
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	must.Do(t, os.WriteFile(program, []byte(text), 0o644))
	node.Compile(t, checkout, programs, "--noEmit")
	if out := lumi("plan"); !strings.Contains(out, "\n5 to import\n") {
		t.Errorf("plan does not import 5 resources and nothing else:\n%s", out)
	}
	lumi("deploy", "--yes")
	lumi("plan", "--check")
	must.Do(t, os.WriteFile(program, regexp.MustCompile(`,\s*\{ import: "[^"]*" \}`).ReplaceAll(must.Get(os.ReadFile(program))(t), nil), 0o644))
	lumi("plan", "--check")
}

// adoptable creates resources and returns the ids of the VPC, the subnet, and the group.
func (a amazon) adoptable(t *testing.T) []any {
	ctx := t.Context()
	named := func(kind types.ResourceType, name string) []types.TagSpecification {
		return []types.TagSpecification{{ResourceType: kind, Tags: []types.Tag{{Key: sdk.String("Name"), Value: &name}, {Key: sdk.String("team"), Value: sdk.String("web")}}}}
	}
	vpc := must.Get(a.ec2.CreateVpc(ctx, &ec2api.CreateVpcInput{
		CidrBlock: sdk.String("10.0.0.0/16"), TagSpecifications: named(types.ResourceTypeVpc, "main"),
	}))(t).Vpc.VpcId
	subnet := must.Get(a.ec2.CreateSubnet(ctx, &ec2api.CreateSubnetInput{
		VpcId: vpc, CidrBlock: sdk.String("10.0.0.0/24"), TagSpecifications: named(types.ResourceTypeSubnet, "main-a"),
	}))(t).Subnet.SubnetId
	group := must.Get(a.ec2.CreateSecurityGroup(ctx, &ec2api.CreateSecurityGroupInput{
		VpcId: vpc, GroupName: sdk.String("web"), Description: sdk.String("the web"), TagSpecifications: named(types.ResourceTypeSecurityGroup, "web"),
	}))(t).GroupId
	must.Get(a.ec2.AuthorizeSecurityGroupIngress(ctx, &ec2api.AuthorizeSecurityGroupIngressInput{GroupId: group, IpPermissions: []types.IpPermission{{
		IpProtocol: sdk.String("tcp"), FromPort: sdk.Int32(80), ToPort: sdk.Int32(80), IpRanges: []types.IpRange{{CidrIp: sdk.String("0.0.0.0/0")}},
	}}}))(t)
	must.Get(a.s3.CreateBucket(ctx, &s3api.CreateBucketInput{Bucket: sdk.String("adopted-pages")}))(t)
	must.Get(a.s3.PutObject(ctx, &s3api.PutObjectInput{
		Bucket: sdk.String("adopted-pages"), Key: sdk.String("index.html"), ContentType: sdk.String("text/html"), Body: strings.NewReader("<p>"),
	}))(t)
	return []any{*vpc, *subnet, *group}
}
