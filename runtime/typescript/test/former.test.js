import assert from "node:assert/strict";
import { test } from "node:test";

import * as lumi from "../dist/index.js";

const rule = { quota: lumi.optional(lumi.number, lumi.was("limit")) };
const shape = {
    size: lumi.optional(lumi.number, lumi.was("bytes", "length")),
    rules: lumi.optional(lumi.list(lumi.struct(() => rule))),
};
lumi.formerly(shape, "test:index:Memory", "test:index:Buffer");

class Cache extends lumi.Resource {
    constructor(args, options) {
        super("test:index:Cache", args, shape, options);
    }
}

class Store extends lumi.NamedResource {
    constructor(name, args, options) {
        super("test:index:Store", name, args, shape, options);
    }
}

test("errors about former property names contain the new names", () => {
    assert.throws(() => new Cache({ bytes: 1, length: 2, width: 3, rules: [{ limit: 1 }] }), {
        faults: [
            { path: "rules[0].limit", message: "no such property; it was renamed to quota" },
            { path: "bytes", message: "no such property; it was renamed to size" },
            { path: "length", message: "no such property; it was renamed to size" },
            { path: "width", message: "no such property" },
        ],
    });
});

test("resources have aliases for the former tokens of their type", async () => {
    const { resources } = await lumi.evaluateProgram({ environment: "dev", package: "p" }, () => {
        new Cache({});
        new Store("a", {}, { protect: true });
        lumi.component("web", () => new Store("b", {}, { aliases: ["old", "urn:lumi:dev::p:index::x:y:Z::c"] }));
    });
    const urn = (rest) => `urn:lumi:dev::p:index::test:index:${rest}`;
    assert.deepEqual(
        Object.entries(resources).map(([key, { options }]) => [key, options]),
        [
            [urn("Cache::#1"), { aliases: [urn("Memory::#1"), urn("Buffer::#1")] }],
            [urn("Store::a"), { aliases: [urn("Memory::a"), urn("Buffer::a")], protect: true }],
            [
                urn("Store::web/b"),
                {
                    aliases: [
                        "old",
                        "urn:lumi:dev::p:index::x:y:Z::c",
                        ...["Memory::web/b", "Memory::old", "Buffer::web/b", "Buffer::old"].map(urn),
                    ],
                },
            ],
        ],
    );
});
