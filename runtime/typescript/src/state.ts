import type { Shape } from "./shape.js";

/** What a resource knows about itself beside its properties. */
export interface State {
    /** The type token, such as `aws:ec2:VPC`. */
    readonly type: string;
    /** The name that the program gave the resource, where the program names resources of its type. */
    readonly name?: string;
    readonly shape: Shape;
}

// State stands outside of the objects, since every ordinary name on them belongs to the properties of the IDL.
const states = new WeakMap<object, State>();

/** Remembers that an object is a resource. */
export function remember(resource: object, state: State): void {
    states.set(resource, state);
}

/** Returns the state of a resource, and `undefined` for every other value. */
export function stateOf(value: unknown): State | undefined {
    return typeof value === "object" && value !== null ? states.get(value) : undefined;
}

/** Names a resource in messages: its type and, if it has one, its name. */
export function title(type: string, name: unknown): string {
    return typeof name === "string" && name !== "" ? `${type} ${JSON.stringify(name)}` : type;
}
