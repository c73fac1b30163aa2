import { Archive, Asset } from "./asset.js";
import { kindOf } from "./copies.js";
import { isOutput } from "./output.js";
import { type Type, isPlain } from "./shape.js";
import { stateOf, title } from "./state.js";

/** The maximum number of enum values listed in a message. */
const maxListed = 12;

/** Matches valid property names. */
const identifier = /^[\p{L}_$][\p{L}\p{Nd}_$]*$/u;

/** Describes a value for a message. If `secret` is set, the description does not contain the value. */
export function describe(value: unknown, secret: boolean): string {
    switch (typeof value) {
        case "undefined":
            return "undefined";
        case "string":
            return secret ? "a string" : `a string ${toJSON(shorten(value))}`;
        case "number":
            if (!Number.isFinite(value)) {
                return String(value);
            }
            return secret ? "a number" : `a number ${value}`;
        case "boolean":
        case "bigint":
            return secret ? `a ${typeof value}` : `a ${typeof value} ${value}`;
        case "object":
            return value === null ? "null" : describeObject(value, secret);
        default:
            return `a ${typeof value}`;
    }
}

/** Describes a type for a message, without nested types. */
export function describeType(type: Type): string {
    switch (type.kind) {
        case "any":
            return "a JSON value";
        case "asset":
        case "archive":
            return `an ${type.kind}`;
        case "enum":
            return oneOf(Object.values(type.values()));
        case "map":
        case "struct":
            return "an object";
        case "number":
            return type.whole === true ? "a whole number" : "a number";
        case "verb":
            return "a string, the address of a function";
        case "resource":
            return type.token === undefined ? "a resource" : `a resource of type ${alternatives([type.token].flat())}`;
        default:
            return `a ${type.kind}`;
    }
}

/** Formats strings as a list of alternatives, such as `"a", "b" or "c"`. Long lists are truncated. */
export function oneOf(values: readonly string[]): string {
    const listed = values.slice(0, maxListed).map((value) => toJSON(shorten(value)));
    if (values.length > maxListed) {
        listed.push(`${values.length - maxListed} others`);
    }
    return alternatives(listed);
}

function alternatives(list: readonly string[]): string {
    return list.length < 2 ? list.join() : `${list.slice(0, -1).join(", ")} or ${list.at(-1)}`;
}

/** Returns the path of a property of a struct, or of an entry of a map. */
export function member(path: string, name: string): string {
    if (!identifier.test(name)) {
        return `${path}[${toJSON(name)}]`;
    }
    return path === "" ? name : `${path}.${name}`;
}

function describeObject(value: object, secret: boolean): string {
    const state = stateOf(value);
    if (state !== undefined) {
        return secret ? "a resource" : `a resource ${title(state.type, state.name)}`;
    }
    if (isOutput(value)) {
        return "an output";
    }
    if (value instanceof Asset) {
        return "an asset";
    }
    if (value instanceof Archive) {
        return "an archive";
    }
    if (Array.isArray(value)) {
        return "a list";
    }
    if (isPlain(value)) {
        return "an object";
    }
    if (value instanceof Promise) {
        return "a promise, which must be awaited first";
    }
    const kind = kindOf(value);
    if (kind !== undefined) {
        return `${kind} not made by this copy of @lumi/lumi; "npm ls @lumi/lumi" shows all copies`;
    }
    const constructor: unknown = value.constructor;
    const name: unknown = typeof constructor === "function" ? constructor.name : "";
    return typeof name === "string" && name !== ""
        ? `an instance of ${name}`
        : "an object with its own prototype";
}

/** Truncates a string to 80 characters. */
export function shorten(text: string): string {
    const most = 80;
    const characters = [...text.slice(0, 2 * most + 2)];
    return characters.length > most ? characters.slice(0, most).join("") + "…" : text;
}

/** Formats a string as JSON, like the Go package internal/constraint. */
export function toJSON(text: string): string {
    return JSON.stringify(text).replace(/[\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
}
