// Strings that differ only in spelling. The Go package internal/constraint reads the same forms; both are tested with its
// testdata/equal.json.

import { compare } from "./names.js";

/**
 * Returns a text that is the same for strings that are equal in a way. Strings that cannot be read equal only themselves.
 * `has` reports whether the string has a format.
 */
export function read(value: string, way: string, has: Test): string {
    const text = readers[way]?.(value, has);
    return text === undefined ? JSON.stringify(value) : `=${text}`;
}

type Test = (format: string) => boolean;

const readers: { readonly [way: string]: (value: string, has: Test) => string | undefined } = {
    caseless: (value) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
    decimal: readDecimal,
    duration: readDuration,
    instant: readInstant,
    json: readJSON,
};

/** Returns a number as digits and an exponent, without superfluous zeros. */
function readDecimal(value: string): string | undefined {
    const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/.exec(value);
    const [, sign, whole = "", fraction = "", exponent = "0"] = match ?? [];
    if (match === null || whole + fraction === "") {
        return undefined;
    }
    const digits = (whole + fraction).replace(/^0+/, "");
    const short = digits.slice(0, digits.length - trailing(digits));
    if (short === "") {
        return "0";
    }
    return `${sign === "-" ? sign : ""}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}

/** Counts the zeros at the end of digits. An expression would take quadratic time. */
function trailing(digits: string): number {
    let count = 0;
    while (digits[digits.length - 1 - count] === "0") {
        count++;
    }
    return count;
}

/** Returns a duration in months and seconds. A day has 24 hours; months differ in length. */
function readDuration(value: string, has: Test): string | undefined {
    const match = /^P(?:(\d+)W|(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)$/.exec(value);
    if (match === null || !has("duration")) {
        return undefined;
    }
    const [weeks, years, months, days, hours, minutes, seconds] = match.slice(1).map((digits = "0") => BigInt(digits));
    const whole = (weeks! * 7n + days!) * 24n + hours!;
    return `${years! * 12n + months!}M${(whole * 60n + minutes!) * 60n + seconds!}`;
}

/** Returns a timestamp in seconds since 1970, with all digits. */
function readInstant(value: string, has: Test): string | undefined {
    if (!has("date-time")) {
        return undefined;
    }
    const [, time, fraction = "", zone] = /^(.{19})(?:\.(\d+))?(.+)$/.exec(value)!;
    const digits = fraction.slice(0, fraction.length - trailing(fraction));
    return `${Date.parse(`${time}${zone}`) / 1000}${digits === "" ? "" : `.${digits}`}`;
}

/**
 * Returns a JSON text with sorted keys, without spaces, and with numbers as in `readDecimal`. Texts that programs read
 * differently cannot be read: with repeated keys or incomplete characters.
 */
function readJSON(value: string): string | undefined {
    let keys = 0;
    try {
        JSON.parse(value);
        // JSON.parse would round numbers, so they become strings, and strings get a prefix.
        const text = value.replace(/"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g, (token, colon?: string) => {
            keys += colon === undefined ? 0 : 1;
            return token.startsWith('"') ? `"s${token.slice(1)}` : `"n${readDecimal(token) ?? refuse()}"`;
        });
        const canonical = write(JSON.parse(text), 0, () => keys--);
        return keys === 0 ? canonical : undefined;
    } catch {
        return undefined;
    }
}

function refuse(): never {
    throw new SyntaxError();
}

/** The depth of JSON texts to read. It limits recursion. */
const deepest = 500;

function write(value: unknown, depth: number, key: () => void): string {
    if (depth > deepest || (typeof value === "string" && /[\ud800-\udfff\ufffd]/u.test(value))) {
        refuse();
    }
    if (Array.isArray(value)) {
        return `[${value.map((element) => write(element, depth + 1, key)).join()}]`;
    }
    if (typeof value !== "object" || value === null) {
        return JSON.stringify(value);
    }
    const members = Object.entries(value).sort(([a], [b]) => compare(a, b));
    return `{${members.map(([name, member]) => (key(), `${write(name, depth, key)}:${write(member, depth + 1, key)}`)).join()}}`;
}
