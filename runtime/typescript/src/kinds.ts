import { describeType, member, oneOf } from "./describe.js";
import type { Enum, Shape, Type } from "./shape.js";

/** A function that reports an error at a path. */
type Report = (path: string, message: string) => void;

/**
 * Compares the type of an output with the type expected at a path, and reports differences. It accepts the same types
 * as the TypeScript compiler. An optional part matches a required one, since the program may know that it will be
 * present.
 */
export function compareTypes(expected: Type, found: Type, path: string, report: Report): void {
    new Comparison(report).compare(expected, found, path);
}

/** Reports whether every resource of type `found` is also of type `expected`. */
export function isResource(expected: Type, found: Type): boolean {
    if (expected.kind !== "resource" || found.kind !== "resource") {
        return false;
    }
    const [all, some] = [expected.token, found.token].map((token) => (typeof token === "string" ? [token] : token));
    return all === undefined || (some !== undefined && some.every((token) => all.includes(token)));
}

interface Signature {
    readonly request: Type;
    readonly response: Type;
}

class Comparison {
    readonly #report: Report;
    /** The shapes already compared with each type or shape, since shapes may be recursive. */
    readonly #compared = new Map<Type | Shape, Set<Shape>>();

    constructor(report: Report) {
        this.#report = report;
    }

    compare(expected: Type, found: Type, path: string): void {
        if (found.kind !== "any" && !this.#agree(expected, found, path)) {
            this.#report(path, `expected ${describeType(expected)}, found ${describeType(found)}`);
        }
    }

    /** Reports whether the kinds of two types match. If so, compares their parts. */
    #agree(expected: Type, found: Type, path: string): boolean {
        switch (expected.kind) {
            case "any":
                return this.#parts(expected, found, path) || found.kind !== "resource";
            case "string":
                return found.kind === "string" || found.kind === "enum" || found.kind === "verb";
            case "enum":
                return found.kind === "enum" && isSubset(found.values(), expected.values());
            case "list":
                return found.kind === "list" && this.#parts(expected.element, found, path);
            case "map":
                return found.kind !== "list" && this.#parts(expected.element, found, path);
            case "struct":
                return this.#struct(expected.shape(), found, path);
            case "resource":
                return isResource(expected, found);
            case "verb":
                return found.kind === "string" || (found.kind === "verb" && this.#verb(expected, found, path));
            default:
                return found.kind === expected.kind;
        }
    }

    /** Compares each part of `found` with a type. Returns false if `found` is not a list, map, or struct. */
    #parts(expected: Type, found: Type, path: string): boolean {
        switch (found.kind) {
            case "list":
            case "map":
                this.compare(expected, found.element, `${path}[…]`);
                return true;
            case "struct":
                if (this.#isNew(expected, found.shape())) {
                    for (const [name, { type }] of Object.entries(found.shape())) {
                        this.compare(expected, type, member(path, name));
                    }
                }
                return true;
            default:
                return false;
        }
    }

    #struct(expected: Shape, found: Type, path: string): boolean {
        switch (found.kind) {
            case "map":
                for (const [name, { type }] of Object.entries(expected)) {
                    this.compare(type, found.element, member(path, name));
                }
                return true;
            case "struct":
                if (expected !== found.shape() && this.#isNew(expected, found.shape())) {
                    this.#shapes(expected, found.shape(), path);
                }
                return true;
            default:
                return false;
        }
    }

    #verb(expected: Signature, found: Signature, path: string): boolean {
        this.compare(found.request, expected.request, member(path, "request"));
        this.compare(expected.response, found.response, member(path, "response"));
        return true;
    }

    #shapes(expected: Shape, found: Shape, path: string): void {
        const names = Object.keys(expected);
        const common = names.filter((name) => Object.hasOwn(found, name));
        const missing = names.filter((name) => !expected[name]!.optional && !Object.hasOwn(found, name));
        if (common.length + missing.length === 0 && names.length > 0 && Object.keys(found).length > 0) {
            // All expected properties are optional, but an object without any of them is probably a mistake.
            this.#report(path, `expected an object with ${oneOf(names)}, found one with ${oneOf(Object.keys(found))}`);
        }
        for (const name of names) {
            if (common.includes(name)) {
                this.compare(expected[name]!.type, found[name]!.type, member(path, name));
            } else if (missing.includes(name)) {
                this.#report(member(path, name), "is required, but missing");
            }
        }
    }

    /** Returns false if `found` has already been compared with `expected`. Records the comparison. */
    #isNew(expected: Type | Shape, found: Shape): boolean {
        const compared = this.#compared.get(expected) ?? new Set();
        this.#compared.set(expected, compared);
        return compared.size < compared.add(found).size;
    }
}

function isSubset(found: Enum, expected: Enum): boolean {
    const values = new Set(Object.values(expected));
    return Object.values(found).every((value) => values.has(value));
}
