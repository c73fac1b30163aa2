// A service in the network of another module. It exports the values that its clients need. docs/programs.md explains the
// program, and graph.json contains its output.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

const network = lumi.module("network");
const zone = network.use("zone", lumi.string, { where: "value.startsWith('us-west-2')" });
const vpc = network.use("vpc", lumi.resource<aws.ec2.VPC>("aws:ec2:VPC"));

const subnet = new aws.ec2.Subnet("service", { vpc, cidrBlock: "10.0.8.0/24", availabilityZone: zone });

lumi.provide("subnet", subnet, lumi.resource("aws:ec2:Subnet"));

const endpoint = lumi.struct(() => ({
    host: lumi.required(lumi.string),
    port: lumi.optional(lumi.number),
    tags: lumi.optional(lumi.map(lumi.string)),
}));

lumi.provide("endpoint", { host: lumi.interpolate`service.${zone}.example.com`, port: 443 }, endpoint);

const role = new aws.iam.Role("resize", {
    assumeRolePolicyDocument: {
        Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: ["sts:AssumeRole"] }],
    },
});

const size = lumi.struct(() => ({ width: lumi.required(lumi.number), height: lumi.required(lumi.number) }));
const resize = lumi.verb(size, lumi.string);

const resizer = new aws.lambda.Function("resize", {
    code: lumi.Archive.fromFile("./resize"),
    handler: "index.handler",
    runtime: aws.lambda.Runtime.NodeJS22,
    role,
    environment: { variables: { STORE: lumi.module("store").use("put", lumi.verb(lumi.any, lumi.boolean)) } },
});

lumi.provide("resize", resizer.arn, resize);
lumi.provide("token", lumi.secret("not a real one"), lumi.string);

const rules = network.use("rules", lumi.list(lumi.struct<aws.ec2.SecurityGroupRule>(() => aws.ec2.SecurityGroupRule)));

new aws.ec2.SecurityGroup("service", { groupDescription: "As the network has it", vpc, securityGroupIngress: rules });
