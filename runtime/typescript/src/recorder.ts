// The interface between constructors and the current evaluation. The recorder is a global object, since a program may
// load several copies of this package, and its resources need not belong to the copy that evaluates it.

import type { Position } from "./position.js";
import { title } from "./state.js";
import type { TypeForm } from "./typeform.js";

const place = Symbol.for("@lumi/lumi/recorder");

/** The version of this interface. It is incremented for incompatible changes. */
export const protocol = 3;

/** A function that returns the reference in a graph to a resource, or to the value of one of its properties. */
export type Refer = (resource: object, property?: string) => object;

/** A constructed resource. */
export interface Construction {
    readonly resource: object;
    /** The type token, such as `aws:ec2:VPC`. */
    readonly type: string;
    /** The name given by the program, if programs name resources of its type. */
    readonly name?: string;
    /** The prefix of the name in the URN: the names of the enclosing components, each followed by a slash. */
    readonly prefix: string;
    /** The position of the constructor call, if known. */
    readonly position: Position | undefined;
    /** Former tokens of the type. */
    readonly formerTypes?: readonly string[];
    /** Returns the options in graph form, if there are any. */
    readonly options?: (refer: Refer) => object | undefined;
    /** Returns the properties in wire form. Throws an `ArgumentError` if the program has assigned invalid ones. */
    readonly properties: (refer: Refer) => object;
}

/** The configuration of a package's provider. */
export interface Configured {
    /** The name of the package. */
    readonly package: string;
    readonly position: Position | undefined;
    /** Returns the properties in wire form. */
    readonly properties: (refer: Refer) => object;
}

/** A value provided to other modules by a program. */
export interface Provided {
    readonly name: string;
    readonly type: TypeForm;
    readonly position: Position | undefined;
    /** Returns the value in wire form. */
    readonly value: (refer: Refer) => unknown;
}

/** A value of another module used by a program. */
export interface Used {
    /** The object that represents the module in references. */
    readonly vertex: object;
    /** The package of the module. */
    readonly module: string;
    readonly name: string;
    readonly type: TypeForm;
    /** A CEL predicate over the value. */
    readonly where?: string;
    readonly position: Position | undefined;
}

/** An evaluation of a program. */
export interface Recorder {
    readonly protocol: number;
    /** Whether the evaluation has ended. */
    readonly ended: boolean;
    construct(construction: Construction): void;
    configure(configured: Configured): void;
    provide(provided: Provided): void;
    use(used: Used): void;
}

/**
 * Returns the current recorder, or `undefined` if there is none. Throws an `Error` if its evaluation has ended, or if
 * it belongs to another version of this package. The error names the type and name, and its stack starts at the call of
 * `callee`.
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

/** Sets the current recorder. */
export function setRecorder(value: Recorder): void {
    Object.defineProperty(globalThis, place, { value, configurable: true });
}

/** Sets the stack of an error to start at the call of a function, and returns the error. */
export function blame<T extends object>(error: T, callee: Function): T {
    // Only V8 supports captureStackTrace.
    (Error as { captureStackTrace?: (target: object, callee: Function) => void }).captureStackTrace?.(error, callee);
    return error;
}
