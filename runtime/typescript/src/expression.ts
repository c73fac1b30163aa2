// Expressions: values computed from outputs, represented as data. Known parts are evaluated immediately, and the rest
// once the program's resources exist, by the Go package lumigl/expr. Its testdata/cases.json tests both
// implementations.

import { Archive, Asset } from "./asset.js";
import { describe, describeType } from "./describe.js";
import { ArgumentError, type Fault } from "./errors.js";
import type { Input } from "./input.js";
import { type Output, describeOutput, isOutput, open, output, sourceOf, typeOf } from "./output.js";
import { type Step, follow, joinPath, parsePath } from "./path.js";
import { blame } from "./recorder.js";
import type { Resource } from "./resource.js";
import * as shapes from "./shape.js";
import { isPlain } from "./shape.js";
import { stateOf } from "./state.js";
import { Checker, type Place, entry, onlyAsName } from "./validate.js";

/**
 * A template tag for strings that contain outputs, such as `` lumi.interpolate`${bucket.arn}/*` ``. Substitutions are
 * strings, numbers, booleans, and outputs of these. The string is a secret if it contains one. Throws an
 * `ArgumentError` for other substitutions.
 */
export function interpolate(
    strings: TemplateStringsArray,
    ...parts: readonly Input<string | number | boolean>[]
): Output<string> {
    if (!Array.isArray(strings) || !Object.hasOwn(strings, "raw")) {
        const message = "lumi.interpolate is a template tag: write lumi.interpolate`…${output}…`";
        throw blame(new TypeError(message), interpolate);
    }
    const left: unknown[] = [];
    const add = (part: unknown): void => {
        if (typeof part === "string" && typeof left.at(-1) === "string") {
            left.push((left.pop() as string) + part);
        } else if (part !== "") {
            left.push(part);
        }
    };
    const faults: Fault[] = [];
    let secret = false;
    for (const [i, text] of strings.entries()) {
        add(text);
        if (i < parts.length) {
            const part = open(parts[i]);
            secret ||= part.secret;
            const problem = partProblem(part.content, part.secret);
            if (isOutput(part.content) && "uniqueName" in sourceOf(part.content)) {
                faults.push({ path: "", message: `part ${i + 1} of the string: ${onlyAsName}; use the name of that resource` });
            } else if (problem !== undefined) {
                faults.push({ path: "", message: `part ${i + 1} of the string is ${problem}` });
            } else if (isOutput(part.content)) {
                const source = sourceOf(part.content);
                ("interpolate" in source ? source.interpolate : [part.content]).forEach(add);
            } else {
                add(String(part.content));
            }
        }
    }
    const checker = new Checker(true);
    left.forEach((part) => isOutput(part) || checker.value({ kind: "string" }, part, { path: "", secret }));
    refuse("lumi.interpolate", [...faults, ...checker.faults], interpolate);
    return left.some(isOutput) ? hidden(output({ interpolate: left }), secret) : known(left[0] ?? "", secret);
}

/** Returns the error if a value cannot be part of a string, or `undefined` if it can. */
function partProblem(value: unknown, secret: boolean): string | undefined {
    const type = isOutput(value) ? typeOf(value) : undefined;
    const kind = type?.kind ?? typeof value;
    const isNumber = kind === "number" && (isOutput(value) || Number.isFinite(value));
    if (isNumber || /^(?:string|boolean|enum|any|verb)$/.test(kind)) {
        return undefined;
    }
    const found = isOutput(value) ? `${describeOutput(value)}, ${describeType(type!)}` : describe(value, secret);
    if (kind === "resource" || stateOf(value) !== undefined) {
        return `${found}: use one of its outputs`;
    }
    return /^(?:list|map|struct)$/.test(kind) || isPlain(value) || Array.isArray(value)
        ? `${found}: use lumi.jsonStringify`
        : found;
}

/**
 * Converts a value, which may contain outputs, to JSON in the canonical form of RFC 8785: without spaces and with
 * sorted keys. The string is a secret if it contains one. Throws an `ArgumentError` for values that JSON cannot
 * represent, such as resources and assets.
 */
