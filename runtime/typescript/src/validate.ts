import { Archive, Asset } from "./asset.js";
import { checkKeys, checkList, checkNumber, checkString, integerProblem } from "./constraints.js";
import { describe, describeType, member, shorten } from "./describe.js";
import { insteadOf } from "./deprecated.js";
import type { Fault } from "./errors.js";
import { renamed } from "./former.js";
import { compareTypes, isResource } from "./kinds.js";
import { compare } from "./names.js";
import { type Output, describeOutput, isOutput, open, output, sourceOf, typeOf } from "./output.js";
import { checkRelations, isRelated } from "./relations.js";
import { checkRules } from "./rules.js";
import { type Constraints, type Enum, type Properties, type Property, type Shape, type Type, entriesOf, isPlain } from "./shape.js";
import { stateOf } from "./state.js";
import { didYouMean } from "./suggest.js";
import { signatureKey, unknownValue } from "./wire.js";

/** The maximum nesting depth of values. Providers have the same limit. */
const maxDepth = 100;

/** The placeholder for an invalid value. It counts as an element but is not equal to any value. */
const wrong = Symbol("wrong");

/** The error about a unique name in any other place. */
export const onlyAsName = "lumi.uniqueName is allowed only as the name of a resource";

/** The location of a value in the arguments. */
export interface Place {
    readonly path: string;
    /** Whether the value is a secret or part of one. */
    readonly secret: boolean;
}

/**
 * Checks values against shapes and copies them. It collects all errors instead of stopping at the first. The copies are
 * valid only if there are no errors.
 */
export class Checker {
    readonly faults: Fault[] = [];
    /** Deprecation warnings. */
    readonly warnings: Fault[] = [];

    readonly #outputs: boolean;
    readonly #named: boolean;
    /** The enclosing lists and objects of the current value. */
    readonly #around = new Set<object>();

    /**
     * `outputs` is set if outputs are allowed in place of values, and `named` if the property `name` is that of a named
     * resource, which may be a unique name.
     */
    constructor(outputs: boolean, named: boolean = false) {
        this.#outputs = outputs;
        this.#named = named;
    }

    fault(path: string, message: string): void {
        this.faults.push({ path, message });
    }

    /** Adds a warning if `instead`, the replacement, is defined. */
    deprecated(path: string, what: string, instead: string | undefined): void {
        if (instead !== undefined) {
            this.warnings.push({ path, message: `${what}is deprecated: ${instead}` });
        }
    }

    /** Checks a value and returns a copy. */
    value(type: Type, value: unknown, at: Place): unknown {
        if (isOutput(value)) {
            return this.#output(type, value, at);
        }
        const before = this.faults.length;
        const copy = this.#kind(type, value, at);
        if (type.constraints !== undefined) {
            this.#constraints(type, type.constraints, copy, at, before === this.faults.length);
        }
        return copy;
    }

