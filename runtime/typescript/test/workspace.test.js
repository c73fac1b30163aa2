// The parser of Lumi.yaml for use of lumi-program without lumi.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { readWorkspace } from "../dist/bin/workspace.js";

const folder = mkdtempSync(join(tmpdir(), "lumi workspace "));
const file = join(folder, "Lumi.yaml");
after(() => rmSync(folder, { recursive: true }));

/** Reads a workspace from a file with the given text. */
function read(text) {
    writeFileSync(file, text);
    const { file: found, ...workspace } = readWorkspace(folder);
    assert.equal(found, file);
    return workspace;
}

test("lumi-program and lumi read valid files alike", () => {
    const table = new URL("../../../deploy/workspace/testdata/cases.json", import.meta.url);
    for (const { text, workspace } of JSON.parse(readFileSync(table, "utf8"))) {
        if (workspace !== undefined) {
            const { keys, inventories, uniqueNames, histories, state, project, plugins, provisioners, models, ...ours } = workspace;
            const { models: found, ...others } = read(text);
            assert.deepEqual(others, ours, text);
            assert.deepEqual(Object.keys(found ?? {}), Object.keys(models ?? {}), text);
        }
    }
});

test("lumi-program ignores other keys", () => {
    assert.deepEqual(read("plugins: 7\nkeys: &a {a: *a}\n7: {}\n? [x]\nenvironment: dev"), { environment: "dev" });
});

const invalid = 'invalid YAML; align keys, put a space after each colon, close brackets, and quote values with ": "';

test("errors have positions", () => {
    for (const [text, ...problems] of [
        ["package: 'p", `1:12: ${invalid}`],
        ["a: ]\nb: 'c", `1:4: ${invalid}`],
        ["package: p\nenvironment:dev", `2:1: ${invalid}`],
        ["environment: dev\n\tpackage: p", "2:1: invalid YAML: this is a tab; use spaces"],
        ["package: p\nmodules: {a: b, a: c}", "2:17: this key is already set; remove one of the two"],
        ["package: p\n---\npackage: q", "2:1: unexpected second YAML document; the file must contain only one"],
        ["- package: p", '1:1: expected lines such as "package: my/cluster", got a list'],
        ["# p\npackage", '2:1: expected lines such as "package: my/cluster", got a string'],
        [
            "package: 7\nprogram: [a.ts]\nmodules: true\nenvironment: {a: b}\nenvironments: dev",
            "1:10: package must be a string, got a number; write package: NAME",
            "2:10: program must be a string, got a list; write program: FILE",
            "3:10: modules must be an object, got a boolean; write modules: {NAME: FILE}",
            "4:14: environment must be a string, got an object; write environment: NAME",
            "5:15: environments must be an object, got a string; write environments: {NAME: {}}",
        ],
        [
            "{🙂: &x y, package: *x, modules: {a: , b: 7}, environment: ~}",
            "1:20: package must be a string, got an alias; write package: NAME",
            "1:34: modules.a has no value; write a: FILE",
            "1:42: modules.b must be a string, got a number; write b: FILE",
            "1:46: environment has no value; write environment: NAME",
        ],
    ]) {
        assert.throws(() => read(text), ({ message, exitCode }) => {
            assert.equal(exitCode, 2);
            assert.deepEqual(message.split("\n").map((line) => line.replace(`${file}:`, "")), problems, text);
            return true;
        });
    }
});

test("brackets nested too deeply are an error", () => {
    assert.throws(() => read("[".repeat(20_000)), ({ message }) => message.endsWith(invalid));
});
