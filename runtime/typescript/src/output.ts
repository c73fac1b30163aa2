import type { Archive, Asset } from "./asset.js";
import { markInstances } from "./copies.js";
import type { Resource } from "./resource.js";
import { stateOf, title } from "./state.js";

declare const valueOfOutput: unique symbol;

/** What an output refers to. */
export interface Reference {
    readonly resource: Resource;
    /** The name of one of the resource's out properties, or `id` or `urn`. */
    readonly property: string;
}

let create: (reference: Reference) => Output<never>;
let read: (output: Output<unknown>) => Reference;
let describe: (output: Output<unknown>) => string;
let made: (value: object) => boolean;

/**
 * A value that a provider will have set once a resource exists, such as an id that a cloud makes up. A program cannot
 * look inside, but can hand it on: an output may stand wherever arguments have a value of type `T`.
 */
export class Output<out T> {
    /** No such property exists: it makes an output of a string another type than an output of a number. */
    declare protected readonly [valueOfOutput]: T;

    readonly #reference: Reference;

    private constructor(reference: Reference) {
        this.#reference = reference;
    }

    static {
        create = (reference) => new Output(reference);
        read = (output) => output.#reference;
        describe = (output) => output.#title();
        made = (value) => #reference in value;
    }

    /** Throws: the value is not known yet. */
    toString(): never {
        throw new TypeError(this.#refusal("a string"));
    }

    /** Throws: the value is not known yet. */
    toJSON(): never {
        throw new TypeError(this.#refusal("JSON"));
    }

    /** Throws: the value is not known yet. */
    [Symbol.toPrimitive](hint: string): never {
        throw new TypeError(this.#refusal(hint === "number" ? "a number" : "a string"));
    }

    #title(): string {
        const { resource, property } = this.#reference;
        const state = stateOf(resource);
        return `${property} of ${title(state?.type ?? "a resource", state?.name)}`;
    }

    #refusal(what: string): string {
        return (
            `${this.#title()} cannot be turned into ${what}: it is an output, whose value is not known until the ` +
            "resource exists; pass the output itself as an argument of another resource"
        );
    }
}

// Node prints objects with this method. It is no member of the class, since it is nothing to call.
Object.defineProperty(Output.prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: Output<unknown>): string {
        // This may also be the prototype itself, or a proxy, which have no reference.
        return isOutput(this) ? `Output(${describe(this)})` : "Output {}";
    },
});

markInstances(Output.prototype, "an output");

/** Makes the output that stands for a property of a resource. */
export function output<T>(resource: Resource, property: string): Output<T> {
    return create({ resource, property });
}

/** Reports whether a value is an output that this copy of the package made, and nothing that inherits from one. */
export function isOutput(value: unknown): value is Output<unknown> {
    return typeof value === "object" && value !== null && made(value);
}

/** Returns what an output refers to. Throws a `TypeError` for everything else. */
export function reference(output: Output<unknown>): Reference {
    if (!isOutput(output)) {
        throw new TypeError("expected an output that this copy of @lumi/lumi made");
    }
    return read(output);
}

/**
 * What a program may give where a `T` is needed: a `T`, an output of one, or a list, map or object that has outputs
 * anywhere inside. Lists may be read-only, since they are copied.
 */
export type Input<T> =
    | Output<T>
    | (T extends Whole
          ? T
          : T extends readonly (infer Element)[]
            ? readonly Input<Element>[]
            : { [K in keyof T]: Input<T[K]> });

/** What has no parts that could be outputs. */
type Whole = string | number | boolean | null | undefined | Output<unknown> | Resource | Asset | Archive;
