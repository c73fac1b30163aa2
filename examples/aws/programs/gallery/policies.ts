import type { PolicyDocument } from "../../pack/iam/policy.js";

/** A policy that lets one of Amazon's services assume a role. */
export function trust(service: string): PolicyDocument {
    return {
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Principal: { Service: service }, Action: ["sts:AssumeRole"] }],
    };
}
