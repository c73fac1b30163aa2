// Values exchanged between the modules of an environment. Each module is a separately deployed program.

import { describe } from "./describe.js";
import { ArgumentError, type Fault } from "./errors.js";
import type { Input } from "./input.js";
import { packageProblem } from "./names.js";
import { type Output, output } from "./output.js";
import { callerOf } from "./position.js";
import { blame, program } from "./recorder.js";
import { type Shape, type Typed, isPlain, optional, required, string } from "./shape.js";
import { type TypeForm, formOf } from "./typeform.js";
import { Checker } from "./validate.js";
import { encode } from "./wire.js";

/** Options for using a value of another module. */
export interface UseOptions {
    /** A CEL predicate over `value`, such as `value.startsWith('vpc-')`. It is checked during a deployment. */
    readonly where?: string | undefined;
}

const useOptions: Shape = { where: optional(string) };

/**
 * Provides a named value to other modules. The value may contain outputs and, depending on the type, resources. Secrets
 * stay secret. Throws an `ArgumentError` if the value does not match the type, and an `Error` if no program is being
 * evaluated.
 */
export function provide<T>(name: string, value: NoInfer<Input<T>>, type: Typed<T>): void {
    const checker = new Checker(true);
    const form = checkEntry(checker, name, type);
    const copy = form === undefined ? undefined : checker.value(type, value, { path: "", secret: false });
    refuse("lumi.provide", name, checker.faults, provide);
    program("lumi.provide", name, provide).provide({
        name,
        type: form!,
        position: callerOf(provide),
        value: (refer) => (encode({ value: required(type) }, { value: copy }, refer) as { value: unknown }).value,
    });
}

/** Another module of the environment, as returned by `module`. */
export class Module {
    /** The package of the module's program. */
    readonly name: string;

    constructor(name: string) {
        this.name = name;
        Object.freeze(this);
    }

    /**
     * Returns an output for a value provided by the module. The deployment fails if the module does not provide a value
     * of this name and type. Throws an `ArgumentError` if the name, type, or options are invalid, and an `Error` if no
     * program is being evaluated.
     */
    use<T>(name: string, type: Typed<T>, options?: UseOptions): Output<T> {
        const call = `lumi.module(${JSON.stringify(this.name)}).use`;
        const checker = new Checker(false);
        const form = checkEntry(checker, name, type);
        const where = checkWhere(checker, options);
        refuse(call, name, checker.faults, this.use);
        const vertex = {};
        program(call, name, this.use).use({
            vertex,
            module: this.name,
            name,
            type: form!,
            ...(where === undefined ? {} : { where }),
            position: callerOf(this.use),
        });
        return output({ use: vertex, module: this.name, name, type });
    }
}

/**
 * Returns another module of the environment, given the package of its program. Throws a `TypeError` if the package name
 * is invalid.
 */
export function module(name: string): Module {
    const problem =
        typeof name === "string"
            ? packageProblem(name)
            : `expected the name of a package, found ${describe(name, false)}`;
    if (problem !== undefined) {
        throw blame(new TypeError(`lumi.module: ${problem}`), module);
    }
    return new Module(name);
}

/** Checks the name and type of a value. Returns the type in graph form, or `undefined` if the type is invalid. */
function checkEntry(checker: Checker, name: unknown, type: unknown): TypeForm | undefined {
    if (typeof name !== "string" || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) {
        checker.fault("name", `expected a letter followed by letters, digits, - and _, found ${describe(name, false)}`);
    }
    return formOf(type, "type", (path, message) => checker.fault(path, message));
}

function checkWhere(checker: Checker, options: unknown): string | undefined {
    if (options === undefined || options === null) {
        return undefined;
    }
    if (!isPlain(options)) {
        checker.fault("options", `expected an object with options, found ${describe(options, false)}`);
        return undefined;
    }
    const { where } = checker.struct(useOptions, options, { path: "options", secret: false }) as UseOptions;
    if (typeof where === "string" && where.trim() === "") {
        checker.fault("options.where", "is empty; omit it to accept any value");
    }
    return where;
}

function refuse(call: string, name: unknown, faults: readonly Fault[], callee: Function): void {
    if (faults.length > 0) {
        throw blame(new ArgumentError(call, name, faults), callee);
    }
}
