// The interface between constructors and the current evaluation. The recorder is stored in a place shared by all
// copies of this package: a program may have several, and its resources need not come from the copy that evaluates it.

import type { Position } from "./position.js";
import { title } from "./state.js";
import type { TypeForm } from "./typeform.js";

const place = Symbol.for("@lumi/lumi/recorder");

/** The version of this interface, incremented on incompatible changes. */
export const protocol = 3;

/** Returns the reference object for a resource, or for the value of one of its properties, in a graph. */
export type Refer = (resource: object, property?: string) => object;

/** A constructed resource. */
export interface Construction {
    readonly resource: object;
    /** The type token, such as `aws:ec2:VPC`. */
    readonly type: string;
    /** The name given by the program, if programs name resources of its type. */
    readonly name?: string;
    /** The prefix of its name in the URN: the enclosing components, each with a slash. */
    readonly prefix: string;
    /** The position at which the program constructed it, if known. */
    readonly position: Position | undefined;
    /** Former type tokens of its type. */
    readonly formerTypes?: readonly string[];
    /** Returns the options in graph form, if there are any. */
    readonly options?: (refer: Refer) => object | undefined;
    /** Returns the properties in wire form. Throws an `ArgumentError` if some have become invalid. */
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

/** A value that a program provides to other modules. */
export interface Provided {
    readonly name: string;
    readonly type: TypeForm;
    readonly position: Position | undefined;
    /** Returns the value in wire form. */
    readonly value: (refer: Refer) => unknown;
}

/** A value of another module that a program uses. */
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
 * Returns the current recorder, or `undefined` if there was none. Throws if the evaluation has ended: the error names
 * what came too late, and its stack starts at the call of callee.
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

/** Makes an error's stack start at the call of a function. */
export function blame<T extends object>(error: T, callee: Function): T {
    // Only V8 has this.
    (Error as { captureStackTrace?: (target: object, callee: Function) => void }).captureStackTrace?.(error, callee);
    return error;
}
