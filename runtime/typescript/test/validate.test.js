import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";

import * as lumi from "../dist/index.js";

/** A resource with the given arguments and shape. */
class Thing extends lumi.Resource {
    constructor(args, shape) {
        super("test:index:Thing", args, shape);
    }
}

const other = new Thing({}, { id4: lumi.out(lumi.string) });

/** Constructs a resource with one property and returns its value. */
function give(type, value, ...options) {
    return new Thing({ p: value }, { p: lumi.optional(type, ...options) }).p;
}

/** Asserts that a value is rejected with exactly the given messages. */
function refuses(type, value, ...messages) {
    assert.throws(
        () => give(type, value),
        (error) => {
            assert.ok(error instanceof lumi.ArgumentError, error);
            assert.deepEqual(
                error.faults.map(({ path, message }) => `${path}: ${message}`),
                messages,
            );
            return true;
        },
    );
}

/** A recursive shape. */
const node = { next: lumi.optional(lumi.struct(() => node)), n: lumi.optional(lumi.number) };

test("numbers must be finite", () => {
    assert.equal(give(lumi.number, -0), -0);
    assert.equal(give(lumi.number, Number.MAX_VALUE), Number.MAX_VALUE);
    refuses(lumi.number, NaN, "p: expected a number, found NaN");
    refuses(lumi.number, -Infinity, "p: expected a number, found -Infinity");
    refuses(lumi.number, 5n, "p: expected a number, found a bigint 5");
    refuses(lumi.number, "5", 'p: expected a number, found a string "5"');
    refuses(lumi.any, [NaN], "p[0]: expected a number, found NaN");
});

test("strings must be valid Unicode other than the placeholder for unknown values", () => {
    assert.equal(give(lumi.string, "𝒳\u0000"), "𝒳\u0000");
    refuses(lumi.string, "\ud800", "p: is not valid Unicode: contains an unpaired surrogate");
    const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    refuses(lumi.any, { a: unknown }, "p.a: is the reserved string for unknown values");
    refuses(lumi.map(lumi.string), { "\udc00": "" },
        String.raw`p["\udc00"]: is not valid Unicode: contains an unpaired surrogate`);
    refuses(lumi.number, "x".repeat(100), `p: expected a number, found a string "${"x".repeat(80)}…"`);
});

test("errors describe values of other kinds", () => {
    const found = [
        [true, "a boolean true"],
        [() => 1, "a function"],
        [Symbol("s"), "a symbol"],
        [[], "a list"],
        [{}, "an object"],
        [new Date(0), "an instance of Date"],
        [new Map(), "an instance of Map"],
        [new (class { static name = Symbol("s"); })(), "an object with its own prototype"],
        [Promise.resolve(), "a promise, which must be awaited first"],
        [Object.create({}), "an instance of Object"],
        [lumi.Asset.fromText(""), "an asset"],
        [lumi.Archive.fromFile("a"), "an archive"],
        [other, "a resource test:index:Thing"],
    ];
    for (const [value, what] of found) {
        refuses(lumi.number, value, `p: expected a number, found ${what}`);
    }
});

test("any accepts JSON, assets, and archives", () => {
    const asset = lumi.Asset.fromFile("a");
    const given = { a: [1, "2", true, null, { b: null, c: undefined }], asset };
    assert.deepEqual(give(lumi.any, given), { a: [1, "2", true, null, { b: null }], asset });
    for (const [value, what] of [
        [undefined, "undefined"],
        [() => 1, "a function"],
        [Symbol("s"), "a symbol"],
        [1n, "a bigint 1"],
        [new Date(0), "an instance of Date"],
        [other, "a resource test:index:Thing; use one of its outputs"],
    ]) {
        refuses(lumi.any, [value], `p[0]: expected a JSON value, found ${what}`);
    }
    refuses(lumi.any, { "4dabf18193072939515e22adb298388d": 1 },
        'p["4dabf18193072939515e22adb298388d"]: is a reserved key');
});

test("lists must not have holes", () => {
    const sparse = [1];
    sparse[4_000_000_000] = 2;
    refuses(lumi.list(lumi.number), sparse, "p[1]: is a hole in the list");
    refuses(lumi.any, [, 1], "p[0]: is a hole in the list");
    refuses(lumi.list(lumi.any), [null], "p[0]: an element of a list cannot be null");
    refuses(lumi.list(lumi.any), [undefined], "p[0]: an element of a list cannot be undefined");
});

