import { Archive, Asset } from "./asset.js";
import { describe, isPlain } from "./describe.js";
import type { Fault } from "./errors.js";
import { Output } from "./output.js";
import type { Enum, Property, Shape, Type } from "./shape.js";
import { stateOf } from "./state.js";
import { didYouMean } from "./suggest.js";

// Objects with this key stand for assets, archives and secrets on the wire, and this string for a value that is not
// known yet. Data that looks like either would be taken for it.
const signatureKey = "4dabf18193072939515e22adb298388d";
const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** How deeply values may be nested. What reads them recurses, here and in providers. */
const deepest = 500;

/** How many values of an enum a message lists. */
const mostListed = 8;

/** A place in the arguments. */
interface Place {
    readonly path: string;
    /** Whether the value is a secret, or a part of one. */
    readonly secret: boolean;
}

const identifier = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/**
 * Checks values against shapes and copies them. It collects what is wrong, rather than stop at the first fault; where
 * there is a fault, the copy is of no use.
 */
export class Checker {
    readonly faults: Fault[] = [];

    readonly #outputs: boolean;
    /** The lists and objects around the value that is being checked. */
    readonly #around = new Set<object>();

    /** Outputs says whether outputs may stand in place of values. */
    constructor(outputs: boolean) {
        this.#outputs = outputs;
    }

    /** Adds a fault. */
    fault(path: string, message: string): void {
        this.faults.push({ path, message });
    }

    /** Checks a value which must be plain data, or an output of it. */
    value(type: Type, value: unknown, at: Place): unknown {
        if (value instanceof Output) {
            if (!this.#outputs) {
                this.fault(at.path, "cannot be an output, since it must be known before there are any resources");
            }
            return value;
        }
        switch (type.kind) {
            case "boolean":
                return typeof value === "boolean" ? value : this.#expected("a boolean", value, at);
            case "number":
                return Number.isFinite(value) ? value : this.#expected("a number", value, at);
            case "string":
                return typeof value === "string" ? this.#string(value, at) : this.#expected("a string", value, at);
            case "any":
                return this.#any(value, at);
            case "asset":
                return value instanceof Asset ? value : this.#expected("an asset", value, at);
            case "archive":
                return value instanceof Archive ? value : this.#expected("an archive", value, at);
            case "enum":
                return this.#enum(type.values(), value, at);
            case "list":
                return Array.isArray(value)
                    ? this.#list(type.element, value, at)
                    : this.#expected("a list", value, at);
            case "map":
                return isData(value) ? this.#map(type, value, at) : this.#expected("an object", value, at);
            case "struct":
                return isData(value) ? this.struct(type.shape(), value, at) : this.#expected("an object", value, at);
            case "resource":
                return this.#resource(type.token, value, at);
            case "alias":
                return this.value(type.target(), value, at);
        }
    }

