import { title } from "./state.js";

/** One thing that is wrong with the arguments of a resource or of a provider. */
export interface Fault {
    /** Where, such as `securityGroupIngress[2].fromPort`. It is empty where all arguments are meant. */
    readonly path: string;
    /** What is wrong there. */
    readonly message: string;
}

/** Thrown where arguments are wrong. It has all that is wrong with them. */
export class ArgumentError extends TypeError {
    /** The type token of the resource, or the package that was to be configured, or the function that was called. */
    readonly type: string;
    /** The name of the resource, where it has one. */
    readonly resource: string | undefined;
    readonly faults: readonly Fault[];

    constructor(type: string, resource: unknown, faults: readonly Fault[]) {
        const lines = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
        const [only] = lines;
        super(
            lines.length === 1
                ? `${title(type, resource)}: ${only}`
                : `${title(type, resource)}: ${lines.length} arguments are wrong\n  ${lines.join("\n  ")}`,
        );
        this.name = "ArgumentError";
        this.type = type;
        this.resource = typeof resource === "string" ? resource : undefined;
        this.faults = faults;
    }
}