export function jsonStringify(value: unknown): Output<string> {
    const checker = new Checker(true);
    const copy = checker.value({ kind: "any" }, value, { path: "", secret: false });
    const found = { secret: false, pending: false };
    const bare = checker.faults.length > 0 ? undefined : withoutSecrets(copy, { path: "", secret: false }, found, checker);
    refuse("lumi.jsonStringify", checker.faults, jsonStringify);
    return found.pending
        ? hidden(output({ jsonStringify: bare }), found.secret)
        : known(canonicalJSON(bare), found.secret);
}

/**
 * Returns a copy of a value without secret wrappers. Records in `found` whether it contains secrets or unknown parts.
 */
function withoutSecrets(
    value: unknown,
    around: Place,
    found: { secret: boolean; pending: boolean },
    checker: Checker,
): unknown {
    const { content, secret } = open(value);
    const at = { path: around.path, secret: around.secret || secret };
    found.secret ||= secret;
    if (content instanceof Asset || content instanceof Archive) {
        checker.fault(at.path, `${describe(content, at.secret)} cannot be turned into JSON`);
    } else if (isOutput(content)) {
        const { kind } = typeOf(content);
        if (kind === "asset" || kind === "archive") {
            checker.fault(at.path, `an ${kind} cannot be turned into JSON (output ${describeOutput(content)})`);
        }
        found.pending = true;
    } else if (Array.isArray(content)) {
        return content.map((element: unknown, i) =>
            withoutSecrets(element, { ...at, path: `${at.path}[${i}]` }, found, checker),
        );
    } else if (isPlain(content)) {
        const entries = Object.entries(content);
        return Object.fromEntries(
            entries.map(([key, element]) => [
                key,
                withoutSecrets(element, { ...at, path: entry(at, key) }, found, checker),
            ]),
        );
    }
    return content;
}

function canonicalJSON(value: unknown): string {
    if (Array.isArray(value)) {
        return `[${value.map(canonicalJSON).join()}]`;
    }
    if (isPlain(value)) {
        const keys = Object.keys(value).sort(); // by UTF-16 code units, as required by RFC 8785
        return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJSON(value[key])}`).join()}}`;
    }
    return JSON.stringify(value);
}

/**
 * Returns the part of a value at a path, such as `redirect.host`, `[0].name`, or `tags["a b"]`. The result is absent if
 * the part is missing, and a secret if the value is one. Throws an `ArgumentError` if the path does not match the type.
 */
export function get<const T, const Path extends string>(value: T, path: Path): Got<T, Path> {
    return find(value, path, get) as Got<T, Path>;
}

function find(value: unknown, path: string, callee: Function): Output<unknown> {
    const wrong = (message: string): ArgumentError =>
        blame(new ArgumentError("lumi.get", undefined, [{ path: "", message }]), callee);
    const steps = typeof path === "string" ? parsePath(path) : undefined;
    if (steps === undefined || steps.some((step) => "all" in step)) {
        throw wrong(`${describe(path, false)} is not a path such as "tags.env", "rules[2].port" or ${'tags["a b"]'}`);
    }
    let { content, secret } = open(value);
    for (const [i, step] of steps.entries()) {
        if (isOutput(content)) {
            const rest = steps.slice(i);
            const type = follow(typeOf(content), rest);
            if (typeof type === "string") {
                throw wrong(`${type} (output ${describeOutput(content)})`);
            }
            const source = sourceOf(content);
            const made =
                "get" in source
                    ? { get: source.get, path: joinPath(rest, source.path), type }
                    : { get: content, path: joinPath(rest), type };
            return hidden(output(made), secret);
        }
        if (content === undefined || content === null) {
            break;
        }
        if (!hasParts(content, step)) {
            const help = stateOf(content) === undefined ? "" : ": use its property";
            throw wrong(`there is no ${step.text} in ${describe(content, true)}${help}`);
        }
        const key = "key" in step ? step.key : (step as { index: number }).index;
        const next = open(Object.hasOwn(content, key) ? content[key] : undefined);
        content = next.content;
        secret ||= next.secret;
    }
    return isOutput(content) ? hidden(content, secret) : known(content ?? null, secret);
}

/** Reports whether a step can access a part of a value: a key of an object, or an index of a list. */
function hasParts(value: unknown, step: Step): value is { readonly [key: string | number]: unknown } {
    return "key" in step ? isPlain(value) : Array.isArray(value);
}

/**
 * Returns an output that marks a value as a secret: it is never printed, and is marked in graphs and state. The output
 * can be used wherever the value can. Values computed from it are secrets, too. Throws a `TypeError` for absent values
 * and resources.
 */
