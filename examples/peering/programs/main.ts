// Two networks of the AWS example, connected.

import * as aws from "aws";
import * as peering from "../pack/index.js";

const requester = new aws.ec2.VPC("shop", { cidrBlock: "10.0.0.0/16" });
const accepter = new aws.ec2.VPC("data", { cidrBlock: "10.1.0.0/16" });

new peering.Connection("shop-data", { requester, accepter, autoAccept: true });

// @ts-expect-error: only VPCs can be connected
export const wrong = (vpc: aws.ec2.Subnet) => new peering.Connection("wrong", { requester, accepter: vpc });
