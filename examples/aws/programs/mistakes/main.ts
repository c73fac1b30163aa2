// Every mistake that a constructor finds. Most of them are behind an "any", as if they had come out of a file: without
// it, the compiler would find them first. See types.ts for those.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

const vpc = new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16" });
const queue = new aws.sqs.Queue("jobs");

/** Prints what is wrong with what a function does. */
function mistake(what: string, make: () => unknown): void {
    try {
        make();
    } catch (error) {
        console.log(`${what}:\n  ${String(error).replaceAll("\n", "\n  ")}`);
        return;
    }
    throw new Error(`nothing is wrong with this: ${what}`);
}

/** Makes a security group whose arguments are right but for some. */
function group(args: object): aws.ec2.SecurityGroup {
    const right = { groupDescription: "Web servers", vpc };
    return new aws.ec2.SecurityGroup("web", { ...right, ...args } as any);
}

mistake("a required argument is missing", () => group({ groupDescription: undefined }));
mistake("an argument is of another kind", () => group({ groupDescription: 1 }));
mistake("an argument is misspelled", () => group({ securityGroupIngres: [] }));
mistake("an argument is deep inside and wrong", () =>
    group({ securityGroupIngress: [{ ipProtocol: "tcp" }, { ipProtocol: "tcp", fromPort: "443" }] }),
);
mistake("an argument is the provider's to set", () => group({ groupID: "sg-1" }));
mistake("a resource of another type is referred to", () => group({ vpc: queue }));
mistake("an id stands where a resource is referred to", () => group({ vpc: "vpc-0abc" }));
mistake("several things are wrong", () => group({ groupDescription: null, vpc: [], color: "red" }));
mistake("a resource stands where the arguments belong", () => new aws.ec2.SecurityGroup("web", vpc as any));
mistake("the name is missing", () => new aws.ec2.VPC(undefined as any, { cidrBlock: "10.0.0.0/16" }));
mistake("an enum has no such value", () => {
    new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", instanceTenancy: "dedicate" as any });
});
mistake("the key of a map is none of the enum", () => {
    const lifecycleRules: any = [{ enabled: true, transitions: { GLACIR: 30 } }];
    new aws.s3.Bucket("logs", { lifecycleRules });
});
mistake("a text stands where an archive belongs", () => {
    const args: any = { code: "exports.handler = …", handler: "index.handler", runtime: "nodejs22.x" };
    new aws.lambda.Function("resize", args);
});
mistake("an output is made a part of a text", () => new aws.sns.Topic("news", { displayName: `From ${queue.arn}` }));
mistake("a property is given something wrong later on", () => {
    const alarms = new aws.sns.Topic("alarms");
    (alarms as any).displayName = 7;
    lumi.evaluate(alarms);
});
mistake("a property is changed that cannot change", () => {
    (vpc as any).cidrBlock = "10.1.0.0/16";
});
mistake("a secret is wrong, which the message does not tell", () => {
    new aws.iam.User("ann", { password: 123456 as any });
});
