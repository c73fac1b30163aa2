import { prefix } from "./component.js";
import { markInstances } from "./copies.js";
import { warn } from "./deprecated.js";
import { describe } from "./describe.js";
import { ArgumentError } from "./errors.js";
import { formerTypes } from "./former.js";
import { type Output, describeOutput, isOutput, open, output, sourceOf } from "./output.js";
import { callerOf } from "./position.js";
import { blame, recorder } from "./recorder.js";
import { withoutSecrets } from "./redact.js";
import { checkOptions, encodeOptions, isOption } from "./settings.js";
import { type Properties, type Shape, entriesOf, isPlain, required, string } from "./shape.js";
import { type State, remember, stateOf, title } from "./state.js";
import { Checker, isAbsent } from "./validate.js";
import { encode } from "./wire.js";

declare const token: unique symbol;

/** The base class of all resource types. Without a type argument, it is the type of any resource. */
export abstract class Resource<out Token extends string = string> {
    /** Never set. It makes resource types distinct, even if they have the same properties. */
    declare protected readonly [token]: Token;

    /**
     * Checks the arguments against the shape, assigns copies to properties, and registers the resource with the current
     * evaluation, if any. Throws an `ArgumentError` if any argument or option is invalid. Only `NamedResource` passes a
     * name.
     */
    protected constructor(type: Token, args: unknown, shape: Shape, options?: unknown, ...name: [name?: unknown]) {
        const named = name.length > 0;
        const checker = new Checker(true, named);
        const values = checkArguments(checker, args, shape, name);
        const settings =
            options === undefined || options === null || !isPlain(args ?? {})
                ? undefined
                : checkOptions(checker, options, withName(shape, named));
        if (checker.faults.length > 0) {
            throw blame(new ArgumentError(type, name[0], checker.faults), new.target);
        }
        warn(type, name[0], checker.warnings);
        const state = { type, shape };
        const given = named && isPlain(args) && !isAbsent(args["name"]) ? values["name"] : undefined;
        remember(this, named ? { ...state, name: name[0] as string, given } : state);
        if (named) {
            define(this, "name", typeof given === "string" ? given : output({ resource: this, property: "name" }), false);
        }
        for (const [property, { out, computed, replaces, secret = false }] of entriesOf(shape)) {
            const value = values[property];
            if (named && property === "name") {
                continue;
            }
            if (out || (computed && value === undefined)) {
                define(this, property, output({ resource: this, property }), false);
            } else if (computed) {
                define(this, property, isOutput(value) ? value : output({ value, secret }), false);
            } else {
                define(this, property, value, !replaces);
            }
        }
        recorder(new.target, type, name[0])?.construct({
            resource: this,
            type,
            ...(named ? { name: name[0] as string } : {}),
            prefix: prefix(),
            formerTypes: formerTypes(shape),
            position: callerOf(new.target),
            ...(settings === undefined ? {} : { options: (refer) => encodeOptions(settings, refer) }),
            properties: (refer) => encode(shape, withGivenName(evaluate(this), given), refer),
        });
    }
}

markInstances(Resource.prototype, "a resource");

/** Node's function that formats a value for display. */
type Inspect = (value: unknown, options: object) => string;

/** The resources being printed, for detecting reference cycles. */
const printing = new Set<Resource>();

// Methods are not class members, since every ordinary name is reserved for properties of the IDL. A property named
// toJSON shadows the method, but JSON.stringify does not call it.
Object.defineProperties(Resource.prototype, {
    // The default string, "[object Object]", would be accepted as a string argument, and the default JSON would contain
    // secrets.
    [Symbol.toPrimitive]: { value: refuser("a string or a number") },
    toJSON: { value: refuser("JSON") },
    // Node calls this method to print objects.
    [Symbol.for("nodejs.util.inspect.custom")]: {
        value(this: Resource, depth: number, options: object, inspect: Inspect): string {
            const state = stateOf(this);
            if (state === undefined) {
                return "Resource {}"; // the prototype, or a resource under construction
            }
            const heading = title(state.type, state.name);
            if (depth < 0 || printing.has(this)) {
                return heading;
            }
            printing.add(this);
            try {
                const shown = withoutSecrets(withName(state.shape, state.name !== undefined), this);
                return `${heading} ${inspect(shown, { ...options, depth })}`;
            } finally {
                printing.delete(this);
            }
        },
    },
});

