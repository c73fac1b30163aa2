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

// The test table is shared with the Go runtime.
const { properties, cases } = JSON.parse(
    readFileSync(new URL("../../../internal/constraint/testdata/relations.json", import.meta.url), "utf8"),
);

const shape = Object.fromEntries(
    Object.entries(properties).map(([name, relations]) => [
        name,
        lumi.optional(lumi.any, ...Object.entries(relations).map(([rule, names]) => lumi[rule](...names))),
    ]),
);

function valueOf(form) {
    return form?.$unknown ? unknown : form?.$secret !== undefined ? lumi.secret(form.$secret) : form;
}

test("relations give the same errors as in Go", () => {
    assert.ok(cases.length >= 10);
    for (const [given, ...want] of cases) {
        let found = [];
        try {
            new Thing(Object.fromEntries(Object.entries(given).map(([name, form]) => [name, valueOf(form)])), shape);
        } catch (error) {
            assert.ok(error instanceof lumi.ArgumentError, error);
            found = error.faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
        }
        assert.deepEqual(found, want, JSON.stringify(given));
    }
});

test("errors about relations in a nested object have its path", () => {
    const nested = { inner: lumi.list(lumi.struct(() => shape)) };
    assert.throws(() => new Thing({ inner: [{ a: 1, c: 1 }] }, { inner: lumi.required(nested.inner) }), {
        faults: [
            { path: "inner[0].a", message: "cannot be combined with c" },
            { path: "inner[0]", message: "exactly one of d, e, f is required, found none" },
        ],
    });
});
