// Constraints on values. The Go package internal/constraint has the same rules and messages. Its testdata/cases.json
// tests both implementations.

import { Archive, Asset } from "./asset.js";
import { shorten, toJSON } from "./describe.js";
import { read } from "./equal.js";
import { compare } from "./names.js";
import { isOutput, open, sourceOf } from "./output.js";
import { type Constraints, type Properties, type Shape, type Type, entriesOf } from "./shape.js";
import { stateOf } from "./state.js";

/** A function that reports an error message. The message does not quote secrets. */
type Fail = (message: string) => void;

export function checkNumber(limits: Constraints, value: number, secret: boolean, fail: Fail): void {
    const must = (holds: boolean, limit: string, bound: number | undefined) => {
        if (bound !== undefined && !holds) {
            fail(`must be ${limit} ${bound}, found ${secret ? "another number" : value}`);
        }
    };
    const { min, exclusiveMin, max, exclusiveMax, multipleOf } = limits;
    must(value >= min!, "at least", min);
    must(value > exclusiveMin!, "more than", exclusiveMin);
    must(value <= max!, "at most", max);
    must(value < exclusiveMax!, "less than", exclusiveMax);
    must(isMultiple(value, multipleOf!), "a multiple of", multipleOf);
}

/** Returns an error message if value is not valid for an integer property, or "". */
export function integerProblem(value: number, secret: boolean): string {
    if (Number.isSafeInteger(value)) {
        return "";
    }
    const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
    const must = Number.isInteger(value) ? `from ${least} to ${most}` : "a whole number";
    return `must be ${must}, found ${secret ? "another number" : value}`;
}

/** Reports whether `value` is a multiple of `of`, allowing for rounding errors: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
    const quotient = value / of;
    return !(Math.abs(quotient - Math.round(quotient)) > Math.max(1e-9, Math.abs(quotient) * 2 ** -50));
}

export function checkString(limits: Constraints, value: string, secret: boolean, fail: Fail): void {
    const { minLength, maxLength, pattern, says, format } = limits;
    if (minLength !== undefined || maxLength !== undefined) {
        checkCount(characters(value), minLength, maxLength, ["character", "characters"], secret, fail);
    }
    const must = (what: string) => fail(`must ${what}, found ${secret ? "another string" : toJSON(shorten(value))}`);
    if (pattern !== undefined && !compiled(pattern).test(value)) {
        must(says === undefined ? `match ${pattern}` : `be ${says}`);
    }
    const known = formats[format ?? ""];
    if (known?.test(value) === false) {
        must(`be ${known.what}`);
    }
}

export function characters(text: string): number {
    let count = 0;
    for (const _ of text) {
        count++; // [...value].length would need more memory
    }
    return count;
}

export function checkList(
    limits: Constraints,
    type: Type,
    value: readonly unknown[],
    secret: boolean,
    fail: Fail,
): void {
    checkCount(value.length, limits.minItems, limits.maxItems, ["element", "elements"], secret, fail);
    const first = new Map<string, number>();
    for (const [i, element] of limits.unique ? value.entries() : []) {
        const identity = identify(element, elementOf(type));
        const equal = identity === undefined ? undefined : first.get(identity);
        if (equal !== undefined) {
            fail(`must have no equal elements, but [${equal}] and [${i}] are equal`);
            return;
        }
        if (identity !== undefined) {
            first.set(identity, i);
        }
    }
}

const resources = new WeakMap<object, number>();
let resourceCount = 0;

/** Returns the element type of a list or map, or `undefined` for other types. */
function elementOf(type: Type | undefined): Type | undefined {
    return type?.kind === "list" || type?.kind === "map" ? type.element : undefined;
}

