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

// References stand outside of the objects, and methods outside of the class, since an editor would offer whatever
// outputs have wherever one may stand in place of an object.
const references = new WeakMap<object, Reference>();
let create: () => Output<never>;

/**
 * A value that a provider will have set once a resource exists, such as an id that a cloud makes up. A program cannot
 * look inside, but can hand it on: an output may stand wherever arguments have a value of type `T`. It throws when it
 * is turned into a string, a number or JSON.
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
            // This may also be the prototype itself, or a proxy, which have no reference.
            const reference = references.get(this);
            return reference === undefined ? "Output {}" : `Output(${describe(reference)})`;
        },
    },
});

/** Returns a method that throws, since the value of an output is not known yet. */
function refuser(what: string): (this: object) => never {
    return function () {
        const reference = references.get(this);
        throw new TypeError(
            `${reference === undefined ? "an output" : describe(reference)} cannot be turned into ${what}: it is an ` +
                "output, whose value is not known until the resource exists; pass the output itself as an argument " +
                "of another resource",
        );
    };
}

function describe({ resource, property }: Reference): string {
    const state = stateOf(resource);
    return `${property} of ${title(state?.type ?? "a resource", state?.name)}`;
}

/** Makes the output that stands for a property of a resource. */
export function output<T>(resource: Resource, property: string): Output<T> {
    const made = create();
    references.set(made, { resource, property });
    return made;
}

/** Reports whether a value is an output that this copy of the package made, and nothing that inherits from one. */
export function isOutput(value: unknown): value is Output<unknown> {
    return typeof value === "object" && value !== null && references.has(value);
}

/** Returns what an output refers to. Throws a `TypeError` for everything else. */
export function reference(output: Output<unknown>): Reference {
    const found = references.get(output);
    if (found === undefined) {
        throw new TypeError("expected an output that this copy of @lumi/lumi made");
    }
    return found;
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
