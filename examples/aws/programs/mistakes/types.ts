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
// @ts-expect-error: an argument is misspelt
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

export { address, gateway };
