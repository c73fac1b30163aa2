// Every mistake detected by constructors at run time. Most arguments are cast to "any", as if parsed from a file, since the
// compiler would reject them otherwise. See types.ts for mistakes detected by the compiler.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

const vpc = new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16" });
const queue = new aws.sqs.Queue("jobs");

/** Prints the error thrown by a function. */
function mistake(what: string, make: () => unknown): void {
    try {
        make();
    } catch (error) {
        console.log(`${what}:\n  ${String(error).replaceAll("\n", "\n  ")}`);
        return;
    }
    throw new Error(`expected an error: ${what}`);
}

/** Creates a security group. The given arguments override valid ones. */
function group(args: object): aws.ec2.SecurityGroup {
    const right = { groupDescription: "Web servers", vpc };
    return new aws.ec2.SecurityGroup("web", { ...right, ...args } as any);
}

mistake("a required argument is missing", () => group({ groupDescription: undefined }));
mistake("an argument has the wrong type", () => group({ groupDescription: 1 }));
mistake("an argument is misspelled", () => group({ securityGroupIngres: [] }));
mistake("a nested argument is wrong", () =>
    group({ securityGroupIngress: [{ ipProtocol: "-1" }, { ipProtocol: "tcp", fromPort: "443", toPort: 443 }] }),
);
mistake("nested arguments break a rule", () =>
    group({ securityGroupIngress: [{ ipProtocol: "udp", fromPort: 53 }, { ipProtocol: "tcp", fromPort: 443, toPort: 80 }] }),
);
mistake("an output property is passed as an argument", () => group({ groupID: "sg-1" }));
mistake("a reference has the wrong resource type", () => group({ vpc: queue }));
mistake("an id is passed for a resource reference", () => group({ vpc: "vpc-0abc" }));
mistake("several arguments are wrong", () => group({ groupDescription: null, vpc: [], color: "red" }));
mistake("a resource is passed for the arguments", () => new aws.ec2.SecurityGroup("web", vpc as any));
mistake("the name is missing", () => new aws.ec2.VPC(undefined as any, { cidrBlock: "10.0.0.0/16" }));
mistake("an enum has no such value", () => {
    new aws.ec2.VPC("main", { cidrBlock: "10.0.0.0/16", instanceTenancy: "dedicate" as any });
});
mistake("a map key is not a value of its enum", () => {
    const lifecycleRules: any = [{ enabled: true, transitions: { GLACIR: 30 } }];
    new aws.s3.Bucket("logs", { lifecycleRules });
});
mistake("a string does not match its pattern", () => {
    new aws.s3.Bucket("old", { website: { redirectAllRequestsTo: "https://example.com" } });
});
mistake("a name does not match the pattern of its type", () => new aws.s3.Bucket("Logs of 2026"));
mistake("a unique name is not passed as the name", () => new aws.sns.Topic("news", { displayName: lumi.uniqueName("news") }));
mistake("a string is passed for an archive", () => {
    const args: any = { code: "exports.handler = …", handler: "index.handler", runtime: "nodejs22.x" };
    new aws.lambda.Function("resize", args);
});
mistake("an output is interpolated into a string", () => new aws.sns.Topic("news", { displayName: `From ${queue.arn}` }));
mistake("a property is later assigned a wrong value", () => {
    const alarms = new aws.sns.Topic("alarms");
    (alarms as any).displayName = 7;
    lumi.evaluate(alarms);
});
mistake("a read-only property is changed", () => {
    (vpc as any).cidrBlock = "10.1.0.0/16";
});
mistake("a secret is wrong, and the message does not print it", () => {
    new aws.iam.User("ann", { password: 123456 as any });
});