test("null and undefined mean absent in properties and maps", () => {
    assert.equal(give(lumi.number, null), undefined);
    assert.deepEqual(give(lumi.map(lumi.number), { a: undefined, b: null, c: 1 }), { c: 1 });
    assert.throws(() => new Thing({ p: null }, { p: lumi.required(lumi.any) }), /p: is required, but missing$/);
    assert.doesNotThrow(() => new Thing({ q: undefined }, {}));
});

test("cyclic and deeply nested values are rejected", () => {
    const circle = { list: [] };
    circle.list.push(circle);
    refuses(lumi.any, circle, "p.list[0]: contains itself");
    const ring = { next: {} };
    ring.next.next = ring;
    refuses(lumi.struct(() => node), ring, "p.next.next: contains itself");
    const twice = [1];
    assert.deepEqual(give(lumi.any, [twice, twice]), [[1], [1]]);

    let deep = {};
    for (let i = 0; i < 100_000; i++) {
        deep = { a: deep };
    }
    refuses(lumi.any, deep, `p${".a".repeat(99)}: is nested deeper than 100 levels`);
});

test("keys that are special in JavaScript are ordinary keys", () => {
    const given = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": 3}');
    for (const type of [lumi.any, lumi.map(lumi.any)]) {
        const copy = give(type, given);
        assert.deepEqual(Object.keys(copy), ["__proto__", "constructor", "toString"]);
        assert.equal(Object.getPrototypeOf(copy), Object.prototype);
    }
    assert.equal({}.x, undefined);
    refuses(lumi.struct(() => node), JSON.parse('{"__proto__": {"n": 1}, "toString": 1}'),
        "p.__proto__: no such property", "p.toString: no such property");
    // Inherited properties are ignored.
    assert.deepEqual(give(lumi.struct(() => ({ toString: lumi.optional(lumi.string) })), {}), {});
});

test("objects of another realm or without a prototype are plain", () => {
    const type = lumi.map(lumi.list(lumi.number));
    assert.deepEqual(give(type, vm.runInNewContext("({ a: [1] })")), { a: [1] });
    assert.deepEqual(give(type, Object.assign(Object.create(null), { a: [1] })), { a: [1] });
});

test("an object that inherits properties is not plain", () => {
    const parent = Object.assign(Object.create(null), { n: 1 });
    refuses(lumi.struct(() => node), Object.create(parent),
        "p: expected an object, found an object with its own prototype");
});

test("each property is read once", () => {
    let reads = 0;
    const counting = {
        get n() {
            return ++reads;
        },
    };
    assert.deepEqual(give(lumi.struct(() => node), counting), { n: 1 });
    assert.equal(reads, 1);
});

test("keys inside of secrets are secret", () => {
    assert.throws(() => give(lumi.struct(() => node), { hush: 1, nxt: 1 }, lumi.secretProperty), (error) => {
        assert.deepEqual(error.faults, [
            { path: "p[…]", message: "no such property" },
            { path: "p[…]", message: 'no such property' },
        ]);
        return true;
    });
});

test("errors suggest similar names", () => {
    const values = lumi.enum(() => ({ A: "dedicated", B: "default" }));
    const expected = 'p: expected "dedicated" or "default", found a string';
    refuses(values, "dedicted", `${expected} "dedicted"; did you mean "dedicated"?`);
    refuses(values, "Default", `${expected} "Default"; did you mean "default"?`);
    refuses(values, "defualt", `${expected} "defualt"; did you mean "default"?`);
    refuses(values, "host", `${expected} "host"`);
    refuses(values, "", `${expected} ""`);
    refuses(lumi.enum(() => ({ A: "only" })), 1, 'p: expected "only", found a number 1');
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`K${i}`, `v${i}`]));
    refuses(lumi.enum(() => many), "x",
        'p: expected "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11" or 288 others, ' +
            'found a string "x"');
});

test("the prototype of an enum contributes no values", () => {
    refuses(lumi.enum(() => ({ A: "a" })), "toString", 'p: expected "a", found a string "toString"');
});
