package tfserve

import (
	"strings"
	"testing"

	"github.com/lumi-idl/lumi/idl/schema"
)

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"VPC": "vpc", "Name": "name", "IPProtocol": "ip_protocol", "VPCID": "vpcid", "VPCIDs": "vpcids", "CIDRIP": "cidrip", "S3Key": "s3_key",
		"SHA256": "sha256", "MD5Hash": "md5_hash", "IDsOfUsers": "ids_of_users", "IsOn": "is_on", "EBSOptimized": "ebs_optimized", "A": "a",
		"Snake_Case": "snake_case", "DNSSEC": "dnssec", "IPv6CIDRBlocks": "ipv6_cidr_blocks", "MapIPv": "map_i_pv", "DBSnapshot": "db_snapshot", "UseHTTP2": "use_http2", "ÉtatÀVenir": "état_à_venir",
	} {
		if got := snake(name); got != want {
			t.Errorf("snake(%s) = %s, want %s", name, got, want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	n, err := typeNames("aws", []string{"aws:ec2:VPC", "aws:index:Account", "aws:net/v2-beta:IPRange"})
	if err != nil || strings.Join(n.list(), " ") != "aws_account aws_ec2_vpc aws_net_v2_beta_ip_range" {
		t.Error(n.list(), err)
	}
	_, err = typeNames("aws", []string{"aws:ec2:VPC", "aws:index:Ec2VPC", "aws:ec2:Vpc"})
	wantError(t, err, "aws:ec2:VPC and aws:index:Ec2VPC would both be aws_ec2_vpc in OpenTofu\n"+
		"aws:ec2:VPC and aws:ec2:Vpc would both be aws_ec2_vpc in OpenTofu")
}

func TestAttributeNames(t *testing.T) {
	r := &schema.Resource{Header: schema.Header{Name: "Disk"}, Properties: []*schema.Property{
		{Field: "ID"}, {Field: "Count"}, {Field: "ForEach"}, {Field: "Version"}, {Field: "IDL"},
	}}
	names, err := attributeNames(r, resourceNames)
	if got := strings.Join(names, " "); err != nil || got != "id_ count_ for_each_ version idl" {
		t.Error(got, err)
	}
	names, err = attributeNames(&schema.Config{Properties: r.Properties}, providerNames)
	if got := strings.Join(names, " "); err != nil || got != "id count_ for_each_ version_ idl" {
		t.Error(got, err)
	}
	r.Properties = append(r.Properties, &schema.Property{Field: "ID_"}, &schema.Property{Field: "IdL"}, &schema.Property{Field: "Id_L"})
	_, err = attributeNames(r, resourceNames)
	wantError(t, err, "Disk: ID and ID_ would both be id_ in OpenTofu\nDisk: IdL and Id_L would both be id_l in OpenTofu")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
