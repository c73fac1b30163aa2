// Resource options, the last argument of constructors.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as lumi from "../dist/index.js";

const rule = { port: lumi.required(lumi.number), id: lumi.out(lumi.string) };
const shape = {
    tags: lumi.optional(lumi.map(lumi.string)),
    rules: lumi.optional(lumi.list(lumi.struct(() => rule))),
    level: lumi.optional(lumi.enum(() => ({ Low: "low" }))),
    data: lumi.optional(lumi.any),
    input: lumi.optional(lumi.string, lumi.in),
    peer: lumi.optional(lumi.anyResource),
    arn: lumi.out(lumi.string),
};

class Named extends lumi.NamedResource {
    constructor(name, args, options) {
        super("test:index:Named", name, args, shape, options);
    }
}

class Unnamed extends lumi.Resource {
    constructor(args, options) {
        super("test:index:Unnamed", args, shape, options);
    }
}

const names = { environment: "dev", package: "p" };
const urn = (name) => `urn:lumi:dev::p:index::test:index:Named::${name}`;

const notURN = 'is not a URN such as "urn:lumi:dev::shop:index::aws:s3:Bucket::logs"';

/** Returns the faults of the options of a resource. */
function faults(options, args = {}) {
    try {
        new Named("n", args, options);
        return [];
    } catch (error) {
        assert.ok(error instanceof lumi.ArgumentError, error);
        return error.faults.map(({ path, message }) => `${path}: ${message}`);
    }
}

test("invalid options are all reported", () => {
    assert.deepEqual(
        faults(
            {
                protct: true,
                protect: "yes",
                dependsOn: [new Unnamed(), "urn:lumi:x", lumi.id(new Unnamed())],
                aliases: ["", "old", "a\nb", "urn:x", "urn:lumi:dev::p:index::a:b:c::", urn("old")],
                import: "",
                timeouts: { create: "10 min", delet: "1s", update: lumi.urn(new Unnamed()) },
            },
            { tags: 1 },
        ),
        [
            "tags: expected an object, found a number 1",
            'options.dependsOn[1]: expected a resource, found a string "urn:lumi:x"',
            "options.dependsOn[2]: expected a resource, found an output; pass the resource itself",
            'options.protect: expected a boolean, found a string "yes"',
            "options.timeouts.update: must not be an output: it must be known before any resource exists",
            'options.timeouts.delet: no such property; did you mean "delete"?',
            'options.protct: no such option; did you mean "protect"?',
            'options.aliases[0]: expected a former name or URN, found a string ""',
            'options.aliases[2]: expected a former name or URN, found a string "a\\nb"',
            `options.aliases[3]: a string "urn:x" ${notURN}`,
            `options.aliases[4]: a string "urn:lumi:dev::p:index::a:b:c::" ${notURN}`,
            'options.import: expected an id, found a string ""',
            'options.timeouts.create: expected a duration such as "90s", "10m" or "1h30m", found a string "10 min"',
        ],
    );
    assert.deepEqual(faults("options"), ['options: expected an object with options, found a string "options"']);
    assert.deepEqual(faults({ dependsOn: new Unnamed() }), [
        "options.dependsOn: expected a list, found a resource test:index:Unnamed",
    ]);
    assert.deepEqual(faults({ dependsOn: [undefined] }), [
        "options.dependsOn[0]: an element of a list cannot be undefined",
    ]);
    assert.throws(() => new Unnamed({}, { protect: 1 }), {
        name: "ArgumentError",
        message: "test:index:Unnamed: options.protect: expected a boolean, found a number 1",
    });
});

test("options among the arguments are rejected", () => {
    assert.deepEqual(faults(undefined, { tags: {}, protect: true, protct: true, tgas: {} }), [
        "protct: no such property",
        "protect: is an option; pass options as a separate object after the arguments",
        'tgas: no such property; did you mean "tags"?',
    ]);
    // Arguments in place of options cause only one error.
    assert.throws(() => new Unnamed("name", { tags: {} }), {
        message:
            "test:index:Unnamed: expected an object with the arguments as the only argument (resources of this " +
            'type take no name), found a string',
    });
});

