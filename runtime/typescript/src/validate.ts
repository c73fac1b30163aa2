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
import { type Constraints, type Enum, type Properties, type Property, type Shape, type Type, entriesOf, isPlain } from "./shape.js";
import { stateOf } from "./state.js";
import { didYouMean } from "./suggest.js";
import { signatureKey, unknownValue } from "./wire.js";

/** The maximum nesting depth of values. Providers have the same limit. */
const maxDepth = 100;

/** Replaces an invalid value. It counts as an element but equals no other value. */
const wrong = Symbol("wrong");

/** A place in the arguments. */
export interface Place {
    readonly path: string;
    /** Whether the value is a secret or part of one. */
    readonly secret: boolean;
}

/**
 * Checks values against shapes and copies them. It collects all errors instead of stopping at the first; if there are
 * any, the copy is invalid.
 */
export class Checker {
    readonly faults: Fault[] = [];
    /** Deprecation warnings. */
    readonly warnings: Fault[] = [];

    readonly #outputs: boolean;
    /** The enclosing lists and objects of the current value. */
    readonly #around = new Set<object>();

    /** `outputs` allows outputs in place of values. */
    constructor(outputs: boolean) {
        this.#outputs = outputs;
    }

    fault(path: string, message: string): void {
        this.faults.push({ path, message });
    }

    #deprecated(path: string, what: string, instead: string | undefined): void {
        if (instead !== undefined) {
            this.warnings.push({ path, message: `${what}is deprecated: ${instead}` });
        }
    }

    /** Checks a value that must be plain data or an output of it. */
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

    /** Checks the constraints of a value of the right kind. Lists and objects may contain invalid parts. */
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
     * Checks the properties of an object and returns a copy of the present ones. `unknown` may return a specific error
     * for a name that is not in the shape.
     */
    struct(
        shape: Shape,
        value: Properties,
        at: Place,
        unknown: (name: string) => string | undefined = () => undefined,
    ): Properties {
        return this.#nested(value, at, () => {
            const copy: [string, unknown][] = [];
            this.#deprecated(at.path, "the type ", insteadOf(shape));
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
                    this.#deprecated(inside.path, "", property.deprecated);
                    copy.push([name, this.value(property.type, given, inside)]);
                }
            }
            for (const [name, property] of related) {
                checkRelations(name, property, present, (property, message) =>
                    this.fault(property === undefined ? at.path : member(at.path, property), message),
                );
            }
            for (const name of Object.keys(value).sort(compare)) {
                if (!Object.hasOwn(shape, name) && !isAbsent(value[name])) {
                    const instead = at.secret ? "" : renamed(shape, name) ?? didYouMean(name, settable(shape));
                    this.fault(entry(at, name), unknown(name) ?? `no such property${instead}`);
                }
            }
            return Object.fromEntries(copy);
        });
    }

    #expected(type: Type, found: unknown, at: Place, help: string = ""): symbol {
        this.fault(at.path, `expected ${describeType(type)}, found ${describe(found, at.secret)}${help}`);
        return wrong;
    }

    /** Checks an output: its type, or its value if known. */
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
            this.#deprecated(at.path, "the value ", at.secret ? undefined : insteadOf(type.values(), value));
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

    /** Checks a JSON value, which may contain assets and archives. */
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
            // As in JSON, an undefined property is absent.
            return this.#entries(value, at, (_, element, inside) =>
                element === undefined ? undefined : this.value({ kind: "any" }, element, inside),
            );
        }
        return this.#expected({ kind: "any" }, value, at, stateOf(value) && "; use one of its outputs");
    }

    /** Copies a list with the elements returned by check. */
    #elements(value: readonly unknown[], at: Place, check: (value: unknown, inside: Place) => unknown): unknown {
        return this.#nested(value, at, () => {
            const copy: unknown[] = [];
            for (let i = 0; i < value.length; i++) {
                const inside = { path: `${at.path}[${i}]`, secret: at.secret };
                if (!(i in value)) {
                    // A list may have billions of holes, so only the first is reported.
                    this.fault(inside.path, "is a hole in the list");
                    break;
                }
                copy.push(check(value[i], inside));
            }
            return copy;
        });
    }

    /** Copies the entries of an object with arbitrary keys, with the values returned by check. */
    #entries(value: object, at: Place, check: (key: string, value: unknown, inside: Place) => unknown): object {
        return this.#nested(value, at, () => {
            const copy: [string, unknown][] = [];
            for (const [key, element] of Object.entries(value).sort(([a], [b]) => compare(a, b))) {
                const inside = { path: entry(at, key), secret: at.secret };
                // Data that looks like a special value would be mistaken for one.
                if (key === signatureKey) {
                    this.fault(inside.path, "is a reserved key");
                }
                this.#string(key, inside);
                const checked = check(key, element, inside);
                if (checked !== undefined) {
                    copy.push([key, checked]);
                }
            }
            // Unlike assignment, this does not treat a "__proto__" key specially.
            return Object.fromEntries(copy);
        });
    }

    #resource(type: Type, value: unknown, at: Place): unknown {
        const token = stateOf(value)?.type;
        const right = token !== undefined && isResource(type, { kind: "resource", token });
        return right ? value : this.#expected(type, value, at);
    }

    /** Copies a list or object, unless it contains itself or is nested too deep. */
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

/** Reports whether a value is absent. Null, as in JSON, means absent to providers, too. */
function isAbsent(value: unknown): boolean {
    if (value === undefined || value === null) {
        return true;
    }
    if (!isOutput(value)) {
        return false;
    }
    const { content, secret } = open(value);
    return !secret && (content === undefined || content === null);
}

/** Returns the path of an entry whose key is not from a shape. Such keys are data, and may be secret. */
export function entry(at: Place, key: string): string {
    return at.secret ? `${at.path}[…]` : member(at.path, shorten(key));
}

/** Returns the names of settable properties. */
function settable(shape: Shape): string[] {
    return Object.entries(shape).flatMap(([name, { out }]) => (out ? [] : [name]));
}
