// The environment, the module, and the configuration of a program.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import { Evaluation } from "../dist/program.js";
import * as lumi from "../dist/index.js";
import { signatures } from "./wire.js";

const names = { environment: "prod", package: "my/shop" };
const { $sig, $secret } = signatures;
const none = "no program is being evaluated; run the program with lumi-program or evaluateProgram";

test("lumi.config throws outside of a program", () => {
    // This test must be the first, since the error differs after a program has ended.
    assert.throws(() => lumi.config({}), { name: "Error", message: `lumi.config: ${none}` });
});

test("the environment and the module are known during an evaluation", async () => {
    const refuse = () => {
        for (const name of ["environment", "moduleName"]) {
            for (const use of [(text) => `${text}`, (text) => text + "", (text) => text.length, JSON.stringify]) {
                assert.throws(() => use(lumi[name]), { name: "Error", message: `lumi.${name}: ${none}` });
            }
        }
    };
    refuse();
    let found;
    await lumi.evaluateProgram(names, () => (found = [lumi.environment, lumi.moduleName]));
    assert.deepEqual(found, ["prod", "my/shop"]);
    refuse();
    await assert.rejects(lumi.evaluateProgram(names, () => Promise.reject(new Error("mine"))), { message: "mine" });
    refuse();
});

test("other copies of the package know the environment, too", async () => {
    const folder = mkdtempSync(join(tmpdir(), "lumi copy "));
    after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    cpSync(new URL("../dist", import.meta.url), join(folder, "dist"), { recursive: true });
    const copy = await import(pathToFileURL(join(folder, "dist/index.js")).href);
    await lumi.evaluateProgram(names, () => assert.equal(copy.environment, "prod"));
    assert.throws(() => copy.environment.length, { message: `lumi.environment: ${none}` });
});

const Size = { Small: "small", Large: "large" };
const declared = {
    replicas: lumi.number,
    size: lumi.enum(() => Size),
    note: lumi.optional(lumi.string),
    "db-zones": lumi.optional(lumi.list(lumi.struct(() => ({ name: lumi.required(lumi.string) })))),
    password: lumi.required(lumi.string, lumi.secretProperty),
};

test("configuration is returned and recorded", async () => {
    class Thing extends lumi.Resource {
        constructor(args) {
            super("test:index:Thing", args, { text: lumi.required(lumi.string) });
        }
    }
    let found;
    const config = { replicas: 3, size: "small", "db-zones": [{ name: "a" }], password: "hush" };
    for (const password of ["hush", lumi.secret("hush")]) {
        const program = () => {
            found = lumi.config(declared);
            new Thing({ text: found.password });
        };
        const graph = await lumi.evaluateProgram(names, program, { config: { ...config, password } });
        const secret = { [$sig]: $secret, value: "hush" };
        assert.deepEqual(graph.config, { ...config, note: null, password: secret });
        assert.deepEqual(Object.values(graph.resources)[0].properties, { text: secret });
        assert.deepEqual({ ...found, password: "hush" }, config);
        assert.throws(() => `${found.password}`, /^TypeError: a secret cannot be turned into a string/);
    }
    assert.deepEqual(Object.keys(await lumi.evaluateProgram(names, () => {})), ["package", "resources"]);
    assert.deepEqual((await lumi.evaluateProgram(names, () => lumi.config({}))).config, {});
});

