// Imports among the files of the package.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { order } from "../dist/order.js";

/** Returns the import cycles among source files, given their texts by name. */
function circlesOf(files) {
    const names = Object.keys(files);
    const imports = names.map((name) => {
        const found = files[name].matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g);
        return new Set([...found].map(([, path]) => names.indexOf(normalize(join(dirname(name), `${path}.ts`)))));
    });
    assert.ok(imports.every((on) => !on.has(-1)), "every imported file must exist");
    return order(imports).circles.map((circle) => circle.map((i) => names[i]));
}

test("source files have no import cycles, including type imports", () => {
    const folder = fileURLToPath(new URL("../src", import.meta.url));
    const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".ts"));
    const texts = names.map((name) => [normalize(name), readFileSync(join(folder, name), "utf8")]);
    assert.ok(texts.length > 20);
    assert.deepEqual(circlesOf(Object.fromEntries(texts)), []);
});

test("circlesOf finds import cycles", () => {
    const circles = circlesOf({
        "a.ts": 'import { b } from "./sub/b.js";\nimport fs from "node:fs";',
        "sub/b.ts": 'export * from "./c.js";',
        "sub/c.ts": 'export type A = import("../a.js").A;',
        "d.ts": 'import type {\n    E,\n} from "./e.js";',
        "e.ts": 'import "./d.js";\nimport "./a.js";',
        "f.ts": 'const d = await import("./d.js");',
    });
    assert.deepEqual(circles, [["a.ts", "sub/b.ts", "sub/c.ts"], ["d.ts", "e.ts"]]);
});