    /**
     * Checks the constraints on a value. `right` is false if the value is invalid; lists and objects may still be
     * checked.
     */
    #constraints(type: Type, all: readonly Constraints[], value: unknown, at: Place, right: boolean): void {
        const fail = (message: string) => this.fault(at.path, message);
        for (const limits of all) {
            if (typeof value === "number" && right) {
                checkNumber(limits, value, at.secret, fail);
            } else if (typeof value === "string" && right) {
                checkString(limits, value, at.secret, fail);
            } else if (Array.isArray(value)) {
                checkList(limits, type, value, at.secret, fail);
            } else if (isPlain(value)) {
                checkKeys(limits, Object.keys(value), at.secret, fail, (key, message) =>
                    this.fault(entry(at, key), message),
                );
            }
        }
    }

    #kind(type: Type, value: unknown, at: Place): unknown {
        switch (type.kind) {
            case "boolean":
                return typeof value === "boolean" ? value : this.#expected(type, value, at);
            case "number":
                return Number.isFinite(value) ? this.#number(type.whole, value as number, at) : this.#expected(type, value, at);
            case "string":
            case "verb":
                return typeof value === "string" ? this.#string(value, at) : this.#expected(type, value, at);
            case "any":
                return this.#any(value, at);
            case "asset":
                return value instanceof Asset ? value : this.#expected(type, value, at);
            case "archive":
                return value instanceof Archive ? value : this.#expected(type, value, at);
            case "enum":
                return this.#enum(type, value, at);
            case "list":
                return Array.isArray(value) ? this.#list(type, value, at) : this.#expected(type, value, at);
            case "map":
                return isPlain(value) ? this.#map(type, value, at) : this.#expected(type, value, at);
            case "struct":
                return isPlain(value) ? this.struct(type.shape(), value, at) : this.#expected(type, value, at);
            case "resource":
                return this.#resource(type, value, at);
        }
    }

    /**
     * Checks the properties of an object and returns a copy without absent ones. `unknown` returns the error for a name
     * that is not in the shape, or `undefined` for the default error.
     */
    struct(
        shape: Shape,
        value: Properties,
        at: Place,
        unknown: (name: string) => string | undefined = () => undefined,
    ): Properties {
        return this.#nested(value, at, () => {
            const entries: [string, unknown][] = [];
            const before = this.faults.length;
            this.deprecated(at.path, "the type ", insteadOf(shape));
            const present = new Set<string>();
            const related: [string, Property][] = [];
            for (const [name, property] of entriesOf(shape)) {
                const given = Object.hasOwn(value, name) ? value[name] : undefined;
                if (isRelated(property)) {
                    related.push([name, property]);
                }
                if (isAbsent(given)) {
                    if (!property.optional && !property.out) {
                        this.fault(member(at.path, name), "is required, but missing");
                    }
                    continue;
                }
                present.add(name);
                const inside = { path: member(at.path, name), secret: at.secret || property.secret === true };
                if (property.out) {
                    this.fault(inside.path, "is set by the provider, not by a program");
                } else {
                    this.deprecated(inside.path, "", property.deprecated);
                    entries.push([name, this.value(property.type, given, inside)]);
                }
            }
            for (const [name, property] of related) {
                checkRelations(name, property, present, (property, message) =>
                    this.fault(property === undefined ? at.path : member(at.path, property), message),
                );
            }
            const copy = Object.fromEntries(entries);
            const isInvalid = (path: readonly string[]) =>
                this.faults.slice(before).some((fault) => fault.path === path.reduce(member, at.path));
            checkRules(shape, copy, isInvalid, (message) => this.fault(at.path, message));
            for (const name of Object.keys(value).sort(compare)) {
                if (!Object.hasOwn(shape, name) && !isAbsent(value[name])) {
                    const instead = at.secret ? "" : renamed(shape, name) ?? didYouMean(name, settable(shape));
                    this.fault(entry(at, name), unknown(name) ?? `no such property${instead}`);
                }
            }
            return copy;
        });
    }

    #expected(type: Type, found: unknown, at: Place, help: string = ""): symbol {
        this.fault(at.path, `expected ${describeType(type)}, found ${describe(found, at.secret)}${help}`);
        return wrong;
    }

    /** Checks the type of an output, or its value if known, and returns a copy. */
    #output(type: Type, value: Output<unknown>, at: Place): unknown {
        if (!this.#outputs && type.kind === "resource") {
            return this.#expected(type, value, at, "; pass the resource itself");
        }
        if (!this.#outputs) {
            this.fault(at.path, "must not be an output: it must be known before any resource exists");
            return value;
        }
        if ("value" in sourceOf(value)) {
            const { content, secret } = open(value);
            const copy = this.value(type, content, { path: at.path, secret: at.secret || secret });
            return secret ? output({ value: copy, secret }) : copy;
        }
        if ("uniqueName" in sourceOf(value) && !(this.#named && at.path === "name")) {
            this.fault(at.path, onlyAsName);
            return value;
        }
        compareTypes(type, typeOf(value), at.path, (path, message) => {
            this.fault(path, `${message} (output ${describeOutput(value)})`);
        });
        return value;
    }

    #number(whole: true | undefined, value: number, at: Place): number {
        const problem = whole ? integerProblem(value, at.secret) : "";
        if (problem !== "") {
            this.fault(at.path, problem);
        }
        return value;
    }

    #string(value: string, at: Place): string {
        if (value === unknownValue) {
            this.fault(at.path, "is the reserved string for unknown values");
        } else if (!value.isWellFormed()) {
            this.fault(at.path, "is not valid Unicode: contains an unpaired surrogate");
        }
        return value;
    }

    #enum(type: Type & { readonly values: () => Enum }, value: unknown, at: Place): unknown {
        const all = Object.values(type.values());
        if (typeof value === "string" && all.includes(value)) {
            this.deprecated(at.path, "the value ", at.secret ? undefined : insteadOf(type.values(), value));
            return value;
        }
        return this.#expected(type, value, at, typeof value === "string" && !at.secret ? didYouMean(value, all) : "");
    }

    #list(type: { readonly element: Type }, value: readonly unknown[], at: Place): unknown {
        return this.#elements(value, at, (element, inside) => {
            if (!isAbsent(element)) {
                return this.value(type.element, element, inside);
            }
            this.fault(inside.path, `an element of a list cannot be ${open(element).content}`);
            return undefined;
        });
    }

    #map(type: { readonly element: Type; readonly key?: Type }, value: object, at: Place): unknown {
        return this.#entries(value, at, (key, element, inside) => {
            if (isAbsent(element)) {
                return undefined;
            }
            if (type.key !== undefined) {
                this.value(type.key, key, inside);
            }
            return this.value(type.element, element, inside);
        });
    }

    /** Checks a JSON value, which may contain assets and archives, and returns a copy. */
    #any(value: unknown, at: Place): unknown {
        switch (typeof value) {
            case "boolean":
                return value;
            case "number":
                return this.value({ kind: "number" }, value, at);
            case "string":
                return this.#string(value, at);
        }
        if (value === null || value instanceof Asset || value instanceof Archive) {
            return value;
        }
        if (Array.isArray(value)) {
            return this.#elements(value, at, (element, inside) => this.value({ kind: "any" }, element, inside));
        }
        if (isPlain(value)) {
            // Undefined properties are absent, as in JSON.
            return this.#entries(value, at, (_, element, inside) =>
                element === undefined ? undefined : this.value({ kind: "any" }, element, inside),
            );
        }
        return this.#expected({ kind: "any" }, value, at, stateOf(value) && "; use one of its outputs");
    }

    /** Returns a list with the results of `check` for each element. */
    #elements(value: readonly unknown[], at: Place, check: (value: unknown, inside: Place) => unknown): unknown {
        return this.#nested(value, at, () => {
            const copy: unknown[] = [];
            for (let i = 0; i < value.length; i++) {
                const inside = { path: `${at.path}[${i}]`, secret: at.secret };
                if (!(i in value)) {
                    // Report only the first hole, since a list may have billions.
                    this.fault(inside.path, "is a hole in the list");
                    break;
                }
                copy.push(check(value[i], inside));
            }
            return copy;
        });
    }

    /** Returns an object with the results of `check` for each entry, without undefined ones. */
    #entries(value: object, at: Place, check: (key: string, value: unknown, inside: Place) => unknown): object {
        return this.#nested(value, at, () => {
            const copy: [string, unknown][] = [];
            for (const [key, element] of Object.entries(value).sort(([a], [b]) => compare(a, b))) {
                const inside = { path: entry(at, key), secret: at.secret };
                // Data with this key would be mistaken for a special value.
                if (key === signatureKey) {
                    this.fault(inside.path, "is a reserved key");
                }
                this.#string(key, inside);
                const checked = check(key, element, inside);
                if (checked !== undefined) {
                    copy.push([key, checked]);
                }
            }
            // Object.fromEntries is safe for the key "__proto__".
            return Object.fromEntries(copy);
        });
    }

    #resource(type: Type, value: unknown, at: Place): unknown {
        const token = stateOf(value)?.type;
        const right = token !== undefined && isResource(type, { kind: "resource", token });
        return right ? value : this.#expected(type, value, at);
    }

    /**
     * Returns the result of `copy`. If a list or object contains itself or is too deep, reports an error and returns
     * {}.
     */
    #nested<T extends object>(value: object, at: Place, copy: () => T): T | {} {
        if (this.#around.has(value)) {
            this.fault(at.path, "contains itself");
            return {};
        }
        if (this.#around.size === maxDepth) {
            this.fault(at.path, `is nested deeper than ${maxDepth} levels`);
            return {};
        }
        this.#around.add(value);
        const result = copy();
        this.#around.delete(value);
        return result;
    }
}

/** Reports whether a value is absent: undefined, null, or a non-secret output with such a value. */
export function isAbsent(value: unknown): boolean {
    if (value === undefined || value === null) {
        return true;
    }
    if (!isOutput(value)) {
        return false;
    }
    const { content, secret } = open(value);
    return !secret && (content === undefined || content === null);
}

/** Returns the path of an entry whose key is data, not the name of a property. Keys in a secret are masked. */
export function entry(at: Place, key: string): string {
    return at.secret ? `${at.path}[…]` : member(at.path, shorten(key));
}

/** Returns the names of settable properties. */
function settable(shape: Shape): string[] {
    return Object.entries(shape).flatMap(([name, { out }]) => (out ? [] : [name]));
}
