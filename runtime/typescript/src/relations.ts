// Relations between the properties of an object. runtime/relations.go is the Go implementation. The same test table is
// used for both.

import type { Options } from "./shape.js";

export function conflictsWith(...others: string[]): Options {
    return { conflictsWith: others };
}

export function requiredWith(...others: string[]): Options {
    return { requiredWith: others };
}

export function exactlyOneOf(...others: string[]): Options {
    return { exactlyOneOf: others };
}

export function isRelated(property: Options): boolean {
    return (property.conflictsWith ?? property.requiredWith ?? property.exactlyOneOf) !== undefined;
}

/** Checks the relations of a property. Calls `fail` with each error, and the property unless it concerns the object. */
export function checkRelations(
    name: string,
    { conflictsWith = [], requiredWith = [], exactlyOneOf }: Options,
    present: ReadonlySet<string>,
    fail: (property: string | undefined, message: string) => void,
): void {
    for (const other of present.has(name) ? conflictsWith : []) {
        if (present.has(other)) {
            fail(name, `cannot be combined with ${other}`);
        }
    }
    for (const other of present.has(name) ? requiredWith : []) {
        if (!present.has(other)) {
            fail(name, `also needs ${other}`);
        }
    }
    if (exactlyOneOf !== undefined) {
        const names = [name, ...exactlyOneOf];
        const found = names.filter((one) => present.has(one));
        if (found.length !== 1) {
            fail(
                undefined,
                `exactly one of ${names.join(", ")} is required, found ${found.length === 0 ? "none" : found.join(", ")}`,
            );
        }
    }
}
