import { markInstances } from "./copies.js";
import { stateOf, title } from "./state.js";

declare const valueOfOutput: unique symbol;

/** Where the value of an output comes from. */
export interface Source {
    readonly resource: object;
    /** The name of one of the resource's out properties, or `id` or `urn`. */
    readonly property: string;
}

// Sources are kept outside the objects, and methods outside the class, because an editor would offer the members of
// outputs wherever one can take the place of an object.
const sources = new WeakMap<object, Source>();
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
            // This may also be the prototype itself, or a proxy, which have no source.
            const source = sources.get(this);
            return source === undefined ? "Output {}" : `Output(${describe(source)})`;
        },
    },
});

/** Returns a method that throws, since the value of an output is not known yet. */
function refuser(what: string): (this: object) => never {
    return function () {
        const source = sources.get(this);
        throw new TypeError(
            `${source === undefined ? "an output" : describe(source)} cannot be turned into ${what}: it is an ` +
                "output, whose value is not known until the resource exists; pass the output itself as an argument " +
                "of another resource",
        );
    };
}

function describe({ resource, property }: Source): string {
    const state = stateOf(resource);
    return `${property} of ${title(state?.type ?? "a resource", state?.name)}`;
}

/** Makes the output that stands for a property of a resource. */
export function output<T>(resource: object, property: string): Output<T> {
    const made = create();
    sources.set(made, { resource, property });
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
        throw new TypeError("expected an output that this copy of @lumi/lumi made");
    }
    return found;
}