    /** Checks the properties of an object, and returns a copy with those that are present. */
    struct(shape: Shape, value: object, at: Place): object {
        return this.#nested(value, at, () => {
            const copy: [string, unknown][] = [];
            for (const [name, property] of Object.entries(shape)) {
                const given = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
                const inside = { path: member(at.path, name), secret: at.secret || property.secret === true };
                const checked = this.property(property, given, inside);
                if (checked !== undefined) {
                    copy.push([name, checked]);
                }
            }
            for (const name of Object.keys(value)) {
                if (!Object.hasOwn(shape, name)) {
                    this.fault(member(at.path, name), `no such property${didYouMean(name, settable(shape))}`);
                }
            }
            return Object.fromEntries(copy);
        });
    }

    /** Checks the value of a property. Null means the same as undefined: that there is none. */
    property(property: Property, value: unknown, at: Place): unknown {
        const absent = value === undefined || value === null;
        if (property.out) {
            if (!absent) {
                this.fault(at.path, "cannot be set: it is an output of the provider");
            }
            return undefined;
        }
        if (!absent) {
            return this.value(property.type, value, at);
        }
        // An any that is required may well be null.
        if (value === null && property.type.kind === "any" && !property.optional) {
            return null;
        }
        if (!property.optional) {
            this.fault(at.path, "required, but missing");
        }
        return undefined;
    }

    #expected(what: string, found: unknown, at: Place): undefined {
        this.fault(at.path, `expected ${what}, found ${describe(found, at.secret)}`);
    }

    #string(value: string, at: Place): string {
        if (value === unknownValue) {
            this.fault(at.path, "this string is reserved: it stands for values that are not known yet");
        } else if (!value.isWellFormed()) {
            this.fault(at.path, "the string is not valid Unicode: half of a surrogate pair is missing");
        }
        return value;
    }

    #enum(values: Enum, value: unknown, at: Place): unknown {
        const all = Object.values(values);
        if (typeof value === "string" && all.includes(value)) {
            return value;
        }
        const listed = all.slice(0, mostListed).map((one) => JSON.stringify(one));
        if (all.length > mostListed) {
            listed.push(`${all.length - mostListed} others`);
        }
        const what = listed.length === 1 ? listed[0]! : `${listed.slice(0, -1).join(", ")} or ${listed.at(-1)}`;
        const help = typeof value === "string" && !at.secret ? didYouMean(value, all) : "";
        this.fault(at.path, `expected ${what}, found ${describe(value, at.secret)}${help}`);
        return undefined;
    }

    #list(element: Type, value: readonly unknown[], at: Place): unknown {
        return this.#nested(value, at, () => {
            const copy: unknown[] = [];
            for (let i = 0; i < value.length; i++) {
                const inside = { path: `${at.path}[${i}]`, secret: at.secret };
                if (i in value) {
                    copy.push(this.value(element, value[i], inside));
                } else {
                    // A list may be sparse by billions; one fault says enough.
                    this.fault(inside.path, "the list has a gap here");
                    break;
                }
            }
            return copy;
        });
    }

    #map(type: { readonly element: Type; readonly key?: Type }, value: object, at: Place): unknown {
        return this.#nested(value, at, () =>
            this.#entries(value, at, (key, element, inside) => {
                if (type.key !== undefined) {
                    this.value(type.key, key, inside);
                }
                return this.value(type.element, element, inside);
            }),
        );
    }

    /** Copies what JSON can express. */
    #any(value: unknown, at: Place): unknown {
        switch (typeof value) {
            case "boolean":
                return value;
            case "string":
                return this.#string(value, at);
            case "number":
                return Number.isFinite(value) ? value : this.#expected("a number", value, at);
            case "object":
                if (value === null) {
                    return null;
                }
                if (Array.isArray(value)) {
                    return this.#list({ kind: "any" }, value, at);
                }
                if (isData(value)) {
                    return this.#nested(value, at, () =>
                        // As in JSON, a property that is undefined is one that is absent.
                        this.#entries(value, at, (_, element, inside) =>
                            element === undefined ? undefined : this.#anyOrOutput(element, inside),
                        ),
                    );
                }
        }
        return this.#expected("a value that JSON can express", value, at);
    }

    #anyOrOutput(value: unknown, at: Place): unknown {
        return this.value({ kind: "any" }, value, at);
    }

    /** Copies the entries of an object with arbitrary keys, whose values are what check returns. */
    #entries(value: object, at: Place, check: (key: string, value: unknown, inside: Place) => unknown): object {
        const copy: [string, unknown][] = [];
        for (const [key, element] of Object.entries(value)) {
            const inside = { path: `${at.path}[${at.secret ? "…" : JSON.stringify(key)}]`, secret: at.secret };
            if (key === signatureKey) {
                this.fault(inside.path, "this key is reserved: it marks assets, archives and secrets");
            }
            this.#string(key, inside);
            const checked = check(key, element, inside);
            if (checked !== undefined) {
                copy.push([key, checked]);
            }
        }
        // Unlike an assignment, this gives a key called "__proto__" no special meaning.
        return Object.fromEntries(copy);
    }

    #resource(token: string | undefined, value: unknown, at: Place): unknown {
        const type = stateOf(value)?.type;
        if (type === undefined || (token !== undefined && type !== token)) {
            return this.#expected(token === undefined ? "a resource" : `a resource ${token}`, value, at);
        }
        return value;
    }

    /** Copies a list or an object, unless it is inside of itself or too deep. */
    #nested<T>(value: object, at: Place, copy: () => T): T | object {
        if (this.#around.has(value)) {
            this.fault(at.path, "the value contains itself");
            return value;
        }
        if (this.#around.size === deepest) {
            this.fault(at.path, `the value is nested more than ${deepest} levels deep`);
            return value;
        }
        this.#around.add(value);
        const result = copy();
        this.#around.delete(value);
        return result;
    }
}

/** Reports whether a value is an object that holds data and nothing else. */
function isData(value: unknown): value is object {
    return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}

/** The path of a property inside of a struct. */
function member(path: string, name: string): string {
    if (!identifier.test(name)) {
        return `${path}[${JSON.stringify(name)}]`;
    }
    return path === "" ? name : `${path}.${name}`;
}

/** The names of the properties that a program can set. */
function settable(shape: Shape): string[] {
    return Object.entries(shape).flatMap(([name, { out }]) => (out ? [] : [name]));
}
