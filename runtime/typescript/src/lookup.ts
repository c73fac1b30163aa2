// Resources that something else manages. The provider reads them; the program only refers to them.

import { prefix } from "./component.js";
import { insteadOf, warn } from "./deprecated.js";
import { ArgumentError } from "./errors.js";
import { open, output } from "./output.js";
import { callerOf } from "./position.js";
import { blame, recorder } from "./recorder.js";
import { type Resource, checkName, withName } from "./resource.js";
import { problemOf } from "./settings.js";
import { type Shape, entriesOf } from "./shape.js";
import { remember, title } from "./state.js";
import { Checker } from "./validate.js";
import { encodeValue } from "./wire.js";

/**
 * Returns a resource that something else manages, given its id. Its properties are outputs, except for the ones that a
 * provider never returns, which are undefined. Assigning one throws a `TypeError`. Throws an `ArgumentError` if the name
 * or the id is invalid. `callee` is the function called by the program; the stacks of errors start at its call.
 */
export function lookUp<R extends Resource>(
    { type, prototype }: { readonly type: string; readonly prototype: R },
    shape: Shape,
    callee: Function,
    id: unknown,
    ...name: [name?: unknown]
): R {
    const named = name.length > 0;
    const checker = new Checker(true);
    if (named) {
        checkName(checker, name[0], true);
    }
    const { content, secret } = open(id);
    const problem = secret
        ? "must not be a secret: ids are printed"
        : typeof content === "string" && problemOf("import", content, shape);
    if (problem) {
        checker.fault("id", problem);
    } else {
        checker.value({ kind: "string" }, content, { path: "id", secret });
    }
    if (checker.faults.length > 0) {
        throw blame(new ArgumentError(type, name[0], checker.faults), callee);
    }
    checker.deprecated("", "the type ", insteadOf(shape));
    warn(type, name[0], checker.warnings);
    const resource: R = Object.create(prototype);
    remember(resource, { type, shape, read: content, ...(named ? { name: name[0] as string } : {}) });
    for (const [property, { in: input }] of entriesOf(withName(shape, named))) {
        const value = input ? undefined : output({ resource, property });
        const set = (): never => {
            const heading = `${title(type, name[0])}: ${property}: cannot be assigned`;
            throw blame(new TypeError(`${heading}: the resource is read with get, not managed by this program`), set);
        };
        Object.defineProperty(resource, property, { get: () => value, set, enumerable: true });
    }
    recorder(callee, type, name[0])?.construct({
        resource,
        type,
        ...(named ? { name: name[0] as string } : {}),
        prefix: prefix(),
        position: callerOf(callee),
        options: (refer) => ({ read: encodeValue(undefined, content, refer) }),
        properties: () => ({}),
    });
    return Object.preventExtensions(resource);
}
