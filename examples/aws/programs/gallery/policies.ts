import type * as aws from "../../pack/index.js";

/** Returns a policy that allows an AWS service to assume a role. */
export function trust(service: string): aws.iam.PolicyDocument {
    return {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Principal: { Service: service }, Action: ["sts:AssumeRole"] }],
    };
}