/** Returns a shape with the name property, which packages of older generations lack, if `named` is set. */
export function withName(shape: Shape, named: boolean): Shape {
    return named ? { name: required(string), ...shape } : shape;
}

/**
 * Returns the properties with a given name as an expression if it is the logical name, since an engine may make unique
 * the names that a program leaves to it.
 */
function withGivenName({ name, properties }: Evaluation, given: unknown): Properties {
    return given === undefined || given !== name ? properties : { ...properties, name: output({ interpolate: [name] }) };
}

function refuser(what: string): (this: object) => never {
    return function () {
        const state = stateOf(this);
        throw new TypeError(
            `${state === undefined ? "a resource" : title(state.type, state.name)} cannot be turned into ${what}; ` +
                "lumi.id and lumi.urn return its id and its URN as outputs",
        );
    };
}

/** The base class of resource types whose names programs choose. */
export abstract class NamedResource<out Token extends string = string> extends Resource<Token> {
    /** The physical name: a string if the arguments give one, and an output otherwise. */
    declare readonly name: string | Output<string>;

    protected constructor(type: Token, name: string, args: unknown, shape: Shape, options?: unknown) {
        super(type, args, shape, options, name);
    }
}

/** Returns the id that the provider assigns to a resource on creation, or the one that it is looked up by. */
export function id(resource: Resource): Output<string> {
    const { read } = known(resource);
    if (read !== undefined) {
        return isOutput(read) ? (read as Output<string>) : output({ value: read, secret: false });
    }
    return output({ resource, property: "id" });
}

/** Returns the URN that the engine assigns to a resource. */
export function urn(resource: Resource): Output<string> {
    known(resource);
    return output({ resource, property: "urn" });
}

/** The target of an output. */
export interface Reference {
    readonly resource: Resource;
    /** A property that the provider sets, `name`, `id`, or `urn`. */
    readonly property: string;
}

/**
 * Returns the target of an output. Throws a `TypeError` if it is not an output of a resource but, for instance, an
 * expression, a secret, or the result of a call.
 */
export function reference(output: Output<unknown>): Reference {
    const source = sourceOf(output);
    if (!("resource" in source && source.resource instanceof Resource)) {
        throw new TypeError(`expected an output of a resource, found ${describeOutput(output)}`);
    }
    return source as Reference; // Only resources create such sources.
}

/** The desired state of a resource, as set by a program. */
export interface Evaluation {
    /** The type token, such as `aws:ec2:VPC`. */
    readonly type: string;
    /** The name given by the program, if programs name resources of its type. */
    readonly name?: string;
    readonly shape: Shape;
    /** The id of a resource that the program only looks up. It has no properties then. */
    readonly read?: string | Output<string>;
    /** Copies of the values set by the program, without absent and out properties. */
    readonly properties: Properties;
}

/**
 * Returns the desired state of a resource, including properties assigned after construction. Throws an `ArgumentError`
 * if one of them is invalid or does not exist.
 */
