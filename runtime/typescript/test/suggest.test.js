import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { didYouMean, nearest } from "../dist/suggest.js";

test("suggestions are the same as in Go", () => {
    // The test table is shared with the Go package internal/suggest.
    const table = new URL("../../../internal/suggest/testdata/cases.json", import.meta.url);
    const cases = JSON.parse(readFileSync(table, "utf8"));
    for (const { about, name, names, near } of cases) {
        assert.equal(nearest(name, names) ?? "", near, `${about}: ${name} among ${names}`);
    }
});

test("a suggestion quotes the name", () => {
    assert.equal(didYouMean('a"c', ['a"b']), '; did you mean "a\\"b"?');
    assert.equal(didYouMean("x", ["y"]), "");
});
