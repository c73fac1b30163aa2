import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as lumi from "../dist/index.js";

// The test table is shared with the Go runtime. See runtime/constraints_test.go.
const groups = JSON.parse(
    readFileSync(new URL("../../../internal/constraint/testdata/cases.json", import.meta.url), "utf8"),
);

class Source extends lumi.Resource {
    constructor() {
        super("test:index:Source", {}, { unknown: lumi.out(lumi.any) });
    }
}

const { unknown } = new Source();

class Other extends lumi.Resource {
    constructor(name) {
        super("test:index:Other", {}, {}, undefined, name);
    }
}

class Thing extends lumi.Resource {
    constructor(args, shape) {
        super("test:index:Thing", args, shape);
    }
}

/** Converts a type in the table to a `Type`. */
function typeOf({ kind, element, key, properties, values, constraints = [] }) {
    const types = {
        list: () => lumi.list(typeOf(element)),
        map: () => lumi.map(typeOf(element), key && typeOf(key)),
        enum: () => lumi.enum(() => Object.fromEntries(values.map((value) => [value, value]))),
        asset: () => lumi.asset,
        resource: () => lumi.resource("test:index:Wanted"),
        union: () => {
            const names = Object.keys(properties);
            const shape = Object.entries(properties).map(([name, type], i) => [
                name,
                lumi.optional(typeOf(type), i === 0 ? lumi.exactlyOneOf(...names.slice(1)) : {}),
            ]);
            return lumi.struct(() => Object.fromEntries(shape));
        },
        object: () => {
            const shape = Object.entries(properties).map(([name, type]) => [
                name,
                type.default === undefined
                    ? lumi.required(typeOf(type))
                    : lumi.optional(typeOf(type), { default: type.default }),
            ]);
            return lumi.struct(() => Object.fromEntries(shape));
        },
    };
    return constraints.reduce(lumi.constrained, types[kind]?.() ?? lumi[kind]);
}

/** Converts a value in the table to a program's value. */
function valueOf(form) {
    if (Array.isArray(form)) {
        return form.map(valueOf);
    }
    if (typeof form !== "object" || form === null) {
        return form;
    }
    if ("$secret" in form) {
        return lumi.secret(valueOf(form.$secret));
    }
    if ("$resource" in form) {
        return new Other(form.$resource);
    }
    return "$unknown" in form
        ? unknown
        : Object.fromEntries(Object.entries(form).map(([name, value]) => [name, valueOf(value)]));
}

test("constraints give the same errors as in Go", () => {
    let count = 0;
    for (const { type, secret, cases } of groups) {
        const shape = { p: lumi.required(typeOf(type), secret ? lumi.secretProperty : {}) };
        for (const [value, ...want] of cases) {
            let found = [];
            try {
                new Thing({ p: valueOf(value) }, shape);
            } catch (error) {
                assert.ok(error instanceof lumi.ArgumentError, error);
                found = error.faults.map(({ path, message }) => `${path}: ${message}`);
            }
            assert.deepEqual(found, want, `${JSON.stringify(value)} of ${JSON.stringify(type)}`);
            count++;
        }
    }
    assert.ok(count >= 300, `${count} cases`);
});

/** Returns the faults of a value of a type. */
function faults(type, value) {
    try {
        new Thing({ p: value }, { p: lumi.required(type) });
    } catch (error) {
        return error.message.replace(/^.*?: (?:\d+ arguments are wrong\n {2})?/, "").split("\n  ");
    }
    return [];
}

test("JSON has the same nesting limit as in Go", () => {
    const json = lumi.constrained(lumi.string, { format: "json" });
    const nested = (depth) => "[".repeat(depth) + '"[[["' + "]".repeat(depth);
    assert.deepEqual(faults(json, nested(10_000)), []);
    assert.match(faults(json, nested(10_001))[0], /^p: must be JSON/);
});

test("invalid elements count toward sizes but are not duplicates", () => {
    const numbers = lumi.constrained(lumi.map(lumi.number), { minProperties: 1, keyPattern: "^a" });
    assert.deepEqual(faults(numbers, { b: "1" }), [
        'p.b: expected a number, found a string "1"',
        "p.b: the key must match ^a",
    ]);
    assert.deepEqual(faults(lumi.constrained(lumi.list(numbers), { unique: true }), [{ a: "1" }, { a: "2" }]), [
        'p[0].a: expected a number, found a string "1"',
        'p[1].a: expected a number, found a string "2"',
    ]);
    const list = lumi.constrained(lumi.list(lumi.string), { minItems: 2, unique: true });
    assert.deepEqual(faults(list, [1, 2]), [
        "p[0]: expected a string, found a number 1",
        "p[1]: expected a string, found a number 2",
    ]);
});

test("an unknown format accepts any string", () => {
    assert.deepEqual(faults(lumi.constrained(lumi.string, { format: "hostname" }), "x"), []);
});

test("strings that differ only in spelling are equal", () => {
    const ways = JSON.parse(
        readFileSync(new URL("../../../internal/constraint/testdata/equal.json", import.meta.url), "utf8"),
    );
    const deep = "[".repeat(502) + "]".repeat(502);
    ways.push({ as: "json", equal: [], different: [[deep, `${deep} `]] });
    const both = [0, 1].map((i) => `[${i}]`).join(" and ");
    for (const { as, equal, different } of ways) {
        const list = (element) => ({ p: lumi.required(lumi.constrained(lumi.list(element), { unique: true })) });
        const shape = list(lumi.constrained(lumi.string, { equal: as }));
        for (const pair of equal) {
            assert.throws(() => new Thing({ p: pair }, shape), {
                message: `test:index:Thing: p: must have no equal elements, but ${both} are equal`,
            });
        }
        for (const pair of different) {
            assert.doesNotThrow(() => new Thing({ p: pair }, shape), `${as}: ${pair}`);
        }
    }
});
