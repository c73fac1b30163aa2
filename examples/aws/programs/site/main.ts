// Websites as components. Two have a public bucket and a function that counts visits. docs/programs.md explains the
// program, and graph.json contains its output.

import * as lumi from "@lumi/lumi";
import * as aws from "../../pack/index.js";

declare const process: { env: { [name: string]: string | undefined } };

aws.configure({ region: aws.Region.USWest2 });

const role = new aws.iam.Role("counter", {
    assumeRolePolicyDocument: {
        Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: ["sts:AssumeRole"] }],
    },
});

function createSite(name: string, options: lumi.ResourceOptions = {}): aws.s3.Bucket {
    return lumi.component(name, () => {
        const pages = new aws.s3.Bucket(`example-${name}`, { website: { indexDocument: "index.html" } }, options);

        new aws.s3.BucketPolicy({
            bucket: pages,
            policyDocument: {
                Statement: [
                    {
                        Effect: "Allow",
                        Principal: "*",
                        Action: ["s3:GetObject"],
                        Resource: [lumi.interpolate`${pages.arn}/*`],
                    },
                ],
            },
        });

        new aws.lambda.Function(`count-${name}`, {
            code: lumi.Archive.fromFile("./counter"),
            handler: "index.handler",
            runtime: aws.lambda.Runtime.NodeJS22,
            role,
            environment: {
                variables: {
                    SITE: lumi.jsonStringify({ arn: pages.arn, index: lumi.get(pages.website, "indexDocument") }),
                    TOKEN: lumi.secret(process.env["COUNTER_TOKEN"] ?? "none"),
                },
            },
        });
        return pages;
    });
}

createSite("blog");
const shop = createSite("shop", { protect: true, aliases: ["example-store"] });

new aws.s3.BucketObject(
    { bucket: shop, key: "index.html", source: lumi.Asset.fromText("<!doctype html>\n<title>Shop</title>\n") },
    { ignoreChanges: ["source"], timeouts: { create: "90s" }, dependsOn: [role] },
);

class Site {
    readonly pages: aws.s3.Bucket;

    constructor(name: string) {
        this.pages = lumi.component(name, () => new aws.s3.Bucket(`example-${name}`));
    }
}

new Site("wiki");