test("paths must refer to settable properties", () => {
    const right = ["name", "tags", "tags.env", 'tags["a b"]', "tags[*]", "rules[2].port", "rules[*].port", "level"];
    right.push('tags["*"]', "tags.*x", "data.x[3].y[*]", "input", "peer");
    assert.deepEqual(faults({ ignoreChanges: right, replaceOnChanges: right }), []);
    for (const [path, message] of [
        ["tgas.env", 'tgas: no such property; did you mean "tags"?'],
        ["rules[0].prt", 'rules[0].prt: no such property; did you mean "port"?'],
        ["rules.port", "there is no port in rules, a list"],
        ["tags[0]", "there is no [0] in tags, an object"],
        ["tags.a.b", "there is no b in tags.a, a string"],
        ["level.x", "there is no x in level, a string"],
        ["peer.arn", "there is no arn in peer, a resource"],
        ["[*]", "there is no [*] in an object"],
        ["arn", "arn: is set by the provider and cannot be changed by a program"],
        ["rules[*].id", "rules[*].id: is set by the provider and cannot be changed by a program"],
        ["tags[", 'a string "tags[" is not a path such as "tags.env", "rules[2].port" or "rules[*].port"'],
        ["tags.*", 'a string "tags.*" is not a path such as "tags.env", "rules[2].port" or "rules[*].port"'],
        ["tags.a b", 'a string "tags.a b" is not a path such as "tags.env", "rules[2].port" or "rules[*].port"'],
        ["", 'a string "" is not a path such as "tags.env", "rules[2].port" or "rules[*].port"'],
    ]) {
        assert.deepEqual(faults({ ignoreChanges: ["tags", path] }), [`options.ignoreChanges[1]: ${message}`]);
        assert.deepEqual(faults({ replaceOnChanges: [path] }), [`options.replaceOnChanges[0]: ${message}`]);
    }
    assert.throws(() => new Unnamed({}, { ignoreChanges: ["name"] }), /ignoreChanges\[0\]: name: no such property/);
});

test("durations consist of whole hours, minutes, and seconds", () => {
    for (const create of ["1s", "90s", "10m", "1h", "1h30m", "1h0m5s", "100h"]) {
        assert.deepEqual(faults({ timeouts: { create } }), []);
    }
    for (const create of ["", "0s", "0h0m", "1", "s", "1.5h", "5m1h", "-1s", "1m 5s", "1ms", "10000000s"]) {
        assert.equal(faults({ timeouts: { create } }).length, 1, create);
    }
});

test("a graph omits default options and sorts keys", async () => {
    const graph = await lumi.evaluateProgram(names, () => {
        const z = new Named("z");
        const list = ["tags.env"];
        new Named("a", {}, {
            timeouts: { delete: "1m", create: undefined },
            replaceOnChanges: ["rules[*]"],
            retainOnDelete: true,
            protect: true,
            import: "i-1",
            ignoreChanges: list,
            dependsOn: [z],
            deleteBeforeReplace: true,
            aliases: ["old", urn("older")],
        });
        list.push("wrong");
        new Named("b", {}, { protect: false, dependsOn: [], timeouts: {}, import: undefined, aliases: null });
        new Unnamed({}, { protect: true });
        new Unnamed({}, { deleteBeforeReplace: false });
    });
    assert.deepEqual(graph.resources[urn("#2").replace("Named", "Unnamed")].options, { deleteBeforeReplace: false });
    assert.deepEqual(Object.keys(graph.resources).slice(0, 3), ["b", "z", "a"].map(urn));
    assert.deepEqual(Object.keys(graph.resources[urn("b")]), ["type", "properties"]);
    assert.equal(
        lumi.formatGraph({ package: "p", resources: { a: graph.resources[urn("a")] } }),
        `{
  "package": "p",
  "resources": {
    "a": {
      "type": "test:index:Named",
      "options": {
        "aliases": [
          "old",
          "${urn("older")}"
        ],
        "deleteBeforeReplace": true,
        "dependsOn": [
          { "#ref": "${urn("z")}" }
        ],
        "ignoreChanges": [
          "tags.env"
        ],
        "import": "i-1",
        "protect": true,
        "replaceOnChanges": [
          "rules[*]"
        ],
        "retainOnDelete": true,
        "timeouts": {
          "delete": "1m"
        }
      },
      "properties": {
        "name": "a"
      }
    }
  }
}
`,
    );
});

test("a cycle may include options", async () => {
    await assert.rejects(
        lumi.evaluateProgram(names, () => {
            const a = new Named("a");
            const b = new Named("b", {}, { dependsOn: [a] });
            a.data = b.arn;
        }),
        (error) => {
            assert.deepEqual(error.problems[0].notes.map(({ message }) => message), [
                'test:index:Named "a" refers to test:index:Named "b" in data',
                'test:index:Named "b" refers to test:index:Named "a" in options.dependsOn',
            ]);
            return true;
        },
    );
});
