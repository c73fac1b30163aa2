import type { Shape } from "./shape.js";

/** The internal state of a resource, other than its properties, or of a call. */
export interface State {
    /** The type token, such as `aws:ec2:VPC`. */
    readonly type: string;
    /** The name given by the program, if programs name resources of its type. */
    readonly name?: string;
    /** The physical name in the arguments, if any: a string or an output. */
    readonly given?: unknown;
    /** The id of a resource that is only read, or the arguments of a call. */
    readonly read?: unknown;
    readonly shape: Shape;
}

// State is not stored in the objects, since every ordinary name is reserved for properties of the IDL.
const states = new WeakMap<object, State>();

/** Registers an object as a resource with the given state. */
export function remember(resource: object, state: State): void {
    states.set(resource, state);
}

/** Returns the state of a resource or call, or `undefined` for other values. */
export function stateOf(value: unknown): State | undefined {
    return typeof value === "object" && value !== null ? states.get(value) : undefined;
}

/** Returns the title of a resource in messages: its type and, if it has one, its name. */
export function title(type: string, name: unknown): string {
    return typeof name === "string" && name !== "" ? `${type} ${JSON.stringify(name)}` : type;
}
