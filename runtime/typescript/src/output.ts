import { markInstances } from "./copies.js";
import type { Type } from "./shape.js";
import { stateOf, title } from "./state.js";

declare const valueOfOutput: unique symbol;

/** Where the value of an output comes from. */
export type Source =
    /** A property of a resource: one of its out properties, or `id` or `urn`. */
    | { readonly resource: object; readonly property: string }
    /** What another module provides under a name. The object stands for the module. */
    | { readonly use: object; readonly module: string; readonly name: string; readonly type: Type }
    /** Strings and outputs, to be joined. */
    | { readonly interpolate: readonly unknown[] }
    /** A value that has outputs somewhere inside, to be turned into JSON. */
    | { readonly jsonStringify: unknown }
    /** A part of the value of another output. */
    | { readonly get: Output<unknown>; readonly path: string; readonly type: Type }
    /** A value that the program knows, and which may be a secret. Outputs may be inside. */
    | { readonly value: unknown; readonly secret: boolean };

// Sources are kept outside the objects, and methods outside the class, because an editor would offer the members of
// outputs wherever one can take the place of an object.
const sources = new WeakMap<object, Source>();
let create: () => Output<never>;

/**
 * A value that is not known before a deployment, such as an id that a cloud makes up, or that is a secret. A program
 * cannot look inside, but can hand it on: an output may stand wherever arguments have a value of type `T`. It throws
 * when it is turned into a string, a number or JSON; `interpolate` and `jsonStringify` do that later.
 */
export class Output<out T> {
    /** No such property exists: it makes an output of a string another type than an output of a number. */
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
} as const;

Object.defineProperties(Output.prototype, {
    toString: { value: refuser("a string") },
    toJSON: { value: refuser("JSON") },
    [Symbol.toPrimitive]: {
        value(this: object, hint: string): never {
            return refuser(hint === "number" ? "a number" : "a string").call(this);
        },
    },
    // Node prints objects with this method.
    [Symbol.for("nodejs.util.inspect.custom")]: {
        value(this: object): string {
            // This may also be the prototype itself, or a proxy, which have no source.
            const source = sources.get(this);
            return source === undefined ? "Output {}" : `Output(${describe(source)})`;
        },
    },
});

/** Returns a method that throws, since the value of an output is not known yet. */
function refuser(what: keyof typeof instead): (this: object) => never {
    return function () {
        const source = sources.get(this);
        const why =
            source !== undefined && ("value" in source || "use" in source)
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
    return "interpolate" in source ? "an interpolated string" : "a string of JSON";
}

/** Makes the output whose value comes from a source. */
export function output<T>(source: Source): Output<T> {
    const made = create();
    sources.set(made, source);
    return made;
}

/** Reports whether a value is an output that this copy of the package made, and nothing that inherits from one. */
export function isOutput(value: unknown): value is Output<unknown> {
    return typeof value === "object" && value !== null && sources.has(value);
}

/** Names an output, for messages. */
export function describeOutput(output: Output<unknown>): string {
    return describe(sourceOf(output));
}

/** Returns where the value of an output comes from. Throws a `TypeError` for everything else. */
export function sourceOf(output: Output<unknown>): Source {
    const found = sources.get(output);
    if (found === undefined) {
        throw new TypeError("expected an output made by this copy of @lumi/lumi");
    }
    return found;
}

/** Returns the type of what an output will be, unless its value is known. */
export function typeOf(output: Output<unknown>): Type {
    const source = sourceOf(output);
    if ("resource" in source) {
        // Every resource has the outputs id and urn, which are in no shape.
        return stateOf(source.resource)?.shape[source.property]?.type ?? { kind: "string" };
    }
    return "get" in source || "use" in source ? source.type : { kind: "string" };
}

/** Returns the value of an output that the program knows, and any other value as it is. Secret says if it is one. */
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
