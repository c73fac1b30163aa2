// Deprecations. The provider logs the same warnings when it checks a resource, regardless of the program's language.

import type { Fault } from "./errors.js";
import type { Enum, Options, Shape } from "./shape.js";
import { title } from "./state.js";

const shapes = new WeakMap<Shape, string>();
const values = new WeakMap<Enum, { readonly [value: string]: string }>();

/** Declares the type of a shape, or values of an enum, as deprecated, and says what to use instead. */
export function deprecate(shape: Shape, instead: string): void;
export function deprecate(table: Enum, instead: { readonly [value: string]: string }): void;
export function deprecate(table: Shape | Enum, instead: string | { readonly [value: string]: string }): void {
    if (typeof instead === "string") {
        shapes.set(table as Shape, instead);
    } else {
        values.set(table as Enum, instead);
    }
}

/** Marks a property that programs should no longer set. */
export function deprecated(instead: string): Options {
    return { deprecated: instead };
}

/** Returns what to use instead of a deprecated type or enum value, and undefined if it is not deprecated. */
export function insteadOf(table: Shape | Enum, value?: string): string | undefined {
    if (value === undefined) {
        return shapes.get(table as Shape);
    }
    const all = values.get(table as Enum);
    return all !== undefined && Object.hasOwn(all, value) ? all[value] : undefined;
}

const warned = new Set<string>();

/** Prints warnings about the arguments of a resource or of configure, once for each type and property. */
export function warn(type: string, name: unknown, warnings: readonly Fault[]): void {
    for (const { path, message } of warnings) {
        const key = `${type} ${path.replace(/\[[^\]]*\]/g, "[]")} ${message}`;
        if (!warned.has(key)) {
            warned.add(key);
            console.warn(`warning: ${title(type, name)}: ${path === "" ? "" : `${path}: `}${message}`);
        }
    }
}
