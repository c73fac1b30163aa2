import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as lumi from "../dist/index.js";

// The table that both runtimes are tested with. runtime/constraints_test.go describes it.
const groups = JSON.parse(
    readFileSync(new URL("../../../internal/constraint/testdata/cases.json", import.meta.url), "utf8"),
);

class Source extends lumi.Resource {
    constructor() {
        super("test:index:Source", {}, { unknown: lumi.out(lumi.any) });
    }
}

const { unknown } = new Source();

class Thing extends lumi.Resource {
    constructor(args, shape) {
        super("test:index:Thing", args, shape);
    }
}

/** Makes a type of its form in the table. */
function typeOf({ kind, element, key, properties, constraints = [] }) {
    const types = {
        list: () => lumi.list(typeOf(element)),
        map: () => lumi.map(typeOf(element), key && typeOf(key)),
        union: () => {
            const names = Object.keys(properties);
            const shape = Object.entries(properties).map(([name, type], i) => [
                name,
                lumi.optional(typeOf(type), i === 0 ? lumi.exactlyOneOf(...names.slice(1)) : {}),
            ]);
            return lumi.struct(() => Object.fromEntries(shape));
        },
        object: () => {
            const shape = Object.entries(properties).map(([name, type]) => [name, lumi.required(typeOf(type))]);
            return lumi.struct(() => Object.fromEntries(shape));
        },
    };
    return constraints.reduce(lumi.constrained, types[kind]?.() ?? lumi[kind]);
}

/** Makes a value of its form in the table. */
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
    return "$unknown" in form
        ? unknown
        : Object.fromEntries(Object.entries(form).map(([name, value]) => [name, valueOf(value)]));
}

test("constraints mean what they mean to providers", () => {
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
