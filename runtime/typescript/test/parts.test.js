// Functions whose edge cases are hard to test with programs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFlags, usage } from "../dist/bin/flags.js";
import { compare, isURN } from "../dist/names.js";
import { order } from "../dist/order.js";
import { positionOf, positionsOf } from "../dist/position.js";

/** Returns a small, deterministic random number generator. */
function random(seed) {
    return (below) => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return Math.floor((seed / 2 ** 32) * below);
    };
}

/** Sorts topologically by definition: repeatedly takes the smallest vertex whose dependencies are all taken. */
function slowOrder(dependencies) {
    const taken = [];
    for (;;) {
        const next = dependencies.findIndex(
            (on, i) => !taken.includes(i) && [...on].every((j) => taken.includes(j)),
        );
        if (next < 0) {
            return taken;
        }
        taken.push(next);
    }
}

test("graphs without cycles are ordered", () => {
    const below = random(1);
    for (let run = 0; run < 200; run++) {
        const size = below(12);
        const places = Array.from({ length: size }, (_, i) => i).sort(() => below(3) - 1);
        const dependencies = places.map((place) => new Set(places.filter((other) => other < place && below(4) === 0)));
        // A vertex depends only on vertices with smaller places, so there are no cycles.
        const byNumber = places.map((_, i) => new Set([...dependencies[i]].map((place) => places.indexOf(place))));
        const { sequence, circles } = order(byNumber);
        assert.deepEqual([sequence, circles], [slowOrder(byNumber), []]);
    }
});

test("cycles are found, and the rest is ordered", () => {
    const below = random(2);
    for (let run = 0; run < 500; run++) {
        const size = 1 + below(8);
        const dependencies = Array.from(
            { length: size },
            () => new Set(Array.from({ length: below(3) }, () => below(size))),
        );
        const { sequence, circles } = order(dependencies);
        assert.deepEqual([...sequence].sort((a, b) => a - b), dependencies.map((_, i) => i), "each vertex must occur once");
        assert.equal(circles.length === 0, slowOrder(dependencies).length === size);
        for (const circle of circles) {
            assert.equal(circle[0], Math.min(...circle));
            circle.forEach((i, at) => assert.ok(dependencies[i].has(circle[(at + 1) % circle.length])));
        }
    }
});

test("strings are compared by bytes", () => {
    const strings = ["", "a", "a\u0000", "b", "\u007f", "\u0080", "\ud7ff", "\ue000", "\uffff", "\u{10000}"];
    for (const a of strings) {
        for (const b of strings) {
            assert.equal(Math.sign(compare(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)), `${a} and ${b}`);
        }
    }
});

test("positions are parsed from stacks", () => {
    for (const [frame, file] of [
        ["at f (/app/main.ts:3:14)", "/app/main.ts"],
        ["at /app/main.ts:3:14", "/app/main.ts"],
        ["at async /app/main.ts:3:14", "/app/main.ts"],
        ["at async Promise.all (index 0)"],
        ["at new Foo [as bar] (/a (b)/c d/main.ts:3:14)", "/a (b)/c d/main.ts"],
        ["at file:///a%20b/main.js:3:14", "/a b/main.js"],
        ["at f (file:///C:/app/main.js:3:14)", "C:\\app\\main.js"],
        ["at f (C:\\app\\main.js:3:14)", "C:\\app\\main.js"],
        ["at node:internal/main:3:14"],
        ["at f (node:internal/main:3:14)"],
        ["at new Promise (<anonymous>)"],
        ["at Array.map (<anonymous>:3:14)"],
        ["at f (native)"],
        ["at eval (eval at f (/app/main.ts:3:14), <anonymous>:1:1)"],
    ]) {
        const position = positionOf(`Error: at (x:1:1)\n    ${frame}`);
        assert.deepEqual(position, file && { file, line: 3, column: 14 }, frame);
    }
    assert.equal(positionOf(undefined), undefined);
});

