// Components, which prefix the names of their resources.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";

import * as lumi from "../dist/index.js";
import { refusal } from "./refusal.js";

class Named extends lumi.NamedResource {
    constructor(name, args = {}) {
        super("test:index:Named", name, args, { peer: lumi.optional(lumi.anyResource), arn: lumi.out(lumi.string) });
    }
}

class Unnamed extends lumi.Resource {
    constructor(args = {}) {
        super("test:index:Unnamed", args, { peer: lumi.optional(lumi.anyResource) });
    }
}

const names = { environment: "dev", package: "p" };

/** Returns the types and names in the URNs of a program's resources. */
async function evaluate(program) {
    const { resources } = await lumi.evaluateProgram(names, program);
    return Object.keys(resources).map((urn) => urn.replace("urn:lumi:dev::p:index::test:index:", ""));
}

test("component prefixes resource names and returns the function's result", async () => {
    const graph = await lumi.evaluateProgram(names, () => {
        const site = lumi.component("web", () => {
            const bucket = new Named("main");
            const inner = lumi.component("db", () => new Named("main", { peer: bucket }));
            return { bucket, inner };
        });
        assert.ok(site.bucket instanceof Named);
        new Named("main", { peer: site.inner });
    });
    const urn = (name) => `urn:lumi:dev::p:index::test:index:Named::${name}`;
    assert.deepEqual(graph.resources, {
        [urn("web/main")]: { type: "test:index:Named", properties: { name: "main" } },
        [urn("web/db/main")]: {
            type: "test:index:Named",
            properties: { name: "main", peer: { "#ref": urn("web/main") } },
        },
        [urn("main")]: { type: "test:index:Named", properties: { name: "main", peer: { "#ref": urn("web/db/main") } } },
    });
});

test("unnamed resources are numbered within their component", async () => {
    assert.deepEqual(
        await evaluate(() => {
            new Unnamed();
            lumi.component("a", () => [new Unnamed(), lumi.component("b", () => new Unnamed()), new Unnamed()]);
            new Unnamed();
            lumi.component("a", () => new Unnamed());
        }),
        ["#1", "#2", "a/#1", "a/#2", "a/#3", "a/b/#1"].map((name) => `Unnamed::${name}`),
    );
});

test("component functions may be async and may throw", async () => {
    assert.deepEqual(
        await evaluate(async () => {
            const make = (name) =>
                lumi.component(name, async () => {
                    new Named("first");
                    await setImmediate();
                    return new Named("second");
                });
            const made = [make("a"), make("b")];
            new Named("outside");
            await Promise.all(made);
            assert.throws(() => lumi.component("c", () => assert.fail("thrown")), { message: "thrown" });
            new Named("after");
        }),
        ["a/first", "a/second", "after", "b/first", "b/second", "outside"].map((name) => `Named::${name}`),
    );
});

test("a class may be a component", async () => {
    class Site {
        bucket;
        constructor(name) {
            lumi.component(name, () => (this.bucket = new Named("pages")));
        }
    }
    assert.deepEqual(
        await evaluate(() => [new Site("a"), new Site("b").bucket.arn]),
        ["Named::a/pages", "Named::b/pages"],
    );
});

test("messages contain component names", async () => {
    const evaluation = lumi.evaluateProgram(names, () => {
        lumi.component("web", () => new Named("a"));
        lumi.component("web", () => new Named("a"));
        lumi.component("web", () => {
            const b = new Named("b");
            b.peer = new Unnamed({ peer: b });
        });
    });
    assert.equal((await refusal(evaluation))[0], 'error: test:index:Named "web/a": there is another resource of this type and name');
    const circle = lumi.evaluateProgram(names, () => {
        lumi.component("web", () => {
            const b = new Named("b");
            b.peer = new Unnamed({ peer: b });
        });
    });
    assert.deepEqual((await refusal(circle)).filter((line) => !line.startsWith("  in: ")), [
        'error: test:index:Named "web/b": is part of a dependency cycle',
        '  note: test:index:Named "web/b" refers to test:index:Unnamed web/#1 in peer',
        '  note: test:index:Unnamed web/#1 refers to test:index:Named "web/b" in peer',
    ]);
});

test("component rejects invalid names and functions", () => {
    for (const name of ["", "a/b", "a\n", "\ud800", 1, undefined]) {
        assert.throws(() => lumi.component(name, () => {}), {
            name: "TypeError",
            message: /^lumi\.component: expected a component name without slashes or control characters, found /,
        });
    }
    assert.throws(() => lumi.component("a"), {
        message: 'lumi.component "a": expected a function that constructs resources, found undefined',
    });
});