/** Returns the default values of the properties in a shape. */
function defaultsOf(shape: Shape): Properties {
    const entries = entriesOf(shape).map(([name, property]) => [name, property.default] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * Returns a string that is the same for equal values, or `undefined` if any part is unknown. Null properties count as
 * absent, defaults are applied, and secrecy is ignored.
 */
function identify(value: unknown, type: Type | undefined): string | undefined {
    const equal = type?.constraints?.filter((limits) => limits.equal !== undefined).at(-1)?.equal;
    if (isOutput(value)) {
        return "value" in sourceOf(value) ? identify(open(value).content, type) : undefined;
    }
    if (Array.isArray(value)) {
        const parts = value.map((part) => identify(part, elementOf(type)));
        const different = equal === "set" ? [...new Set(parts)].sort() : parts;
        return parts.includes(undefined) ? undefined : `[${different.join()}]`;
    }
    if (typeof value === "string" && equal !== undefined) {
        return read(value, equal, (format) => formats[format]!.test(value));
    }
    if (typeof value !== "object" || value === null) {
        return typeof value === "number" ? String(value) : JSON.stringify(value);
    }
    if (stateOf(value) !== undefined) {
        resources.set(value, resources.get(value) ?? ++resourceCount);
        return `resource ${resources.get(value)}`;
    }
    const content = value instanceof Asset || value instanceof Archive ? value.source : value;
    const shape = type?.kind === "struct" ? type.shape() : {};
    const present = Object.entries(content).filter(([, part]) => part !== undefined && part !== null);
    const parts = Object.entries({ ...defaultsOf(shape), ...Object.fromEntries(present) })
        .sort(([a], [b]) => compare(a, b))
        .map(([key, part]) => [JSON.stringify(key), identify(part, elementOf(type) ?? shape[key]?.type)] as const);
    return parts.some(([, part]) => part === undefined)
        ? undefined
        : `{${parts.map((part) => part.join(":")).join()}}${content === value ? "" : value.constructor.name}`;
}

/** Checks the keys of a map. Calls `wrong` with each key that violates a constraint. */
export function checkKeys(
    limits: Constraints,
    keys: readonly string[],
    secret: boolean,
    fail: Fail,
    wrong: (key: string, message: string) => void,
): void {
    checkCount(keys.length, limits.minProperties, limits.maxProperties, ["entry", "entries"], secret, fail);
    const { keyPattern } = limits;
    if (keyPattern !== undefined) {
        for (const key of keys.filter((key) => !compiled(keyPattern).test(key)).sort(compare)) {
            wrong(key, `the key must match ${keyPattern}`);
        }
    }
}

function checkCount(
    count: number,
    least: number | undefined,
    most: number | undefined,
    [one, many]: [string, string],
    secret: boolean,
    fail: Fail,
): void {
    const must = (bound: string, limit: number, found: string) =>
        fail(`must have ${bound} ${limit} ${limit === 1 ? one : many}, found ${secret ? found : count}`);
    if (least !== undefined && count < least) {
        must("at least", least, "fewer");
    }
    if (most !== undefined && count > most) {
        must("at most", most, "more");
    }
}

const expressions = new Map<string, RegExp>();

/** Returns a compiled regular expression. Results are cached. */
function compiled(pattern: string): RegExp {
    let found = expressions.get(pattern);
    if (found === undefined) {
        found = new RegExp(pattern, "u");
        expressions.set(pattern, found);
    }
    return found;
}

interface Format {
    /** The description of the format in messages, after "must be". */
    readonly what: string;
    readonly test: (value: string) => boolean;
}

/** Returns a format defined by a regular expression and, for rules that it cannot express, a function. */
function matching(what: string, pattern: string, also: (value: string) => boolean = () => true): Format {
    return { what, test: (value) => compiled(pattern).test(value) && also(value) };
}

// The expressions are identical to internal/constraint's.
const formats: { readonly [name: string]: Format } = {
    uri: matching("a URI", String.raw`^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$`),
    email: matching(
        "an email address",
        String.raw`^[A-Za-z0-9.!#$%&'*+/=?^_\x60{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?` +
            String.raw`(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`,
    ),
    ipv4: { what: "an IPv4 address", test: isIPv4 },
    ipv6: { what: "an IPv6 address", test: isIPv6 },
    cidr: { what: "an IP prefix such as 10.0.0.0/8", test: isPrefix },
    "date-time": matching(
        "a date and time such as 2006-01-02T15:04:05Z",
        String.raw`^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?` +
            String.raw`(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`,
        isDay,
    ),
    duration: matching(
        "a duration such as PT1H30M",
        String.raw`^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$`,
        (value) => !/[PT]$/.test(value),
    ),
    uuid: matching("a UUID", String.raw`^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$`),
    int64: matching(
        "a 64-bit integer",
        String.raw`^(?:0|-?[1-9]\d{0,18})$`,
        (value) => BigInt.asIntN(64, BigInt(value)) === BigInt(value),
    ),
    uint64: matching(
        "an unsigned 64-bit integer",
        String.raw`^(?:0|[1-9]\d{0,19})$`,
        (value) => BigInt.asUintN(64, BigInt(value)) === BigInt(value),
    ),
    decimal: matching("a decimal number such as 12.50", String.raw`^-?(?:0|[1-9]\d*)(?:\.\d+)?$`),
    base64: matching("base64", String.raw`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`),
    json: { what: "JSON", test: isJSON },
};

function isIPv4(value: string): boolean {
    return compiled(String.raw`^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$`).test(value) && !value.endsWith(".");
}

function isIPv6(value: string): boolean {
    const end = value.slice(value.lastIndexOf(":") + 1);
    // An IPv4 address may replace the last two groups.
    const text = isIPv4(end) ? `${value.slice(0, -end.length)}0:0` : value;
    const halves = text.split("::");
    const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
    return (
        (halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8) &&
        groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))
    );
}

function isPrefix(value: string): boolean {
    const slash = value.lastIndexOf("/");
    const [address, length] = [value.slice(0, slash), value.slice(slash + 1)];
    const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
    return slash >= 0 && /^(?:0|[1-9]\d{0,2})$/.test(length) && Number(length) <= bits;
}

/**
 * Reports whether the day exists in the month. Adding 400 years, after which the calendar repeats, avoids years < 100.
 */
function isDay(value: string): boolean {
    const [year, month, day] = value.slice(0, 10).split("-").map(Number) as [number, number, number];
    return day <= new Date(Date.UTC(year + 400, month, 0)).getUTCDate();
}

/** Reports whether a string is valid JSON within the nesting limit of Go's parser. */
function isJSON(value: string): boolean {
    try {
        JSON.parse(value);
    } catch {
        return false;
    }
    let depth = 0;
    for (const [token] of value.matchAll(/"(?:[^"\\]|\\.)*"|[[{}\]]/g)) {
        depth += "[{".includes(token) ? 1 : "]}".includes(token) ? -1 : 0;
        if (depth > 10_000) {
            return false;
        }
    }
    return true;
}
