// A picture gallery: a bucket stores uploads, a function creates thumbnails, a table indexes them, and a web server shows
// them. The program only describes the resources; an engine creates them.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";
import { type Network, createNetwork } from "./network.js";
import { trust } from "./policies.js";

aws.configure({
    region: aws.Region.USWest2,
    defaultTags: { project: "gallery" },
});

const network = createNetwork("gallery", ["us-west-2a", "us-west-2b"]);
const server = createServer(network);
const pictures = createPictures();
createAlarms();

function createServer({ vpc, subnets }: Network): aws.ec2.Instance {
    const firewall = new aws.ec2.SecurityGroup("web", {
        groupDescription: "Lets the world see the gallery",
        vpc,
        securityGroupIngress: [
            { ipProtocol: "tcp", fromPort: 80, toPort: 80, cidrip: aws.ec2.AnyIPv4 },
            { ipProtocol: "tcp", fromPort: 443, toPort: 443, cidrip: aws.ec2.AnyIPv4 },
        ],
    });
    const role = new aws.iam.Role("web", { assumeRolePolicyDocument: trust("ec2.amazonaws.com") });
    const image = aws.ec2.findImage({ owner: "amazon", name: "al2023-ami-2023.*" });
    const server = new aws.ec2.Instance("web", {
        imageID: image.imageID,
        instanceType: aws.ec2.InstanceType.T3Small,
        subnet: subnets[0],
        securityGroups: [firewall],
        iamInstanceProfile: new aws.ec2.InstanceProfile("web", { roles: [role] }),
        blockDeviceMappings: [{ deviceName: "/dev/sdh", ebs: { volumeSize: 100, volumeType: "gp3", encrypted: true } }],
        userData: "#!/bin/sh\nexec /opt/gallery/serve\n",
    });
    new aws.ec2.ElasticIP("web", { instance: server });
    return server;
}

function createPictures(): aws.s3.Bucket {
    const failed = new aws.sqs.Queue("failed", { messageRetentionPeriod: aws.sqs.MaxRetention });
    const table = new aws.dynamodb.Table("pictures", {
        attributes: { owner: aws.dynamodb.AttributeType.String, taken: "N" },
        key: { hash: "owner", range: "taken" },
        billingMode: "PAY_PER_REQUEST",
    });
    const role = new aws.iam.Role("thumbnails", {
        assumeRolePolicyDocument: trust("lambda.amazonaws.com"),
        inlinePolicies: {
            list: {
                Statement: [{ Effect: "Allow", Action: ["dynamodb:PutItem"], Resource: [table.arn] }],
            },
        },
    });
    const thumbnails = new aws.lambda.Function("thumbnails", {
        code: lumi.Archive.fromAssets({
            "index.js": lumi.Asset.fromText("export async function handler() {}\n"),
            "node_modules": lumi.Archive.fromFile("./node_modules"),
        }),
        handler: "index.handler",
        runtime: aws.lambda.Runtime.NodeJS22,
        role,
        memorySize: aws.lambda.MaxMemorySize / 10,
        environment: { variables: { TABLE: table.arn } },
        deadLetterTarget: failed,
    });
    const bucket = new aws.s3.Bucket("pictures", {
        name: lumi.uniqueName("pictures"),
        accessControl: aws.s3.CannedACL.Private,
        lifecycleRules: [
            {
                enabled: true,
                filter: { prefix: "raw/", not: { tags: { keep: "always" } } },
                transitions: { STANDARD_IA: 30, GLACIER: 365 },
            },
        ],
        notifications: [{ events: ["s3:ObjectCreated:*"], target: thumbnails, suffix: ".jpg" }],
    });
    new aws.lambda.Permission({
        function: thumbnails,
        action: "lambda:InvokeFunction",
        principal: "s3.amazonaws.com",
        sourceARN: bucket.arn,
    });
    new aws.s3.BucketObject({
        bucket,
        key: "robots.txt",
        source: lumi.Asset.fromText("User-agent: *\nDisallow: /raw/\n"),
        contentType: "text/plain",
    });
    return bucket;
}

function createAlarms(): void {
    const operators = new aws.sns.Topic("operators");
    new aws.sns.Subscription({ topic: operators, protocol: "email", endpoint: "operators@example.com" });
    new aws.cloudwatch.Alarm("busy", {
        namespace: "AWS/EC2",
        metricName: "CPUUtilization",
        dimensions: { InstanceId: server.instanceID },
        statistic: "Average",
        period: 300,
        evaluationPeriods: 3,
        comparisonOperator: "GreaterThanThreshold",
        threshold: 80,
        alarmActions: [operators],
    });
}

// Programs can assign to properties that can be updated in place.
pictures.versioning = "Enabled";

const { type, name, properties } = lumi.evaluate(pictures);
console.log(`${type} ${name} is given ${Object.keys(properties).join(", ")}`);
