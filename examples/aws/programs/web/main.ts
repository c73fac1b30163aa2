// The base of a website: a network with subnets in two zones, a firewall, and a bucket with the first page.
// docs/programs.md explains the program, and graph.json contains its output.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

aws.configure({ region: aws.Region.USWest2 });

const vpc = new aws.ec2.VPC("web", { cidrBlock: "10.0.0.0/16", enableDNSHostnames: true });

for (const [i, zone] of ["a", "b"].entries()) {
    new aws.ec2.Subnet(`web-${zone}`, {
        vpc,
        cidrBlock: `10.0.${i}.0/24`,
        availabilityZone: `us-west-2${zone}`,
        mapPublicIPOnLaunch: true,
    });
}

const firewall = new aws.ec2.SecurityGroup("web", {
    groupDescription: "Lets the world see the site",
    vpc,
    securityGroupIngress: [80, 443].map((port) => ({
        ipProtocol: "tcp",
        fromPort: port,
        toPort: port,
        cidrip: aws.ec2.AnyIPv4,
    })),
    securityGroupEgress: [{ ipProtocol: "-1", cidrip: aws.ec2.AnyIPv4 }],
});

// The group's id is unknown until the group is created, so the program passes it as an output.
const pages = new aws.s3.Bucket("lumi-example-pages", { tags: { firewall: firewall.groupID } });

new aws.s3.BucketObject({
    bucket: pages,
    key: "index.html",
    source: lumi.Asset.fromText("<!doctype html>\n<title>It works</title>\n"),
    contentType: "text/html",
});
