// Lumi.yaml, as lumi-program reads it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { parseWorkspace, report } from "../dist/bin/workspace.js";

/** Returns the workspace, or the errors. */
function outcome(content) {
    const { workspace, problems } = parseWorkspace(Buffer.from(content));
    return problems.length > 0 ? report("f", problems).split("\n") : workspace;
}

test("Go and TypeScript read Lumi.yaml alike", () => {
    const table = new URL("../../../deploy/workspace/testdata/cases.json", import.meta.url);
    for (const { text, workspace, errors } of JSON.parse(readFileSync(table, "utf8"))) {
        const { problems, workspace: found } = parseWorkspace(Buffer.from(text));
        const said = problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);
        assert.deepEqual(said, errors ?? [], text);
        if (errors === undefined) {
            assert.deepEqual(found, workspace, text);
        }
    }
});

test("syntax errors have their places, and nothing else is reported", () => {
    const form = 'invalid YAML; align keys, put a space after each colon, close brackets, and quote values with ": "';
    const reserved = "plain value cannot start with reserved character @; put the value in quotes";
    for (const [text, ...lines] of [
        ["package: 'p", "f:1:12: missing closing 'quote"],
        ["a: ]\npakage: p\nb: 'c", 'f:1:4: unexpected "]"'],
        ["environment: dev\n\tpackage: p", "f:2:1: tabs are not allowed as indentation; use spaces"],
        ["package: @p", `f:1:10: ${reserved}`],
        ["package: p\n environment: dev", `f:1:10: ${form}`],
        ["environment: a: b\npackage: p\n  q: r", `f:1:14: ${form}`, `f:2:10: ${form}`],
        ["environment:dev\npackage: p", `f:1:1: ${form}`],
        ["package: p\nenvironment:dev", `f:2:1: ${form}`],
        ["package p\nenvironment: e", `f:1:1: ${form}`],
        ["package: 'p' q", `f:1:14: ${form}`],
        ["a: [b", `f:1:6: ${form}`],
        ["environment: *nowhere", "f:1:1: anchors, aliases and tags are not supported; write the value itself"],
    ]) {
        assert.deepEqual(outcome(text), lines, text);
    }
});

test("no more than ten errors are shown", () => {
    const keys = (n) => outcome(Array.from({ length: n }, (_, i) => `k${i}: v\n`).join(""));
    assert.deepEqual([keys(10).length, keys(11).length, keys(12).length], [10, 11, 11]);
    assert.deepEqual([keys(11)[10], keys(12)[10]], ["f: 1 more error", "f: 2 more errors"]);
});

test("no file exhausts time or memory", () => {
    for (const [text, message] of [
        ["[".repeat(50_000), /^f:1:\d+: nested deeper than 100 levels$/],
        [`a: ${"- ".repeat(50_000)}`, /^f:1:\d+: /],
        ["? ".repeat(50_000), /^f:1:\d+: nested deeper than 100 levels$/],
        ["{a: ".repeat(50_000), /^f:1:\d+: nested deeper than 100 levels$/],
        ["#".repeat(2 ** 18 + 1), /^f: larger than 256 KiB$/],
    ]) {
        assert.match(outcome(text)[0], message, text.slice(0, 10));
    }
    assert.deepEqual(outcome([0x61, 0xff]), ["f: not valid UTF-8"]);
    // Nothing is expanded: these aliases stand for 10 ** 20 strings.
    const bomb = Array.from({ length: 20 }, (_, i) => `b${i + 1}: &b${i + 1} [${`*b${i},`.repeat(10)}]\n`);
    assert.equal(outcome(`b0: &b0 x\n${bomb.join("")}package: p`).length, 11);
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: k${i}.ts`);
    assert.equal(Object.keys(outcome(`modules: {${keys.join(", ").slice(0, 2 ** 18 - 100).replace(/,[^,]*$/, "")}}`).modules).length > 10_000, true);
});
