// Former names. State that has them is read by providers; a program gets the new name.

import { type Options, type Shape, entriesOf } from "./shape.js";

const types = new WeakMap<Shape, readonly string[]>();

/** Says which tokens the type of a resource had before. */
export function formerly(shape: Shape, ...tokens: string[]): void {
    types.set(shape, tokens);
}

/** Returns the tokens that the type of a resource had before. */
export function formerTypes(shape: Shape): readonly string[] {
    return types.get(shape) ?? [];
}

/** Gives a property the names that it had before. */
export function was(...names: string[]): Options {
    return { was: names };
}

/** Completes a message about a name that no property has, if one had it before. */
export function renamed(shape: Shape, name: string): string | undefined {
    const found = entriesOf(shape).find(([, { was = [] }]) => was.includes(name));
    return found && `; it was renamed to ${found[0]}`;
}
