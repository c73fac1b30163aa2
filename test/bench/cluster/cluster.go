// Package cluster generates snapshots of any size by repeating a cluster of four resources, the example in the design
// note on graphs.
package cluster

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Size is the number of resources in a cluster.
const Size = 4

// one is the template of a cluster. Each $ is replaced by a zero-padded number, which keeps the clusters in nearly
// canonical order, as in a file written by lumigl.
const one = `        "urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::cloud-vpc-$": {
            "type": "aws:ec2/vpc:VPC",
            "id": "vpc-30629859-$",
            "properties": {
                "cidrBlock": "172.31.0.0/16"
            }
        },
        "urn:lumi:prod::my/cluster:index::aws:ec2/subnet:Subnet::cloud-subnet-$": {
            "type": "aws:ec2/subnet:Subnet",
            "id": "subnet-925087fb-$",
            "properties": {
                "cidrBlock": "172.31.0.0/16",
                "vpcId": { "#ref": "urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::cloud-vpc-$" }
            }
        },
        "urn:lumi:prod::my/cluster:index::aws:ec2/securityGroup:SecurityGroup::admin-$": {
            "type": "aws:ec2/securityGroup:SecurityGroup",
            "id": "sg-151cd67c-$",
            "properties": {
                "name": "SSH",
                "groupDescription": "Enable SSH access",
                "securityGroupIngress": [
                    {
                        "cidrIp": "0.0.0.0",
                        "fromPort": 22,
                        "ipProtocol": "tcp",
                        "toPort": 22
                    }
                ],
                "vpcId": { "#ref": "urn:lumi:prod::my/cluster:index::aws:ec2/vpc:VPC::cloud-vpc-$" }
            }
        },
        "urn:lumi:prod::my/cluster:index::aws:ec2/instance:Instance::master-$": {
            "type": "aws:ec2/instance:Instance",
            "id": "i-0cd6974f17a414343-$",
            "properties": {
                "imageId": "ami-f6035893",
                "instanceType": "t2.micro",
                "securityGroupIds": [
                    { "#ref": "urn:lumi:prod::my/cluster:index::aws:ec2/securityGroup:SecurityGroup::admin-$" }
                ],
                "subnetId": {
                    "#ref": "urn:lumi:prod::my/cluster:index::aws:ec2/subnet:Subnet::cloud-subnet-$"
                }
            }
        }`

// changed modifies two of the four resources in a cluster.
var changed = strings.NewReplacer(": 22", ": 2222", "t2.micro", "t3.large")

// Write writes a snapshot with at least the given number of resources, rounded up to complete clusters.
func Write(w io.Writer, resources int) error {
	return WriteChanged(w, 0, resources, func(int) bool { return false })
}

// WriteChanged is like [Write], but numbers the clusters from first and modifies every cluster i for which differs(i) is
// true.
func WriteChanged(w io.Writer, first, resources int, differs func(i int) bool) error {
	const head = "{\n    \"package\": \"my/cluster#*\",\n    \"resources\": {\n"
	return repeat(w, head, one, "\n    }\n}\n", first, resources, differs)
}

// repeat writes head, enough copies of one for the given number of resources, and tail. It replaces each $ with the
// copy's number, and applies [changed] to the copies selected by differs.
func repeat(w io.Writer, head, one, tail string, first, resources int, differs func(i int) bool) error {
	out := bufio.NewWriter(w)
	before, after := strings.Split(one, "$"), strings.Split(changed.Replace(one), "$")
	text := head
	for i := first; i < first+(resources+Size-1)/Size; i++ {
		if i > first {
			text = ",\n"
		}
		parts := before
		if differs(i) {
			parts = after
		}
		text += strings.Join(parts, fmt.Sprintf("%06d", i))
		if _, err := out.WriteString(text); err != nil {
			return err
		}
		text = ""
	}
	if _, err := out.WriteString(text + tail); err != nil {
		return err
	}
	return out.Flush()
}
