// Every mistake detected by the TypeScript compiler. Each one follows a "@ts-expect-error" comment, which is an error if
// the next line has none. This file is compiled but never run.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

const vpc = new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16" });
const queue = new aws.sqs.Queue("jobs");

// @ts-expect-error: a required argument is missing
new aws.ec2.VPC("main", {});
// @ts-expect-error: all arguments are missing, and one of them is required
new aws.ec2.VPC("main");
// @ts-expect-error: the name is missing
new aws.ec2.VPC({ cidrBlock: "10.0.0.0/16" });
// @ts-expect-error: an argument has the wrong type
new aws.ec2.VPC("main", { cidrBlock: 10 });
// @ts-expect-error: an argument is misspelled
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", enableDnsSupport: true });
// @ts-expect-error: the property is an output
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", defaultSecurityGroup: undefined });
// @ts-expect-error: an enum has no such value
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", instanceTenancy: "shared" });
// @ts-expect-error: a reference has the wrong resource type
new aws.ec2.Subnet("main", { vpc: queue, cidrBlock: "10.0.0.0/24" });
// @ts-expect-error: resources without a name take arguments only
new aws.ec2.VPCGatewayAttachment("main", { vpc, internetGateway: new aws.ec2.InternetGateway("main") });
// @ts-expect-error: types with equal properties are distinct
const gateway: aws.ec2.InternetGateway = new aws.ec2.RouteTable("main", { vpc });
// @ts-expect-error: the property cannot change in place
vpc.cidrBlock = "10.1.0.0/16";
// @ts-expect-error: the property is an output
queue.url = queue.url;
// @ts-expect-error: an output is not its value
const address: string = queue.url;
// @ts-expect-error: an output of a string is not an output of a number
new aws.sqs.Queue("more", { delaySeconds: queue.url });
// @ts-expect-error: a string is not an asset
new aws.s3.BucketObject({ bucket: new aws.s3.Bucket("site"), key: "index.html", source: "<html></html>" });
// @ts-expect-error: an archive is not an asset
new aws.s3.BucketObject({ bucket: new aws.s3.Bucket("site"), key: "all", source: lumi.Archive.fromFile("site") });
// @ts-expect-error: a name is an output unless the program gives a string
export const name: string = new aws.s3.Bucket("site").name;
// @ts-expect-error: the map accepts only some keys
new aws.s3.Bucket("site", { lifecycleRules: [{ enabled: true, transitions: { FLOPPY: 1 } }] });

const network = lumi.module("network");

// @ts-expect-error: the other module provides another type
new aws.sqs.Queue("more", { delaySeconds: network.use("zone", lumi.string) });
// @ts-expect-error: a resource of another type is used
new aws.ec2.Subnet("main", { vpc: network.use("vpc", lumi.resource<aws.sqs.Queue>("aws:sqs:Queue")), cidrBlock: "10.0.0.0/24" });
// @ts-expect-error: the token belongs to another class
network.use("vpc", lumi.resource<aws.ec2.VPC>("aws:sqs:Queue"));
// @ts-expect-error: the elements have the wrong type
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", tags: network.use("tags", lumi.map(lumi.number)) });
// @ts-expect-error: a property is misspelled
new aws.ec2.VPC("main", { cidrBlock: lumi.get(network.use("link", lumi.struct(() => ({ host: lumi.required(lumi.string) }))), "hots") });
// @ts-expect-error: the option does not exist
network.use("zone", lumi.string, { were: "true" });
// @ts-expect-error: a value is provided as another type
lumi.provide("url", queue.url, lumi.number);
// @ts-expect-error: a resource is provided as another type
lumi.provide("vpc", vpc, lumi.resource("aws:sqs:Queue"));
// @ts-expect-error: an element has the wrong type
lumi.provide("ports", [443, "80"], lumi.list(lumi.number));
// @ts-expect-error: a property is missing
lumi.provide("endpoint", { port: 443 }, lumi.struct(() => ({ host: lumi.required(lumi.string), port: lumi.optional(lumi.number) })));
// @ts-expect-error: the property does not exist
lumi.provide("endpoint", { host: "h", prt: 443 }, lumi.struct(() => ({ host: lumi.required(lumi.string) })));
// @ts-expect-error: an enum has no such value
lumi.provide("level", "lo", lumi.enum(() => ({ Low: "low" })));
// @ts-expect-error: the function takes another type
lumi.provide("resize", network.use("resize", lumi.verb(lumi.number, lumi.any)), lumi.verb(lumi.string, lumi.any));

export { address, gateway };