test("positions in packages are a fallback", () => {
    const inPackage = "    at f (/app/node_modules/p/index.js:1:1)\n";
    const own = `    at g (${new URL("../dist/resource.js", import.meta.url)}:2:2)\n`;
    const files = (stack) => positionsOf(stack).map(({ file }) => file);
    const program = "    at /app/a.js:3:3\n    at /app/b.js:4:4";
    assert.deepEqual(files(`Error\n${own}${inPackage}${program}`), ["/app/a.js", "/app/b.js"]);
    assert.deepEqual(files(`Error\n${own}${inPackage}`), ["/app/node_modules/p/index.js"]);
});

test("flags are accepted anywhere before two dashes", () => {
    const flags = {
        help: false,
        version: false,
        environment: undefined,
        package: undefined,
        module: undefined,
        workspaceStdin: false,
        out: "-",
        check: false,
        program: undefined,
        arguments: [],
    };
    for (const [args, expected] of [
        [[], {}],
        [["main.ts", "a", "--out=x", "b", "--help"], { out: "x", help: true, program: "main.ts", arguments: ["a", "b"] }],
        [["main.ts", "--environment", "e", "-", "f"], { environment: "e", program: "main.ts", arguments: ["-", "f"] }],
        [["main.ts", "--", "--out=x", "--", "-y"], { program: "main.ts", arguments: ["--out=x", "--", "-y"] }],
        [["--", "main.ts", "--nope"], { arguments: ["main.ts", "--nope"] }],
        [["network", "--workspace-stdin"], { workspaceStdin: true, program: "network" }],
        [["--check", "network"], { check: true, program: "network" }],
        [["--out", "g.json", "--environment=e", "m.js"], { out: "g.json", environment: "e", program: "m.js" }],
        [["--package", "p", "--module", "m", "--", "--m.js"], { package: "p", module: "m", arguments: ["--m.js"] }],
        [["--out", "-", "m.js"], { program: "m.js" }],
        [["-h"], { help: true }],
        [["--version"], { version: true }],
    ]) {
        assert.deepEqual(parseFlags(args), { ...flags, ...expected }, args.join(" "));
    }
    for (const [args, message] of [
        [["--nope"], 'unknown flag --nope; "lumi-program --help" lists the flags'],
        [["--env", "dev", "m.js"], "unknown flag --env; did you mean --environment?"],
        [["--enviroment=dev", "m.js"], "unknown flag --enviroment; did you mean --environment?"],
        [["-p", "p", "m.js"], "unknown flag -p; did you mean --package?"],
        [["-x", "m.js"], 'unknown flag -x; "lumi-program --help" lists the flags'],
        [
            ["m.js", "--env=prod"],
            "unknown flag --env; did you mean --environment? Otherwise put -- before arguments for the program",
        ],
        [["m.js", "a", "--nope"], "unknown flag --nope; put -- before arguments for the program"],
        [["m.js", "-5"], "unknown flag -5; put -- before arguments for the program"],
        [["m.js", "--out"], "--out takes a value: --out=FILE"],
        [["--environment=", "m.js"], "--environment takes a value: --environment=NAME"],
        [["--module", "", "m.js"], "--module takes a value: --module=NAME"],
        [["--package", "--module=m", "m.js"], "--package takes a value: --package=NAME"],
        [["--package", "--", "m.js"], "--package takes a value: --package=NAME"],
        [["--help=yes"], "--help takes no value"],
    ]) {
        assert.throws(() => parseFlags(args), { exitCode: 2, message }, args.join(" "));
    }
});

test("lines of the help text have at most 120 characters", () => {
    for (const line of usage.split("\n")) {
        assert.ok(line.length <= 120, line);
    }
});

test("references by id are URNs", () => {
    assert.ok(isURN("urn:lumi:#id::lumi:index::aws:ec2:VPC::vpc-0abc"));
    assert.ok(isURN("urn:lumi:#id::lumi:index::aws:ec2/vpc:VPC::arn:aws:x::a b"));
    assert.ok(!isURN("urn:lumi:#id::lumi:index::aws:ec2:VPC::"));
});