export function secret<const T>(value: T): Output<Known<T>> {
    if (value === undefined || value === null || stateOf(value) !== undefined) {
        const message = `lumi.secret: expected a value that can be a secret, found ${describe(value, true)}`;
        throw blame(new TypeError(message), secret);
    }
    return output({ value, secret: true });
}

const uniqueOptions = {
    length: shapes.optional(shapes.constrained(shapes.integer, { min: 4, max: 32 })),
};

/**
 * Returns a name for a resource that no other resource has, in any environment: `base`, a hyphen, and `length` letters
 * and digits, 8 by default. It is valid only as the argument `name`. The engine chooses it when it first plans to create
 * the resource, keeps it over updates and moves, and shortens `base` to the length that the resource type allows. Throws
 * an `ArgumentError` for an empty base and for a length below 4 or above 32.
 */
export function uniqueName(base: string, options: { readonly length?: number | undefined } = {}): Output<string> {
    const checker = new Checker(false);
    checker.value({ kind: "string" }, base, { path: "", secret: false });
    if (base === "") {
        checker.fault("", "must not be empty");
    }
    const copy = checker.value({ kind: "struct", shape: () => uniqueOptions }, options, { path: "", secret: false });
    refuse("lumi.uniqueName", checker.faults, uniqueName);
    return output({ uniqueName: base, length: (copy as { length?: number }).length });
}

function known<T>(value: unknown, secret: boolean): Output<T> {
    return output({ value, secret });
}

/** Returns an output, marked as a secret if `secret` is true. */
function hidden<T>(value: Output<T>, secret: boolean): Output<T> {
    return secret ? output({ value, secret }) : value;
}

function refuse(name: string, faults: readonly Fault[], callee: Function): void {
    if (faults.length > 0) {
        throw blame(new ArgumentError(name, undefined, faults), callee);
    }
}

/** The type of a value after its outputs are known. */
export type Known<T> = [T] extends [Scalar | Resource | Asset | Archive]
    ? T
    : T extends Output<infer Value>
      ? Value
      : T extends Scalar | Resource | Asset | Archive
        ? T
        : { -readonly [K in keyof T]: Known<T[K]> };

type Scalar = string | number | boolean | null | undefined;

/** The result type of `get`: an output, or an error if the path is invalid. */
export type Got<T, Path extends string> =
    At<T, Path> extends infer Found ? ([Found] extends [PathProblem<string>] ? Found : Output<Known<Found>>) : never;

declare const problem: unique symbol;

/** The result type for an invalid path. Its type argument is the error message. */
export interface PathProblem<out Message extends string> {
    readonly [problem]: Message;
}

/** The type of the part of a value at a path. */
type At<T, Path extends string> = 0 extends 1 & T
    ? T
    : T extends Output<infer Value>
      ? At<Value, Path>
      : Path extends ""
        ? T
        : T extends null | undefined
          ? undefined
          : Path extends `[${infer Index}]${infer Rest}`
            ? At<Element<T, Index>, Tail<Rest>>
            : First<Path> extends [infer Key extends string, infer Rest extends string]
              ? At<Member<T, Key>, Rest>
              : never;

/** Splits a path into its first name and the rest. */
type First<Path extends string> = Path extends `${infer Before}.${infer After}`
    ? Before extends `${infer Name}[${infer Bracket}`
        ? [Name, `[${Bracket}.${After}`]
        : [Before, After]
    : Path extends `${infer Name}[${infer Bracket}`
      ? [Name, `[${Bracket}`]
      : [Path, ""];

type Tail<Path extends string> = Path extends `.${infer Rest}` ? Rest : Path;

type Member<T, Key extends string> = T extends PathProblem<string>
    ? T
    : T extends Scalar | readonly unknown[] | Resource | Asset | Archive
      ? PathProblem<`there is no ${Key} in a value without properties`>
      : Key extends keyof T
        ? T[Key]
        : PathProblem<`there is no property ${Key}`>;

type Element<T, Index extends string> = T extends PathProblem<string>
    ? T
    : Index extends `"${infer Key}"`
      ? Member<T, Key>
      : T extends readonly (infer Value)[]
        ? Index extends `${bigint}`
            ? Value
            : PathProblem<`[${Index}] is not the index of an element`>
        : PathProblem<`there is no [${Index}] in a value that is not a list`>;
