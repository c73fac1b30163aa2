package cluster

import "io"

// WritePulumi writes the same clusters as a Pulumi export, including the fields added by Pulumi's engine.
func WritePulumi(w io.Writer, resources int) error {
	return repeat(w, pulumiHead, pulumi, "\n        ]\n    }\n}\n", 0, resources, func(int) bool { return false })
}

// WriteOpenTofu writes the same clusters as an OpenTofu state, including the attributes computed by the AWS provider.
func WriteOpenTofu(w io.Writer, resources int) error {
	return repeat(w, openTofuHead, openTofu, "\n  ],\n  \"check_results\": null\n}\n", 0, resources, func(int) bool { return false })
}

const pulumiHead = `{
    "version": 3,
    "deployment": {
        "manifest": {
            "time": "2024-05-01T10:00:00.000000000Z",
            "magic": "5d2c1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a392817060504",
            "version": "v3.115.0"
        },
        "resources": [
`

const pulumi = `            {
                "urn": "urn:pulumi:prod::cluster::aws:ec2/vpc:Vpc::cloud-vpc-$",
                "custom": true,
                "id": "vpc-30629859-$",
                "type": "aws:ec2/vpc:Vpc",
                "inputs": {
                    "__defaults": [],
                    "cidrBlock": "172.31.0.0/16"
                },
                "outputs": {
                    "cidrBlock": "172.31.0.0/16",
                    "id": "vpc-30629859-$"
                },
                "parent": "urn:pulumi:prod::cluster::pulumi:pulumi:Stack::cluster-prod",
                "provider": "urn:pulumi:prod::cluster::pulumi:providers:aws::default::0f7c9f3e-5d25-4a52-9f3e-1c2d3e4f5a6b",
                "propertyDependencies": {
                    "cidrBlock": []
                },
                "created": "2024-05-01T10:00:00Z",
                "modified": "2024-05-01T10:00:00Z"
            },
            {
                "urn": "urn:pulumi:prod::cluster::aws:ec2/subnet:Subnet::cloud-subnet-$",
                "custom": true,
                "id": "subnet-925087fb-$",
                "type": "aws:ec2/subnet:Subnet",
                "inputs": {
                    "__defaults": [],
                    "cidrBlock": "172.31.0.0/16",
                    "vpcId": "vpc-30629859-$"
                },
                "outputs": {
                    "cidrBlock": "172.31.0.0/16",
                    "id": "subnet-925087fb-$",
                    "vpcId": "vpc-30629859-$"
                },
                "parent": "urn:pulumi:prod::cluster::pulumi:pulumi:Stack::cluster-prod",
                "dependencies": [
                    "urn:pulumi:prod::cluster::aws:ec2/vpc:Vpc::cloud-vpc-$"
                ],
                "provider": "urn:pulumi:prod::cluster::pulumi:providers:aws::default::0f7c9f3e-5d25-4a52-9f3e-1c2d3e4f5a6b",
                "propertyDependencies": {
                    "cidrBlock": [],
                    "vpcId": [
                        "urn:pulumi:prod::cluster::aws:ec2/vpc:Vpc::cloud-vpc-$"
                    ]
                },
                "created": "2024-05-01T10:00:00Z",
                "modified": "2024-05-01T10:00:00Z"
            },
            {
                "urn": "urn:pulumi:prod::cluster::aws:ec2/securityGroup:SecurityGroup::admin-$",
                "custom": true,
                "id": "sg-151cd67c-$",
                "type": "aws:ec2/securityGroup:SecurityGroup",
                "inputs": {
                    "__defaults": [],
                    "description": "Enable SSH access",
                    "ingress": [
                        {
                            "__defaults": [],
                            "cidrBlocks": [
                                "0.0.0.0/0"
                            ],
                            "fromPort": 22,
                            "protocol": "tcp",
                            "toPort": 22
                        }
                    ],
                    "name": "SSH",
                    "vpcId": "vpc-30629859-$"
                },
                "outputs": {
                    "description": "Enable SSH access",
                    "id": "sg-151cd67c-$",
                    "ingress": [
                        {
                            "cidrBlocks": [
                                "0.0.0.0/0"
                            ],
                            "fromPort": 22,
                            "protocol": "tcp",
                            "toPort": 22
                        }
                    ],
                    "name": "SSH",
                    "vpcId": "vpc-30629859-$"
                },
                "parent": "urn:pulumi:prod::cluster::pulumi:pulumi:Stack::cluster-prod",
                "dependencies": [
                    "urn:pulumi:prod::cluster::aws:ec2/vpc:Vpc::cloud-vpc-$"
                ],
                "provider": "urn:pulumi:prod::cluster::pulumi:providers:aws::default::0f7c9f3e-5d25-4a52-9f3e-1c2d3e4f5a6b",
                "propertyDependencies": {
                    "description": [],
                    "ingress": [],
                    "name": [],
                    "vpcId": [
                        "urn:pulumi:prod::cluster::aws:ec2/vpc:Vpc::cloud-vpc-$"
                    ]
                },
                "created": "2024-05-01T10:00:00Z",
                "modified": "2024-05-01T10:00:00Z"
            },
            {
                "urn": "urn:pulumi:prod::cluster::aws:ec2/instance:Instance::master-$",
                "custom": true,
                "id": "i-0cd6974f17a414343-$",
                "type": "aws:ec2/instance:Instance",
                "inputs": {
                    "__defaults": [],
                    "ami": "ami-f6035893",
                    "instanceType": "t2.micro",
                    "subnetId": "subnet-925087fb-$",
                    "vpcSecurityGroupIds": [
                        "sg-151cd67c-$"
                    ]
                },
                "outputs": {
                    "ami": "ami-f6035893",
                    "id": "i-0cd6974f17a414343-$",
                    "instanceType": "t2.micro",
                    "subnetId": "subnet-925087fb-$",
                    "vpcSecurityGroupIds": [
                        "sg-151cd67c-$"
                    ]
                },
                "parent": "urn:pulumi:prod::cluster::pulumi:pulumi:Stack::cluster-prod",
                "dependencies": [
                    "urn:pulumi:prod::cluster::aws:ec2/securityGroup:SecurityGroup::admin-$",
                    "urn:pulumi:prod::cluster::aws:ec2/subnet:Subnet::cloud-subnet-$"
                ],
                "provider": "urn:pulumi:prod::cluster::pulumi:providers:aws::default::0f7c9f3e-5d25-4a52-9f3e-1c2d3e4f5a6b",
                "propertyDependencies": {
                    "ami": [],
                    "instanceType": [],
                    "subnetId": [
                        "urn:pulumi:prod::cluster::aws:ec2/subnet:Subnet::cloud-subnet-$"
                    ],
                    "vpcSecurityGroupIds": [
                        "urn:pulumi:prod::cluster::aws:ec2/securityGroup:SecurityGroup::admin-$"
                    ]
                },
                "created": "2024-05-01T10:00:00Z",
                "modified": "2024-05-01T10:00:00Z"
            }`