test("invalid configuration is rejected", async () => {
    const evaluate = (config, declarations = declared) => lumi.evaluateProgram(names, () => lumi.config(declarations), { config });
    const rest = { size: "large", password: "hush" };
    const inner = { pw: lumi.required(lumi.string, lumi.secretProperty) };
    for (const [config, message, declarations] of [
        [rest, "replicas: is required, but missing; add it to config in Lumi.yaml"],
        [{ ...rest, replicas: null }, "replicas: is required, but missing; add it to config in Lumi.yaml"],
        [{ ...rest, replicas: "3" }, 'replicas: expected a number, found a string "3"'],
        [{ ...rest, replicas: 3, replica: 3 }, 'replica: the program declares no such configuration; did you mean "replicas"?'],
        [{ ...rest, replicas: 3, password: 7 }, "password: expected a string, found a number"],
        [{ ...rest, replicas: 3, note: lumi.secret("hush") }, "note: is a secret; declare it with lumi.required(TYPE, lumi.secretProperty)"],
        [
            { size: "big", password: "hush", "db-zones": [{ name: 7 }] },
            "3 arguments are wrong\n  replicas: is required, but missing; add it to config in Lumi.yaml\n" +
                '  size: expected "small" or "large", found a string "big"\n' +
                '  ["db-zones"][0].name: expected a string, found a number 7',
        ],
        [{ db: { pw: "hush" } }, "db: contains a secret; declare the whole value with lumi.secretProperty", { db: lumi.struct(() => inner) }],
        [{}, "a: expected a type such as lumi.string, found a string \"number\"", { a: "number" }],
        [{}, "expected an object with types, found a list", [lumi.string]],
    ]) {
        await assert.rejects(evaluate(config, declarations), { name: "ArgumentError", message: `lumi.config: ${message}` });
    }
    const twice = () => [lumi.config({}), lumi.config({})];
    await assert.rejects(lumi.evaluateProgram(names, twice), {
        message: "lumi.config: the program has already declared its configuration; it may do so only once",
    });
    const undeclared = lumi.evaluateProgram(names, () => {}, { config: { a: 1 } });
    await assert.rejects(undeclared, {
        name: "EvaluationError", message: "error: a: the program declares no configuration; declare it with lumi.config",
    });
});

test("errors in Lumi.yaml have its positions, and other modules' keys are ignored", async () => {
    const at = (line) => ({ file: "/!/Lumi.yaml", line, column: 5 }); // sorted before the path of this file
    const evaluate = (settings, declarations) => {
        const evaluation = new Evaluation(names, settings);
        if (declarations !== undefined) {
            lumi.config(declarations);
        }
        return evaluation.end();
    };
    const caught = (...args) => {
        try {
            evaluate(...args);
        } catch (error) {
            return error.message.replace(/\/[^ ]*environment.test.js:\d+:\d+/g, "here");
        }
        return assert.fail("expected an error");
    };
    const settings = [
        {
            key: "db", value: { port: "x", "a-b": [{}] }, own: true, ...at(1),
            places: [
                { path: ["port"], line: 2, column: 9 }, { path: ["a-b"], line: 1, column: 8 }, { path: ["a-b", 0], line: 1, column: 9 },
            ],
        },
        { key: "other", value: 1, ...at(2) },
        { key: "pw", value: "hush", secret: true, ...at(3) },
        { key: "typo", value: 1, own: true, ...at(4) },
    ];
    const port = { port: lumi.required(lumi.number) };
    const db = lumi.struct(() => ({ ...port, "a-b": lumi.optional(lumi.list(lumi.struct(() => port))) }));
    const note = "\n  here: note: the program declares its configuration here";
    assert.equal(
        caught(settings, { db, pw: lumi.string, count: lumi.number }),
        `/!/Lumi.yaml:1:9: error: db["a-b"][0].port: is required, but missing${note}\n` +
            `/!/Lumi.yaml:2:9: error: db.port: expected a number, found a string "x"${note}\n` +
            `/!/Lumi.yaml:3:5: error: pw: is a secret; declare it with lumi.required(TYPE, lumi.secretProperty)${note}\n` +
            `/!/Lumi.yaml:4:5: error: typo: the program declares no such configuration${note}\n` +
            "here: error: lumi.config: count: is required, but missing; add it to config in Lumi.yaml",
    );
    assert.equal(
        caught(settings.toReversed()),
        ["1:5: error: db", "4:5: error: typo"].map((start) =>
            `/!/Lumi.yaml:${start}: the program declares no configuration; declare it with lumi.config`).join("\n"),
    );
    assert.deepEqual(evaluate(settings.slice(1, 3), { pw: declared.password }).config, { pw: { [$sig]: $secret, value: "hush" } });
    assert.equal(
        caught(undefined, {}),
        "lumi.config: lumi-program does not read configuration from Lumi.yaml; run the program with 'lumi plan'",
    );
});
