// Every mistake that the TypeScript compiler finds. Each line below a "@ts-expect-error" is one: the compiler complains
// if it finds nothing wrong there. Nobody runs this file.

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
// @ts-expect-error: an argument is of another kind
new aws.ec2.VPC("main", { cidrBlock: 10 });
// @ts-expect-error: an argument is misspelled
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", enableDnsSupport: true });
// @ts-expect-error: the provider sets this
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", defaultSecurityGroup: undefined });
// @ts-expect-error: an enum has no such value
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", instanceTenancy: "shared" });
// @ts-expect-error: a resource of another type is referred to
new aws.ec2.Subnet("main", { vpc: queue, cidrBlock: "10.0.0.0/24" });
// @ts-expect-error: resources without a name take arguments only
new aws.ec2.VPCGatewayAttachment("main", { vpc, internetGateway: new aws.ec2.InternetGateway("main") });
// @ts-expect-error: types that agree in all properties are still two types
const gateway: aws.ec2.InternetGateway = new aws.ec2.RouteTable("main", { vpc });
// @ts-expect-error: a change would need another resource
vpc.cidrBlock = "10.1.0.0/16";
// @ts-expect-error: the provider sets this
queue.url = queue.url;
// @ts-expect-error: an output is not its value
const address: string = queue.url;
// @ts-expect-error: an output of a text is no output of a number
new aws.sqs.Queue("more", { delaySeconds: queue.url });
// @ts-expect-error: a text is no asset
new aws.s3.Object({ bucket: new aws.s3.Bucket("site"), key: "index.html", source: "<html></html>" });
// @ts-expect-error: an archive is no asset
new aws.s3.Object({ bucket: new aws.s3.Bucket("site"), key: "all", source: lumi.Archive.fromFile("site") });
// @ts-expect-error: only some values are keys of this map
new aws.s3.Bucket("site", { lifecycleRules: [{ enabled: true, transitions: { FLOPPY: 1 } }] });

const network = lumi.module("network");

// @ts-expect-error: what another module provides is of another type
new aws.sqs.Queue("more", { delaySeconds: network.use("zone", lumi.string) });
// @ts-expect-error: a resource of another type is used
new aws.ec2.Subnet("main", { vpc: network.use("vpc", lumi.resource<aws.sqs.Queue>("aws:sqs:Queue")), cidrBlock: "10.0.0.0/24" });
// @ts-expect-error: the token is that of another class
network.use("vpc", lumi.resource<aws.ec2.VPC>("aws:sqs:Queue"));
// @ts-expect-error: elements are of another type
new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", tags: network.use("tags", lumi.map(lumi.number)) });
// @ts-expect-error: a property is misspelled
new aws.ec2.VPC("main", { cidrBlock: lumi.get(network.use("link", lumi.struct(() => ({ host: lumi.required(lumi.string) }))), "hots") });
// @ts-expect-error: there is no such option
network.use("zone", lumi.string, { were: "true" });
// @ts-expect-error: a value is provided as another type
lumi.provide("url", queue.url, lumi.number);
// @ts-expect-error: a resource is provided as another type
lumi.provide("vpc", vpc, lumi.resource("aws:sqs:Queue"));
// @ts-expect-error: an element is of another type
lumi.provide("ports", [443, "80"], lumi.list(lumi.number));
// @ts-expect-error: a property is missing
lumi.provide("endpoint", { port: 443 }, lumi.struct(() => ({ host: lumi.required(lumi.string), port: lumi.optional(lumi.number) })));
// @ts-expect-error: there is no such property
lumi.provide("endpoint", { host: "h", prt: 443 }, lumi.struct(() => ({ host: lumi.required(lumi.string) })));
// @ts-expect-error: an enum has no such value
lumi.provide("level", "lo", lumi.enum(() => ({ Low: "low" })));
// @ts-expect-error: what a function takes is of another type
lumi.provide("resize", network.use("resize", lumi.verb(lumi.number, lumi.any)), lumi.verb(lumi.string, lumi.any));

export { address, gateway };
