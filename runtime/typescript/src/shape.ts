// Shapes: what generated code says about its types at run time. A shape is a plain table, so that whoever has one can
// read it; what is checked with it is in validate.ts.

/** What an IDL says about the values of a type beyond their kind. */
export interface Constraints {
    readonly min?: number;
    readonly exclusiveMin?: number;
    readonly max?: number;
    readonly exclusiveMax?: number;
    readonly multipleOf?: number;
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly pattern?: string;
    readonly format?: string;
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly unique?: boolean;
    readonly minProperties?: number;
    readonly maxProperties?: number;
    readonly keyPattern?: string;
}

/** The type of a value. */
export type Type = Kind & {
    /** What limits the values, that of an alias first. */
    readonly constraints?: readonly Constraints[];
};

type Kind =
    | { readonly kind: "boolean" | "number" | "string" | "any" | "asset" | "archive" }
    /** A string that is one of the values of a table. */
    | { readonly kind: "enum"; readonly values: () => Enum }
    | { readonly kind: "list"; readonly element: Type }
    /** Without a key type, any string is a key. */
    | { readonly kind: "map"; readonly element: Type; readonly key?: Type }
    | { readonly kind: "struct"; readonly shape: () => Shape }
    /** A capability. Without a token, it may be a resource of any type; with several, of any of these. */
    | { readonly kind: "resource"; readonly token?: string | readonly string[] }
    /** A string by which a function is called. */
    | { readonly kind: "verb"; readonly request: Type; readonly response: Type };

declare const described: unique symbol;

/** The type of values that are a `T` for the TypeScript compiler. */
export type Typed<T> = Type & Describes<T>;

interface Describes<out T> {
    /** No such property exists. */
    readonly [described]?: T;
}

declare const signature: unique symbol;

/** The address of a function, such as a URL or an ARN, and what it takes and returns. */
export type Verb<Request, Response> = string & Called<Request, Response>;

interface Called<in Request, out Response> {
    /** No such property exists. */
    readonly [signature]?: (request: Request) => Response;
}

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
export interface Property<out T = unknown> extends Options {
    readonly type: Typed<T>;
    /** Whether the property may be absent. */
    readonly optional?: true;
    /** The provider sets the property, never a program. */
    readonly out?: true;
}

/** The values of a shape. A table that is declared as a `Shape` does not have their types. */
export type ValueOf<S extends Shape> = Flat<
    { -readonly [K in keyof S as S[K] extends Optional ? never : K]: PropertyValue<S[K]> } & {
        -readonly [K in keyof S as S[K] extends Optional ? K : never]?: PropertyValue<S[K]> | undefined;
    }
>;

type Optional = { readonly optional: true };
type PropertyValue<P> = P extends Property<infer T> ? T : never;
type Flat<T> = { [K in keyof T]: T[K] };

/** An object with exactly one of the properties of `Variants`. */
export type OneOf<Variants> = {
    [K in keyof Variants]: { [P in K]: Variants[P] } & { [P in Exclude<keyof Variants, K>]?: never };
}[keyof Variants];

/** What else there is to say about a property. */
export interface Options {
    /** The property is sent to the provider, and never read back. */
    readonly in?: true;
    /** A change of the property needs a new resource in place of the old. */
    readonly replaces?: true;
    /** The value is never printed. */
    readonly secret?: true;
    /** What programs should do instead of setting the property. */
    readonly deprecated?: string;
    /** The value that the provider gives the property where it is absent, which elements of lists are compared with. */
    readonly default?: boolean | number | string;
    /** Former names of the property. */
    readonly was?: readonly string[];
    /** Properties that are absent where this one is present. */
    readonly conflictsWith?: readonly string[];
    /** Properties that are present where this one is. */
    readonly requiredWith?: readonly string[];
    /** Properties of which, with this one, exactly one is present. */
    readonly exactlyOneOf?: readonly string[];
}

export const boolean: Typed<boolean> = { kind: "boolean" };
export const number: Typed<number> = { kind: "number" };
export const string: Typed<string> = { kind: "string" };
export const any: Typed<any> = { kind: "any" };

// What other files declare is asked for when a value is checked, not when a file is loaded: files may then refer to one
// another in circles, in any order.

/** An object. Where the shape is declared as a `Shape`, a type argument says what the object is. */
export function struct<S extends Shape>(shape: () => S): Typed<ValueOf<S>>;
export function struct<T extends object>(shape: () => Shape): Typed<T>;
export function struct(shape: () => Shape): Type {
    return { kind: "struct", shape };
}

export function enumeration<const E extends Enum>(values: () => E): Typed<E[keyof E]> {
    return { kind: "enum", values };
}

export function list<T>(element: Typed<T>): Typed<T[]> {
    return { kind: "list", element };
}

export function map<T>(element: Typed<T>, key?: Type): Typed<{ [key: string]: T }> {
    return key === undefined ? { kind: "map", element } : { kind: "map", element, key };
}

/** A type with limits to its values. */
export function constrained<T>(type: Typed<T>, constraints: Constraints): Typed<T> {
    return { ...type, constraints: [...(type.constraints ?? []), constraints] };
}

/** A function that another module can call: its value is the string by which that is done, such as a URL or an ARN. */
export function verb<Request, Response>(
    request: Typed<Request>,
    response: Typed<Response>,
): Typed<Verb<Request, Response>> {
    return { kind: "verb", request, response };
}

export function required<T>(type: Typed<T>, ...options: Options[]): Property<T> {
    return Object.assign({ type }, ...options);
}

export function optional<T>(type: Typed<T>, ...options: Options[]): Property<T> & Optional {
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
