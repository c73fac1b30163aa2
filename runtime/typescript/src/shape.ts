// Shapes: what generated code says about its types at run time. A shape is a plain table, so that whoever has one can
// read it; what is checked with it is in validate.ts.

/** The type of a value. */
export type Type =
    | { readonly kind: "boolean" | "number" | "string" | "any" | "asset" | "archive" }
    /** A string that is one of the values of a table. */
    | { readonly kind: "enum"; readonly values: () => Enum }
    | { readonly kind: "list"; readonly element: Type }
    /** Without a key type, any string is a key. */
    | { readonly kind: "map"; readonly element: Type; readonly key?: Type }
    | { readonly kind: "struct"; readonly shape: () => Shape }
    /** A capability. Without a token, it may be a resource of any type. */
    | { readonly kind: "resource"; readonly token?: string };

/** The values of an enum, by the names of its constants. */
export type Enum = { readonly [constant: string]: string };

/** The properties of a resource, a struct or a configuration, by name. */
export type Shape = { readonly [property: string]: Property };

const entries = new WeakMap<Shape, readonly (readonly [string, Property])[]>();

/** Returns the properties of a shape with their names. They are listed once, since many resources have one shape. */
export function entriesOf(shape: Shape): readonly (readonly [name: string, property: Property])[] {
    let found = entries.get(shape);
    if (found === undefined) {
        found = Object.entries(shape);
        entries.set(shape, found);
    }
    return found;
}

/** The values of properties, by name. */
export type Properties = { readonly [property: string]: unknown };

/** Reports whether a value is an object that a literal or JSON makes, not a list or an instance of a class. */
export function isPlain(value: unknown): value is Properties {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return false;
    }
    const prototype: object | null = Object.getPrototypeOf(value);
    // Each realm, such as a vm context, has an Object.prototype of its own. This method of its tells it from objects
    // without a prototype from which others inherit.
    return prototype === null || Object.hasOwn(prototype, "isPrototypeOf");
}

/** One property of a shape. */
export interface Property extends Options {
    readonly type: Type;
    /** Whether the property may be absent. */
    readonly optional?: true;
    /** The provider sets the property, never a program. */
    readonly out?: true;
}

/** What else there is to say about a property. */
export interface Options {
    /** The property is sent to the provider, and never read back. */
    readonly in?: true;
    /** A change of the property needs a new resource in place of the old. */
    readonly replaces?: true;
    /** The value is never printed. */
    readonly secret?: true;
}

export const boolean: Type = { kind: "boolean" };
export const number: Type = { kind: "number" };
export const string: Type = { kind: "string" };
export const any: Type = { kind: "any" };
export const asset: Type = { kind: "asset" };
export const archive: Type = { kind: "archive" };
export const anyResource: Type = { kind: "resource" };

/** A capability of the type that the token names. The class is not needed, so files need not load one another. */
export function resource(token: string): Type {
    return { kind: "resource", token };
}

// What other files declare is asked for when a value is checked, not when a file is loaded: files may then refer to one
// another in circles, in any order.

export function struct(shape: () => Shape): Type {
    return { kind: "struct", shape };
}

export function enumeration(values: () => Enum): Type {
    return { kind: "enum", values };
}

export function list(element: Type): Type {
    return { kind: "list", element };
}

export function map(element: Type, key?: Type): Type {
    return key === undefined ? { kind: "map", element } : { kind: "map", element, key };
}

export function required(type: Type, ...options: Options[]): Property {
    return Object.assign({ type }, ...options);
}

export function optional(type: Type, ...options: Options[]): Property {
    return Object.assign({ type, optional: true }, ...options);
}

export function out(type: Type, ...options: Options[]): Property {
    return Object.assign({ type, out: true }, ...options);
}

export function optionalOut(type: Type, ...options: Options[]): Property {
    return Object.assign({ type, optional: true, out: true }, ...options);
}

export const input: Options = { in: true };
export const replaces: Options = { replaces: true };
export const secretProperty: Options = { secret: true };
