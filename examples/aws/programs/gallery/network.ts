import * as aws from "../../pack/index.js";

/** A network whose subnets have internet access. */
export interface Network {
    vpc: aws.ec2.VPC;
    /** The subnets, one per availability zone. */
    subnets: [aws.ec2.Subnet, ...aws.ec2.Subnet[]];
}

/** Creates a network with one subnet in each of the given availability zones. */
export function createNetwork(name: string, zones: readonly [string, ...string[]]): Network {
    const vpc = new aws.ec2.VPC(name, { cidrBlock: "10.0.0.0/16", enableDNSHostnames: true });
    const internetGateway = new aws.ec2.InternetGateway(name);
    const gateway = new aws.ec2.VPCGatewayAttachment({ vpc, internetGateway });
    const routeTable = new aws.ec2.RouteTable(name, { vpc });
    new aws.ec2.Route({ routeTable, destinationCIDRBlock: aws.ec2.AnyIPv4, gateway });

    const [first, ...others] = zones;
    const createSubnet = (availabilityZone: string, i: number): aws.ec2.Subnet => {
        const subnet = new aws.ec2.Subnet(`${name}-${availabilityZone}`, {
            vpc,
            cidrBlock: `10.0.${i}.0/24`,
            availabilityZone,
            mapPublicIPOnLaunch: true,
        });
        new aws.ec2.SubnetRouteTableAssociation({ routeTable, subnet });
        return subnet;
    };
    return { vpc, subnets: [createSubnet(first, 0), ...others.map((zone, i) => createSubnet(zone, i + 1))] };
}
