// Former names of types and properties. Providers accept them in state, but programs must use the current names.

import { type Options, type Shape, entriesOf } from "./shape.js";

const types = new WeakMap<Shape, readonly string[]>();

/** Declares former tokens of a resource type. */
export function formerly(shape: Shape, ...tokens: string[]): void {
    types.set(shape, tokens);
}

/** Returns the former tokens of a resource type. */
export function formerTypes(shape: Shape): readonly string[] {
    return types.get(shape) ?? [];
}

/** Declares former names of a property. */
export function was(...names: string[]): Options {
    return { was: names };
}

/** Returns the end of an error message about an unknown property if it was renamed, and otherwise `undefined`. */
export function renamed(shape: Shape, name: string): string | undefined {
    const found = entriesOf(shape).find(([, { was = [] }]) => was.includes(name));
    return found && `; it was renamed to ${found[0]}`;
}
