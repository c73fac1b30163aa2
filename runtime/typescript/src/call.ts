// Calls of the functions of providers.

import { prefix } from "./component.js";
import { warn } from "./deprecated.js";
import { describe } from "./describe.js";
import { ArgumentError } from "./errors.js";
import { output } from "./output.js";
import { callerOf } from "./position.js";
import { blame, recorder } from "./recorder.js";
import { type Properties, type Shape, entriesOf, isPlain } from "./shape.js";
import { remember } from "./state.js";
import { Checker } from "./validate.js";
import { encode } from "./wire.js";

/**
 * Calls a function of a provider when a deployment is planned, and returns its results as outputs. `type` is the token
 * of the function. Throws an `ArgumentError` if an argument is invalid. `callee` is the function called by the program;
 * the stacks of errors start at its call.
 */
export function call<Results extends object>(type: string, args: unknown, shape: Shape, callee: Function): Results {
    const checker = new Checker(true);
    const values = checkObject(checker, args, shape, "the arguments");
    if (checker.faults.length > 0) {
        throw blame(new ArgumentError(type, undefined, checker.faults), callee);
    }
    warn(type, undefined, checker.warnings);
    // Represents the call in references. The results are a plain object, which no argument accepts as a resource.
    const resource = {};
    remember(resource, { type, shape, read: values });
    recorder(callee, type)?.construct({
        resource,
        type,
        prefix: prefix(),
        position: callerOf(callee),
        options: () => ({ call: true }),
        properties: (refer) => encode(shape, values, refer),
    });
    const results = entriesOf(shape).flatMap(([property, { out }]) =>
        out ? [[property, output({ resource, property })] as const] : [],
    );
    return Object.freeze(Object.fromEntries(results)) as Results;
}

/** Checks an object that may be absent if all properties may be, and returns a copy. `what` names its contents. */
export function checkObject(checker: Checker, args: unknown, shape: Shape, what: string): Properties {
    const given = args ?? {};
    if (isPlain(given)) {
        return checker.struct(shape, given, { path: "", secret: false });
    }
    checker.fault("", `expected an object with ${what}, found ${describe(args, true)}`);
    return {};
}
