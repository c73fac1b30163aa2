// The interface between constructors and the current evaluation. The recorder is a global object, since a program may
// load several copies of this package, and its resources need not belong to the copy that evaluates it.

import type { Position } from "./position.js";
import type { Names } from "./names.js";
import { title } from "./state.js";
import type { TypeForm } from "./typeform.js";

const place = Symbol.for("@lumi/lumi/recorder");
const watching = Symbol.for("@lumi/lumi/watchers");

/** The version of this interface. It is incremented for incompatible changes. */
export const protocol = 4;

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

/** A configuration value for a program, with its position if it is from a file. */
export interface Setting extends Partial<Position> {
    readonly key: string;
    readonly value: unknown;
    /** Whether the value is for this program alone, which must then declare it. */
    readonly own?: boolean;
    readonly secret?: boolean;
    /** The positions of nested values. A path lists keys and indexes, outermost first. */
    readonly places?: readonly { readonly path: readonly (string | number)[]; readonly line: number; readonly column: number }[];
}

/** An evaluation of a program. */
export interface Recorder {
    readonly protocol: number;
    /** Whether the evaluation has ended. */
    readonly ended: boolean;
    readonly names: Names;
    /** The configuration of the program, or `undefined` if it is not known. */
    readonly settings: readonly Setting[] | undefined;
    /** The declared configuration in wire form, in which unset values are null. `undefined` until it is declared. */
    declared: object | undefined;
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

export const noProgram = "no program is being evaluated; run the program with lumi-program or evaluateProgram";

/** Returns the recorder of the current evaluation. Throws an `Error` if no program is being evaluated. */
export function program(call: string, name: string | undefined, callee: Function): Recorder {
    const found = recorder(callee, call, name);
    if (found === undefined) {
        throw blame(new Error(`${title(call, name)}: ${noProgram}`), callee);
    }
    return found;
}

/** The functions to call when an evaluation starts or ends, in all copies of this package. */
const watchers = ((globalThis as { [watching]?: Set<() => void> })[watching] ??= new Set());

/** Calls a function now and whenever an evaluation starts or ends. */
export function watch(watcher: () => void): void {
    watchers.add(watcher);
    watcher();
}

/** Returns the names of the current evaluation, or `undefined` if there is none. */
export function currentNames(): Names | undefined {
    const found = (globalThis as { [place]?: Recorder })[place];
    return found?.ended === false ? found.names : undefined;
}

/** Sets the current recorder. */
export function setRecorder(value: Recorder): void {
    Object.defineProperty(globalThis, place, { value, configurable: true });
    announce();
}

/** Calls the watchers. A recorder calls it when its evaluation ends. */
export function announce(): void {
    watchers.forEach((watcher) => watcher());
}

/** Sets the stack of an error to start at the call of a function, and returns the error. */
export function blame<T extends object>(error: T, callee: Function): T {
    // Only V8 supports captureStackTrace.
    (Error as { captureStackTrace?: (target: object, callee: Function) => void }).captureStackTrace?.(error, callee);
    return error;
}
