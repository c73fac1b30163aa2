// Deprecation warnings. The provider logs the same ones when it checks a resource, for programs in any language.

import type { Fault } from "./errors.js";
import type { Enum, Options, Shape } from "./shape.js";
import { title } from "./state.js";

const shapes = new WeakMap<Shape, string>();
const values = new WeakMap<Enum, { readonly [value: string]: string }>();

/** Marks the type of a shape, or values of an enum, as deprecated. `instead` names the replacement. */
export function deprecate(shape: Shape, instead: string): void;
export function deprecate(table: Enum, instead: { readonly [value: string]: string }): void;
export function deprecate(table: Shape | Enum, instead: string | { readonly [value: string]: string }): void {
    if (typeof instead === "string") {
        shapes.set(table as Shape, instead);
    } else {
        values.set(table as Enum, instead);
    }
}

/** Marks a property as deprecated. `instead` names the replacement. */
export function deprecated(instead: string): Options {
    return { deprecated: instead };
}

/** Returns the replacement of a deprecated type or enum value, or `undefined` if it is not deprecated. */
export function insteadOf(table: Shape | Enum, value?: string): string | undefined {
    if (value === undefined) {
        return shapes.get(table as Shape);
    }
    const all = values.get(table as Enum);
    return all !== undefined && Object.hasOwn(all, value) ? all[value] : undefined;
}

const warned = new Set<string>();

/**
 * Prints deprecation warnings about the arguments of a resource or a configuration, once for each type and property.
 */
export function warn(type: string, name: unknown, warnings: readonly Fault[]): void {
    for (const { path, message } of warnings) {
        const key = `${type} ${path.replace(/\[[^\]]*\]/g, "[]")} ${message}`;
        if (!warned.has(key)) {
            warned.add(key);
            console.warn(`warning: ${title(type, name)}: ${path === "" ? "" : `${path}: `}${message}`);
        }
    }
}
