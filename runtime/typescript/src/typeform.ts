import { describe, describeType, member } from "./describe.js";
import { compare } from "./names.js";
import { type Shape, type Type, isPlain } from "./shape.js";

/** The representation of a type in the vertex of a module. */
export type TypeForm = string | { readonly [kind: string]: unknown };

type Report = (path: string, message: string) => void;

/** Returns a type in graph form. If a graph cannot represent it, reports an error and returns `undefined`. */
export function formOf(type: unknown, path: string, report: Report): TypeForm | undefined {
    let wrong = false;
    const form = new Former((at, message) => {
        wrong = true;
        report(at, message);
    }).form(type, path);
    return wrong ? undefined : form;
}

class Former {
    readonly #report: Report;
    /** The enclosing shapes, to detect recursion. */
    readonly #around = new Set<Shape>();

    constructor(report: Report) {
        this.#report = report;
    }

    form(given: unknown, path: string): TypeForm {
        const type = (isPlain(given) ? given : {}) as Type | { readonly kind?: undefined };
        switch (type.kind) {
            case "boolean":
                return "bool";
            case "number":
            case "string":
            case "any":
                return type.kind;
            case "enum":
                return "string";
            case "list":
            case "map":
                return { [type.kind]: this.form(type.element, `${path}[…]`) };
            case "struct":
                return { object: this.#object(type.shape(), path) };
            case "resource":
                if (typeof type.token === "string") {
                    return { resource: type.token };
                }
                this.#report(path, "a resource shared between modules must have a type; use lumi.resource");
                return "any";
            case "verb":
                return {
                    verb: {
                        request: this.form(type.request, `${path}.request`),
                        response: this.form(type.response, `${path}.response`),
                    },
                };
            case "asset":
            case "archive":
                this.#report(path, `${describeType(type)} cannot be passed to other modules`);
                return "any";
            default:
                this.#report(path, `expected a type such as lumi.string, found ${describe(given, false)}`);
                return "any";
        }
    }

    #object(shape: Shape, path: string): object {
        if (this.#around.has(shape)) {
            this.#report(path, "contains itself, which is not allowed between modules");
            return {};
        }
        this.#around.add(shape);
        const entries = Object.entries(shape).map(([name, property]): [string, TypeForm] => {
            const inside = member(path, name);
            if (name.endsWith("?")) {
                this.#report(inside, 'a property name shared between modules must not end in "?"');
            }
            return [property?.optional ? `${name}?` : name, this.form(property?.type, inside)];
        });
        this.#around.delete(shape);
        // Sort the entries so that equal types have the same text.
        return Object.fromEntries(entries.sort(([a], [b]) => compare(a, b)));
    }
}