const openTofuHead = `{
  "version": 4,
  "terraform_version": "1.9.0",
  "serial": 42,
  "lineage": "3f1b6a52-5d25-0f7c-9f3e-1c2d3e4f5a6b",
  "outputs": {},
  "resources": [
`

const openTofu = `    {
      "mode": "managed",
      "type": "aws_vpc",
      "name": "cloud_vpc_$",
      "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
      "instances": [
        {
          "schema_version": 1,
          "attributes": {
            "arn": "arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-30629859-$",
            "cidr_block": "172.31.0.0/16",
            "enable_dns_support": true,
            "id": "vpc-30629859-$",
            "tags": {}
          },
          "sensitive_attributes": [],
          "private": "eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ=="
        }
      ]
    },
    {
      "mode": "managed",
      "type": "aws_subnet",
      "name": "cloud_subnet_$",
      "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
      "instances": [
        {
          "schema_version": 1,
          "attributes": {
            "arn": "arn:aws:ec2:eu-central-1:123456789012:subnet/subnet-925087fb-$",
            "cidr_block": "172.31.0.0/16",
            "id": "subnet-925087fb-$",
            "tags": {},
            "vpc_id": "vpc-30629859-$"
          },
          "sensitive_attributes": [],
          "private": "eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ==",
          "dependencies": [
            "aws_vpc.cloud_vpc_$"
          ]
        }
      ]
    },
    {
      "mode": "managed",
      "type": "aws_security_group",
      "name": "admin_$",
      "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
      "instances": [
        {
          "schema_version": 1,
          "attributes": {
            "arn": "arn:aws:ec2:eu-central-1:123456789012:security-group/sg-151cd67c-$",
            "description": "Enable SSH access",
            "id": "sg-151cd67c-$",
            "ingress": [
              {
                "cidr_blocks": [
                  "0.0.0.0/0"
                ],
                "description": "",
                "from_port": 22,
                "protocol": "tcp",
                "to_port": 22
              }
            ],
            "name": "SSH",
            "tags": {},
            "vpc_id": "vpc-30629859-$"
          },
          "sensitive_attributes": [],
          "private": "eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ==",
          "dependencies": [
            "aws_vpc.cloud_vpc_$"
          ]
        }
      ]
    },
    {
      "mode": "managed",
      "type": "aws_instance",
      "name": "master_$",
      "provider": "provider[\"registry.opentofu.org/hashicorp/aws\"]",
      "instances": [
        {
          "schema_version": 1,
          "attributes": {
            "ami": "ami-f6035893",
            "arn": "arn:aws:ec2:eu-central-1:123456789012:instance/i-0cd6974f17a414343-$",
            "id": "i-0cd6974f17a414343-$",
            "instance_type": "t2.micro",
            "subnet_id": "subnet-925087fb-$",
            "tags": {},
            "vpc_security_group_ids": [
              "sg-151cd67c-$"
            ]
          },
          "sensitive_attributes": [],
          "private": "eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ==",
          "dependencies": [
            "aws_security_group.admin_$",
            "aws_subnet.cloud_subnet_$",
            "aws_vpc.cloud_vpc_$"
          ]
        }
      ]
    }`
