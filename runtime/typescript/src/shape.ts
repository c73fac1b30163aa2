// Shapes describe the types of generated code at run time. A shape is a plain object. validate.ts checks values against
// shapes.

/** The constraints on the values of a type, as declared in the IDL. */
export interface Constraints {
    readonly min?: number;
    readonly exclusiveMin?: number;
    readonly max?: number;
    readonly exclusiveMax?: number;
    readonly multipleOf?: number;
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly pattern?: string;
    /** Describes the strings that match the pattern, in messages. */
    readonly says?: string;
    readonly format?: string;
    readonly minItems?: number;
    readonly maxItems?: number;
    readonly unique?: boolean;
    readonly minProperties?: number;
    readonly maxProperties?: number;
    readonly keyPattern?: string;
    /** How values are compared: `json`, `caseless`, `instant`, `duration`, `decimal`, or, for lists, `set`. */
    readonly equal?: string;
}

/** The type of a value. */
export type Type = Kind & {
    /** The constraints, starting with those of an alias. */
    readonly constraints?: readonly Constraints[];
};

type Kind =
    | { readonly kind: "boolean" | "string" | "any" | "asset" | "archive" }
    | { readonly kind: "number"; readonly whole?: true }
    /** A string from a table of values. */
    | { readonly kind: "enum"; readonly values: () => Enum }
    | { readonly kind: "list"; readonly element: Type }
    /** A map with keys of the given type, or with any strings as keys. */
    | { readonly kind: "map"; readonly element: Type; readonly key?: Type }
    | { readonly kind: "struct"; readonly shape: () => Shape }
    /** A reference to a resource of one of the given types, or of any type if there is no token. */
    | { readonly kind: "resource"; readonly token?: string | readonly string[] }
    /** The address of a function. */
    | { readonly kind: "verb"; readonly request: Type; readonly response: Type };

declare const described: unique symbol;

/** A type whose values have the TypeScript type `T`. */
export type Typed<T> = Type & Describes<T>;

interface Describes<out T> {
    /** Never set. */
    readonly [described]?: T;
}

declare const signature: unique symbol;

/** The address of a function, such as a URL or an ARN, with its request and response types. */
export type Verb<Request, Response> = string & Called<Request, Response>;

interface Called<in Request, out Response> {
    /** Never set. */
    readonly [signature]?: (request: Request) => Response;
}

/** The values of an enum, by the names of its constants. */
export type Enum = { readonly [constant: string]: string };

/** The properties of a resource, a struct, or a configuration, by name. */
export type Shape = { readonly [property: string]: Property };

const entries = new WeakMap<Shape, readonly (readonly [string, Property])[]>();

/** Returns the entries of a shape. They are cached, since many resources share a shape. */
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

/** Reports whether a value is a plain object, as created by a literal or JSON.parse, rather than a class instance. */
export function isPlain(value: unknown): value is Properties {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return false;
    }
    const prototype: object | null = Object.getPrototypeOf(value);
    // The prototype may be the Object.prototype of another realm, such as a vm context. Only an Object.prototype has
    // its own isPrototypeOf.
    return prototype === null || Object.hasOwn(prototype, "isPrototypeOf");
}

/** One property of a shape. */
export interface Property<out T = unknown> extends Options {
    readonly type: Typed<T>;
    /** Whether the property may be absent. */
    readonly optional?: true;
    /** Whether only the provider sets the property. */
    readonly out?: true;
}

/** The type of the values of a shape. It is specific only if the shape is not declared as a `Shape`. */
export type ValueOf<S extends Shape> = Flat<
    { -readonly [K in keyof S as S[K] extends Optional ? never : K]: PropertyValue<S[K]> } & {
        -readonly [K in keyof S as S[K] extends Optional ? K : never]?: PropertyValue<S[K]> | undefined;
    }
>;

export type Optional = { readonly optional: true };
export type PropertyValue<P> = P extends Property<infer T> ? T : never;
export type Flat<T> = { [K in keyof T]: T[K] };

/** An object with exactly one of the properties of `Variants`. */
export type OneOf<Variants> = {
    [K in keyof Variants]: { [P in K]: Variants[P] } & { [P in Exclude<keyof Variants, K>]?: never };
}[keyof Variants];

/** Options of a property. */
export interface Options {
    /** Whether the property is sent to the provider but never read back. */
    readonly in?: true;
    /** Whether the provider chooses a value if the program does not set the property. */
    readonly computed?: true;
    /** Whether a change of the property requires a replacement. */
    readonly replaces?: true;
    /** Whether the value is a secret, which is never printed. */
    readonly secret?: true;
    /** The replacement, if the property is deprecated. */
    readonly deprecated?: string;
    /** The value set by the provider if the property is absent. It is used to compare list elements. */
    readonly default?: boolean | number | string;
    /** Former names of the property. */
    readonly was?: readonly string[];
    /** Properties that must be absent if this one is present. */
    readonly conflictsWith?: readonly string[];
    /** Properties that must be present if this one is present. */
    readonly requiredWith?: readonly string[];
    /** Properties, including this one, of which exactly one must be present. */
    readonly exactlyOneOf?: readonly string[];
}

export const boolean: Typed<boolean> = { kind: "boolean" };
export const number: Typed<number> = { kind: "number" };
/** A whole number from `Number.MIN_SAFE_INTEGER` to `Number.MAX_SAFE_INTEGER`. */
export const integer: Typed<number> = { kind: "number", whole: true };
export const string: Typed<string> = { kind: "string" };
export const any: Typed<any> = { kind: "any" };

// Shapes and enums are passed as functions, which are called when a value is checked rather than when a file is loaded,
// so that files may import one another in cycles.

/** An object. If the shape is declared as a `Shape`, pass the type of the object as the type argument. */
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

/** Returns a type with constraints added. */
export function constrained<T>(type: Typed<T>, constraints: Constraints): Typed<T> {
    return { ...type, constraints: [...(type.constraints ?? []), constraints] };
}

/** A function that other modules can call. A value is the address of the function, such as a URL or an ARN. */
export function verb<Request, Response>(
    request: Typed<Request>,
    response: Typed<Response>,
): Typed<Verb<Request, Response>> {
    return { kind: "verb", request, response };
}

/** Options of a property that is a secret. */
export type Secret = Options & { readonly secret: true };
type IfSecret<O extends readonly Options[]> = [Extract<O[number], Secret>] extends [never] ? unknown : Secret;

export function required<T, O extends Options[] = Options[]>(type: Typed<T>, ...options: O): Property<T> & IfSecret<O> {
    return Object.assign({ type }, ...options);
}

export function optional<T, O extends Options[] = Options[]>(type: Typed<T>, ...options: O): Property<T> & Optional & IfSecret<O> {
    return Object.assign({ type, optional: true }, ...options);
}

export function out(type: Type, ...options: Options[]): Property {
    return Object.assign({ type, out: true }, ...options);
}

export function optionalOut(type: Type, ...options: Options[]): Property {
    return Object.assign({ type, optional: true, out: true }, ...options);
}

export const input: Options = { in: true };
export const computed: Options = { computed: true };
export const replaces: Options = { replaces: true };
export const secretProperty: Secret = { secret: true };
