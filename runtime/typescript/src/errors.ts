import { title } from "./state.js";

/** An error in the arguments of a resource or a provider's configuration. */
export interface Fault {
    /**
     * The path of the argument, such as `securityGroupIngress[2].fromPort`. It is empty for the arguments as a whole.
     */
    readonly path: string;
    /** The error message. */
    readonly message: string;
}

/** An error that lists all invalid arguments. */
export class ArgumentError extends TypeError {
    /** The type token of the resource, the package being configured, or the function called. */
    readonly type: string;
    /** The name of the resource, if it has one. */
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
