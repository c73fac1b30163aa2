import { markInstances } from "./copies.js";
import type { Type } from "./shape.js";
import { stateOf, title } from "./state.js";

declare const valueOfOutput: unique symbol;

/** The source of an output's value. */
export type Source =
    /** A property of a resource, such as an out property, `name`, `id`, or `urn`, or the result of a call. */
    | { readonly resource: object; readonly property: string }
    /** A value provided by another module, which `use` represents. */
    | { readonly use: object; readonly module: string; readonly name: string; readonly type: Type }
    /** Strings and outputs to concatenate. */
    | { readonly interpolate: readonly unknown[] }
    /** A value to convert to JSON, which contains outputs. */
    | { readonly jsonStringify: unknown }
    /** A part of another output's value. */
    | { readonly get: Output<unknown>; readonly path: string; readonly type: Type }
    /** A name made unique by the engine, with a suffix of the given length. */
    | { readonly uniqueName: string; readonly length: number | undefined }
    /** A known value, which may be secret and contain outputs. */
    | { readonly value: unknown; readonly secret: boolean };

// Sources are not members of Output, and methods are not declared, since editors would suggest members of Output for
// every object that an output can replace.
const sources = new WeakMap<object, Source>();
let create: () => Output<never>;

/**
 * A value that is not known before a deployment, such as an id chosen by a cloud, or a secret. A program cannot inspect
 * it, but can pass it as any argument of type `T`. Converting it to a string, a number, or JSON throws an error; use
 * `interpolate` and `jsonStringify` instead.
 */
export class Output<out T> {
    /** Never set. It makes output types distinct, such as `Output<string>` and `Output<number>`. */
    declare protected readonly [valueOfOutput]: T;

    private constructor() {}

    static {
        create = () => new Output();
    }
}

markInstances(Output.prototype, "an output");

const instead = {
    "a string": "put it into a string with lumi.interpolate`…${output}…`",
    "a number": "pass the output itself as an argument of another resource",
    "JSON": "use lumi.jsonStringify",
    "a list": "pass the output itself, or one of its elements with lumi.get",
} as const;

Object.defineProperties(Output.prototype, {
    toString: { value: refuser("a string") },
    toJSON: { value: refuser("JSON") },
    [Symbol.iterator]: { value: refuser("a list") },
    [Symbol.toPrimitive]: {
        value(this: object, hint: string): never {
            return refuser(hint === "number" ? "a number" : "a string").call(this);
        },
    },
    // Node calls this method to print objects.
    [Symbol.for("nodejs.util.inspect.custom")]: {
        value(this: object): string {
            // The prototype and proxies have no source.
            const source = sources.get(this);
            return source === undefined ? "Output {}" : `Output(${describe(source)})`;
        },
    },
});

/** Returns a method that throws an error, since the value of an output cannot be converted. */
function refuser(what: keyof typeof instead): (this: object) => never {
    return function () {
        const source = sources.get(this);
        const isRead = source !== undefined && "resource" in source && stateOf(source.resource)?.read !== undefined;
        const why =
            isRead || (source !== undefined && ("value" in source || "use" in source))
                ? "it is an output, whose value is known only during a deployment"
                : "it is an output, whose value is unknown until the resource exists";
        throw new TypeError(
            `${source === undefined ? "an output" : describe(source)} cannot be turned into ${what}: ${why}; ` +
                instead[what],
        );
    };
}

function describe(source: Source): string {
    if ("resource" in source) {
        const state = stateOf(source.resource);
        return `${source.property} of ${title(state?.type ?? "a resource", state?.name)}`;
    }
    if ("use" in source) {
        return `${source.name} of module ${JSON.stringify(source.module)}`;
    }
    if ("get" in source) {
        return `${source.path} in ${describeOutput(source.get)}`;
    }
    if ("value" in source) {
        return source.secret ? "a secret" : "a known value";
    }
    if ("uniqueName" in source) {
        return `the unique name ${JSON.stringify(source.uniqueName)}`;
    }
    return "interpolate" in source ? "an interpolated string" : "a string of JSON";
}

/** Returns an output with the given source. */
export function output<T>(source: Source): Output<T> {
    const made = create();
    sources.set(made, source);
    return made;
}

/** Reports whether a value is an output of this copy of the package. Objects that inherit from an output are not. */
export function isOutput(value: unknown): value is Output<unknown> {
    return typeof value === "object" && value !== null && sources.has(value);
}

/** Describes an output for a message. */
export function describeOutput(output: Output<unknown>): string {
    return describe(sourceOf(output));
}

/** Returns the source of an output. Throws a `TypeError` if it is not an output of this copy of the package. */
export function sourceOf(output: Output<unknown>): Source {
    const found = sources.get(output);
    if (found === undefined) {
        throw new TypeError("expected an output made by this copy of @lumi/lumi");
    }
    return found;
}

/** Returns the type of an output whose value is not known. */
export function typeOf(output: Output<unknown>): Type {
    const source = sourceOf(output);
    if ("resource" in source) {
        // The outputs id and urn are not in shapes.
        return stateOf(source.resource)?.shape[source.property]?.type ?? { kind: "string" };
    }
    return "get" in source || "use" in source ? source.type : { kind: "string" };
}

/** Returns the known value of an output, or any other value itself, and whether it is a secret. */
export function open(value: unknown): { content: unknown; secret: boolean } {
    let secret = false;
    for (let content = value; ; ) {
        const source = isOutput(content) ? sourceOf(content) : undefined;
        if (source === undefined || !("value" in source)) {
            return { content, secret };
        }
        content = source.value;
        secret ||= source.secret;
    }
}
