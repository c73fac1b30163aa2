// What is legal and deprecated. The provider logs the same warnings when it checks a resource, whatever language the program
// is written in.

import type { Fault } from "./errors.js";
import type { Enum, Options, Shape } from "./shape.js";
import { title } from "./state.js";

const shapes = new WeakMap<Shape, string>();
const values = new WeakMap<Enum, { readonly [value: string]: string }>();

/** Says what to use instead of the type that a shape is of, or of values in a table. */
export function deprecate(shape: Shape, instead: string): void;
export function deprecate(table: Enum, instead: { readonly [value: string]: string }): void;
export function deprecate(table: Shape | Enum, instead: string | { readonly [value: string]: string }): void {
    if (typeof instead === "string") {
        shapes.set(table as Shape, instead);
    } else {
        values.set(table as Enum, instead);
    }
}

/** Marks a property that programs should not set any more. */
export function deprecated(instead: string): Options {
    return { deprecated: instead };
}

/** Returns what to use instead of a type, or of a value in a table, if it is deprecated. */
export function insteadOf(table: Shape | Enum, value?: string): string | undefined {
    if (value === undefined) {
        return shapes.get(table as Shape);
    }
    const all = values.get(table as Enum);
    return all !== undefined && Object.hasOwn(all, value) ? all[value] : undefined;
}

const warned = new Set<string>();

/** Prints warnings about the arguments of a resource, or of configure, but each only once for a type and a property. */
export function warn(type: string, name: unknown, warnings: readonly Fault[]): void {
    for (const { path, message } of warnings) {
        const key = `${type} ${path.replace(/\[[^\]]*\]/g, "[]")} ${message}`;
        if (!warned.has(key)) {
            warned.add(key);
            console.warn(`warning: ${title(type, name)}: ${path === "" ? "" : `${path}: `}${message}`);
        }
    }
}
