// A program that has two copies of this package mixes their objects up sooner or later. Classes and private state
// belong to one copy, but this symbol to the whole program, so that each can say what the objects of the other are.
const mark = Symbol.for("@lumi/lumi");

/** Marks the instances of a class. Kind is what they are, in words such as "a resource". */
export function markInstances(prototype: object, kind: string): void {
    Object.defineProperty(prototype, mark, { value: kind });
}

/** Returns what an object is that any copy of this package made, and `undefined` for every other object. */
export function kindOf(value: object): string | undefined {
    return (value as { readonly [mark]?: string })[mark];
}
