// Workers whose number depends on the environment. docs/programs.md explains the program, and graph.json contains its
// output.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

const config = lumi.config({
    replicas: lumi.number,
    region: lumi.enum(() => aws.Region),
    note: lumi.optional(lumi.string),
    password: lumi.required(lumi.string, lumi.secretProperty),
});

aws.configure({ region: config.region });

const role = new aws.iam.Role("worker", {
    assumeRolePolicyDocument: {
        Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: ["sts:AssumeRole"] }],
    },
});

const count = lumi.environment === "prod" ? config.replicas : 1;
for (let i = 0; i < count; i++) {
    new aws.lambda.Function(`worker-${i}`, {
        code: lumi.Archive.fromFile("./worker"),
        handler: "index.handler",
        runtime: aws.lambda.Runtime.NodeJS22,
        role,
        environment: { variables: { NOTE: config.note ?? lumi.moduleName, PASSWORD: config.password } },
    });
}
