// What constructors tell the evaluation at hand. The recorder stands in a place that all copies of this package share:
// a program may have more than one copy, and the one that evaluates it need not be the one that a resource comes from.

import type { Position } from "./position.js";
import { title } from "./state.js";
import type { TypeForm } from "./typeform.js";

const place = Symbol.for("@lumi/lumi/recorder");

/** Goes up when recorders of one version can no longer be told what those of another are. */
export const protocol = 3;

/** Makes the object that stands for a resource, or for the value of one of its properties, in a graph. */
export type Refer = (resource: object, property?: string) => object;

/** A resource that was constructed. */
export interface Construction {
    readonly resource: object;
    /** The type token, such as `aws:ec2:VPC`. */
    readonly type: string;
    /** The name that the program gave the resource, where the program names resources of its type. */
    readonly name?: string;
    /** What its name in the URN begins with: the components that it was constructed in, each with a slash. */
    readonly prefix: string;
    /** Where the program constructed it, if that is known. */
    readonly position: Position | undefined;
    /** The type tokens that its type had before. */
    readonly formerTypes?: readonly string[];
    /** Returns the options as they are in graphs, if there are any. */
    readonly options?: (refer: Refer) => object | undefined;
    /** Returns the properties as they are on the wire. Throws an `ArgumentError` if some are wrong by now. */
    readonly properties: (refer: Refer) => object;
}

/** What a package's provider was configured with. */
export interface Configured {
    /** The name of the package. */
    readonly package: string;
    readonly position: Position | undefined;
    /** Returns the properties as they are on the wire. */
    readonly properties: (refer: Refer) => object;
}

/** What a program provides to other modules. */
export interface Provided {
    readonly name: string;
    readonly type: TypeForm;
    readonly position: Position | undefined;
    /** Returns the value as it is on the wire. */
    readonly value: (refer: Refer) => unknown;
}

/** What a program uses of another module. */
export interface Used {
    /** What stands for the module where an output is turned into a reference. */
    readonly vertex: object;
    /** The package of the module. */
    readonly module: string;
    readonly name: string;
    readonly type: TypeForm;
    /** A predicate over the value, in CEL. */
    readonly where?: string;
    readonly position: Position | undefined;
}

/** What evaluates a program. */
export interface Recorder {
    readonly protocol: number;
    /** Whether it is too late for more. */
    readonly ended: boolean;
    construct(construction: Construction): void;
    configure(configured: Configured): void;
    provide(provided: Provided): void;
    use(used: Used): void;
}

/**
 * Returns the recorder of the evaluation at hand, and `undefined` if there was none. Throws if the evaluation has
 * ended: the error names what was made too late, and its stack begins where callee was called.
 */
export function recorder(callee: Function, type: string, name?: unknown): Recorder | undefined {
    const found = (globalThis as { [place]?: Recorder })[place];
    if (found === undefined) {
        return undefined;
    }
    if (found.protocol !== protocol) {
        const other = new Error(
            `${title(type, name)}: this copy of @lumi/lumi has another version than the one that evaluates the ` +
                'program; "npm ls @lumi/lumi" lists the versions',
        );
        throw blame(other, callee);
    }
    if (found.ended) {
        const late = new Error(`${title(type, name)}: the evaluation of the program has already ended`);
        throw blame(late, callee);
    }
    return found;
}

/** Makes a recorder the one of the evaluation at hand. */
export function setRecorder(value: Recorder): void {
    Object.defineProperty(globalThis, place, { value, configurable: true });
}

/** Makes the stack of an error begin where a function was called. */
export function blame<T extends object>(error: T, callee: Function): T {
    // Only V8 has this.
    (Error as { captureStackTrace?: (target: object, callee: Function) => void }).captureStackTrace?.(error, callee);
    return error;
}
