// A program may load several copies of this package and mix their objects. Classes and private state belong to one
// copy, but this symbol is global, so each copy can recognize the objects of others.
const mark = Symbol.for("@lumi/lumi");

/** Marks the instances of a class, given its prototype. `kind` describes an instance, such as "a resource". */
export function markInstances(prototype: object, kind: string): void {
    Object.defineProperty(prototype, mark, { value: kind });
}

/** Returns the kind of an object created by any copy of this package, or `undefined` for other objects. */
export function kindOf(value: object): string | undefined {
    return (value as { readonly [mark]?: string })[mark];
}
