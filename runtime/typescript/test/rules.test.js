import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as lumi from "../dist/index.js";

class Thing extends lumi.Resource {
    constructor(args, shape) {
        super("test:index:Thing", args, shape);
    }
}

const { unknown } = new Thing({}, { unknown: lumi.out(lumi.any) });

// The test table of both runtimes.
const table = JSON.parse(
    readFileSync(new URL("../../../internal/rule/testdata/cases.json", import.meta.url), "utf8"),
);

const kinds = {
    boolean: lumi.boolean,
    number: lumi.number,
    string: lumi.string,
    list: lumi.list(lumi.string),
    map: lumi.map(lumi.string),
};

function shapeOf(form) {
    return Object.fromEntries(
        Object.entries(form).map(([name, kind]) => [
            name,
            lumi.optional(typeof kind === "string" ? kinds[kind] : lumi.struct(() => shapeOf(kind))),
        ]),
    );
}

function valueOf(form) {
    if (Array.isArray(form)) {
        return form.map(valueOf);
    }
    if (typeof form !== "object" || form === null) {
        return form;
    }
    if (form.$unknown) {
        return unknown;
    }
    return form.$secret === undefined
        ? Object.fromEntries(Object.entries(form).map(([name, part]) => [name, valueOf(part)]))
        : lumi.secret(valueOf(form.$secret));
}

function faultsOf(args, shape) {
    try {
        new Thing(args, shape);
    } catch (error) {
        assert.ok(error instanceof lumi.ArgumentError, error);
        return error.faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    }
    return [];
}

test("rules are enforced as by providers", () => {
    assert.ok(table.cases.length >= 20);
    for (const { rule, values } of table.cases) {
        const shape = lumi.ruled(shapeOf(table.shape), ["fails", rule]);
        for (const [given, ...want] of values) {
            const found = faultsOf(valueOf(given), shape);
            assert.deepEqual(found, want[0] === "holds" ? [] : want, `${JSON.stringify(rule)} of ${JSON.stringify(given)}`);
        }
    }
});

test("each broken rule is an error at the path of its object", () => {
    const inner = lumi.ruled(
        { a: lumi.optional(lumi.number) },
        ["a is too small", [">", ["get", "a"], 1]],
        ["a is odd", ["!=", ["get", "a"], 1]],
    );
    const shape = { list: lumi.required(lumi.list(lumi.struct(() => inner))) };
    assert.deepEqual(faultsOf({ list: [{ a: 2 }, { a: 1 }, {}] }, shape), [
        "list[1]: a is too small",
        "list[1]: a is odd",
    ]);
    assert.deepEqual(faultsOf({ list: lumi.secret([{ a: 0 }]) }, shape), ["list[0]: a is too small"]);
});

test("rules are checked again when a resource is evaluated", () => {
    const shape = lumi.ruled({ a: lumi.optional(lumi.number) }, ["a is too small", [">", ["get", "a"], 1]]);
    const thing = new Thing({ a: 2 }, shape);
    thing.a = 1;
    assert.throws(() => lumi.evaluate(thing), { faults: [{ path: "", message: "a is too small" }] });
});
