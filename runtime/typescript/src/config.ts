import { checkObject } from "./call.js";
import { warn } from "./deprecated.js";
import { ArgumentError } from "./errors.js";
import { callerOf } from "./position.js";
import { blame, recorder } from "./recorder.js";
import type { Properties, Shape } from "./shape.js";
import { Checker } from "./validate.js";
import { encode } from "./wire.js";

/** The configuration of a package's provider. */
export interface Configuration {
    readonly shape: Shape;
    /** Copies of the values that the program has set. */
    readonly properties: Properties;
}

const configurations = new Map<string, Configuration>();

/**
 * Sets the configuration of a package's provider. Throws an `ArgumentError` if the arguments do not match the shape or
 * if the package is already configured. `callee` is the function called by the program; the stacks of errors start at
 * its call.
 */
export function configure(pkg: string, args: unknown, shape: Shape, callee: Function = configure): void {
    const checker = new Checker(false);
    let properties = {};
    if (configurations.has(pkg)) {
        checker.fault("", "the package is already configured; a program may configure it only once");
    } else {
        properties = checkObject(checker, args, shape, "the configuration");
    }
    if (checker.faults.length > 0) {
        throw blame(new ArgumentError(pkg, undefined, checker.faults), callee);
    }
    warn(pkg, undefined, checker.warnings);
    recorder(callee, pkg)?.configure({
        package: pkg,
        position: callerOf(callee),
        properties: (refer) => encode(shape, properties, refer),
    });
    configurations.set(pkg, { shape, properties });
}

/** Returns the configuration of a package's provider, or `undefined` if the program has not set it yet. */
export function configuration(pkg: string): Configuration | undefined {
    return configurations.get(pkg);
}