export function evaluate(resource: Resource): Evaluation {
    const state = known(resource);
    const { type, name, given, shape, read } = state;
    if (read !== undefined) {
        const id = read as string | Output<string>;
        return { type, ...(name === undefined ? {} : { name }), shape, read: id, properties: {} };
    }
    const values = resource as unknown as Properties;
    const current: [string, unknown][] = [];
    for (const [property, { out, computed }] of entriesOf(shape)) {
        if (name !== undefined && property === "name") {
            current.push([property, given ?? name]);
            continue;
        }
        const chosen = out || (computed && isOwn(values[property], resource, property));
        if (!chosen && Object.hasOwn(resource, property)) {
            current.push([property, values[property]]);
        }
    }
    current.push(...undeclared(resource, state).map((key): [string, unknown] => [key, values[key]]));
    const checker = new Checker(true, name !== undefined);
    const properties = checker.struct(shape, Object.fromEntries(current), { path: "", secret: false });
    if (checker.faults.length > 0) {
        throw new ArgumentError(type, name, checker.faults);
    }
    warn(type, name, checker.warnings);
    if (name === undefined) {
        return { type, shape, properties };
    }
    return { type, name, shape, properties: { name, ...properties } };
}

/** Reports whether a value is the output of a property that the resource leaves to its provider. */
function isOwn(value: unknown, resource: object, property: string): boolean {
    if (!isOutput(value)) {
        return false;
    }
    const source = sourceOf(value);
    return "resource" in source && source.resource === resource && source.property === property;
}

/**
 * Returns the keys of a resource that are not properties of its shape. Returns none for an instance of a program's
 * subclass, whose keys may be fields.
 */
function undeclared(resource: Resource, { name, shape }: State): string[] {
    const base: unknown = Object.getPrototypeOf(Object.getPrototypeOf(resource));
    if (base !== Resource.prototype && base !== NamedResource.prototype) {
        return [];
    }
    return Object.keys(resource).filter((key) => !Object.hasOwn(shape, key) && (name === undefined || key !== "name"));
}

function known(resource: Resource): State {
    const state = stateOf(resource);
    if (state === undefined) {
        throw new TypeError(`expected a resource, found ${describe(resource, false)}`);
    }
    return state;
}

/** Reports an error if a name is empty or a secret, or if the first parameter of a constructor is not a string. */
export function checkName(checker: Checker, name: unknown, isParameter: boolean): void {
    if (isParameter && typeof name !== "string") {
        checker.fault("name", `expected a string, found ${describe(name, false)}`);
    } else if (name === "") {
        checker.fault("name", "must not be empty");
    } else if (open(name).secret) {
        checker.fault("name", "must not be a secret: names are printed");
    } else if (isParameter) {
        checker.value({ kind: "string" }, name, { path: "name", secret: false });
    }
}

/**
 * Checks the arguments, with the logical name as the default of the physical one, and returns copies of them. `args` may
 * be absent if all arguments may be.
 */
function checkArguments(checker: Checker, args: unknown, shape: Shape, name: [name?: unknown]): Properties {
    const named = name.length > 0;
    if (named) {
        checkName(checker, name[0], true);
    }
    const state = stateOf(args);
    if (state !== undefined) {
        const found = title(state.type, state.name);
        checker.fault("", `expected an object with the arguments, found the resource ${found}: pass an object such as { … }`);
        return {};
    }
    let given = args ?? {};
    if (!isPlain(given)) {
        const where = named ? "after the name" : "as the only argument (resources of this type take no name)";
        checker.fault("", `expected an object with the arguments ${where}, found ${describe(args, true)}`);
        return {};
    }
    if (named && Object.hasOwn(shape, "name")) {
        const absent = isAbsent(given["name"]);
        if (!absent) {
            checkName(checker, given["name"], false);
        }
        const isWrong = checker.faults.length > 0;
        if (absent || isWrong) {
            given = { ...given, name: isWrong ? undefined : name[0] };
        }
    }
    return checker.struct(shape, given as Properties, { path: "", secret: false }, (property) =>
        isOption(property) ? "is an option; pass options as a separate object after the arguments" : undefined,
    );
}

/** Defines a property, even if a setter or a read-only property of its name is inherited. */
function define(resource: object, name: string, value: unknown, writable: boolean): void {
    Object.defineProperty(resource, name, { value, writable, enumerable: true, configurable: false });
}
