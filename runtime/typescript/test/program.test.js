import assert from "node:assert/strict";
import { test } from "node:test";

import * as lumi from "../dist/index.js";
import { refusal } from "./refusal.js";

const names = { environment: "dev", package: "my/cluster" };
const urn = (type, name) => `urn:lumi:dev::my/cluster:index::test:index:${type}::${name}`;

const login = {
    user: lumi.required(lumi.string),
    password: lumi.required(lumi.string, lumi.secretProperty),
};
const shape = {
    text: lumi.optional(lumi.string),
    peer: lumi.optional(lumi.anyResource),
    peers: lumi.optional(lumi.map(lumi.list(lumi.anyResource))),
    login: lumi.optional(lumi.struct(() => login)),
    logins: lumi.optional(lumi.list(lumi.map(lumi.struct(() => login)))),
    token: lumi.optional(lumi.any, lumi.secretProperty),
    asset: lumi.optional(lumi.asset),
    archive: lumi.optional(lumi.archive),
    data: lumi.optional(lumi.any),
    arn: lumi.out(lumi.string),
};

class Named extends lumi.NamedResource {
    constructor(name, args) {
        super("test:index:Named", name, args, shape);
    }
}

class Unnamed extends lumi.Resource {
    constructor(args) {
        super("test:index:Unnamed", args, shape);
    }
}

/** Evaluates a program and returns the properties of its resources by URN. */
async function resources(program) {
    const graph = await lumi.evaluateProgram(names, program);
    return Object.entries(graph.resources).map(([key, { properties }]) => [key, properties]);
}

test("a program evaluates to its resources", async () => {
    const graph = await lumi.evaluateProgram(names, () => new Named("a", { text: "t" }));
    assert.equal(
        JSON.stringify(graph),
        `{"package":"my/cluster","resources":{"${urn("Named", "a")}":` +
            '{"type":"test:index:Named","properties":{"name":"a","text":"t"}}}}',
    );
    assert.deepEqual(await lumi.evaluateProgram(names, () => {}), { package: "my/cluster", resources: {} });
});

test("the module is part of URNs", async () => {
    const graph = await lumi.evaluateProgram({ ...names, module: "web/front" }, () => new Named("a", {}));
    assert.deepEqual(Object.keys(graph.resources), ["urn:lumi:dev::my/cluster:web/front::test:index:Named::a"]);
});

test("names that are invalid in URNs are rejected", async () => {
    for (const [wrong, message] of [
        [{ environment: "a b" }, 'environment "a b": must be a word without colons or spaces'],
        [{ environment: "" }, 'environment "": must be a word without colons or spaces'],
        [
            { package: "My" },
            'package "My": must be words joined by /, each a lowercase letter followed by lowercase letters, ' +
                "digits, -, or _",
        ],
        [{ module: "a/../b" }, 'module "a/../b": must be folder names joined by /'],
        [{ module: "a:b" }, 'module "a:b": must be folder names joined by /'],
    ]) {
        await assert.rejects(lumi.evaluateProgram({ ...names, ...wrong }, () => {}), { name: "TypeError", message });
    }
});

test("unnamed resources are numbered by type, in the order of construction", async () => {
    class Other extends lumi.Resource {
        constructor() {
            super("test:index:Other", {}, {});
        }
    }
    const found = await resources(() => {
        const second = [new Unnamed({ text: "1" }), new Other(), new Unnamed({ text: "2" })][2];
        new Unnamed({ peer: second });
    });
    assert.deepEqual(found, [
        [urn("Other", "#1"), {}],
        [urn("Unnamed", "#1"), { text: "1" }],
        [urn("Unnamed", "#2"), { text: "2" }],
        [urn("Unnamed", "#3"), { peer: { "#ref": urn("Unnamed", "#2") } }],
    ]);
});

test("nested resources and outputs become references", async () => {
    const [, [, properties]] = await resources(() => {
        const a = new Named("a", {});
        new Named("b", { text: a.arn, peers: { x: [a], y: [] }, data: { deep: [lumi.id(a)] }, token: lumi.urn(a) });
    });
    const ref = { "#ref": urn("Named", "a") };
    assert.deepEqual(properties, {
        name: "b",
        text: { ...ref, property: "arn" },
        peers: { x: [ref], y: [] },
        token: {
            "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
            value: { ...ref, property: "urn" },
        },
        data: { deep: [{ ...ref, property: "id" }] },
    });
});

test("secrets, assets, and archives are signed", async () => {
    const signed = (signature, content) => ({ "4dabf18193072939515e22adb298388d": signature, ...content });
    const secret = (value) => signed("1b47061264138c4ac30d75fd1eb44270", { value });
    const asset = (content) => signed("c44067f5952c0a294b673a41bacd8c17", content);
    const archive = (content) => signed("0def7320c3a5731c473e5ecbe6d01bc7", content);
    const [[, properties]] = await resources(() => {
        new Named("a", {
            login: { user: "u", password: "p" },
            logins: [{ x: { user: "u", password: "q" } }],
            token: { deep: [1] },
            asset: lumi.Asset.fromFile("f"),
            archive: lumi.Archive.fromAssets({
                "a.txt": lumi.Asset.fromText(""),
                "b": lumi.Archive.fromURI("https://example.com/b.zip"),
                "#ref": lumi.Archive.fromFile("c"),
            }),
            data: [lumi.Asset.fromURI("file:///d"), null, false],
        });
    });
    assert.deepEqual(properties, {
        name: "a",
        login: { user: "u", password: secret("p") },
        logins: [{ x: { user: "u", password: secret("q") } }],
        token: secret({ deep: [1] }),
        asset: asset({ path: "f" }),
        archive: archive({
            assets: {
                "a.txt": asset({ text: "" }),
                "b": archive({ uri: "https://example.com/b.zip" }),
                "#ref": archive({ path: "c" }),
            },
        }),
        data: [asset({ uri: "file:///d" }), null, false],
    });
});

test("references use another key if data contains it", async () => {
    const program = () => new Named("b", { data: [{ "#ref2": 0 }, { x: { "#ref": "y" } }], peer: new Named("a", {}) });
    const graph = await lumi.evaluateProgram(names, program);
    assert.deepEqual(Object.keys(graph), ["ref", "package", "resources"]);
    assert.equal(graph.ref, "#ref3");
    assert.deepEqual(graph.resources[urn("Named", "b")].properties, {
        name: "b",
        peer: { "#ref3": urn("Named", "a") },
        data: [{ "#ref2": 0 }, { x: { "#ref": "y" } }],
    });
});

test("dependencies come first, then URN order", async () => {
    const found = await resources(() => {
        const z = new Named("z", {});
        new Named("c", {});
        new Named("\u{1f600}", {});
        new Named("\ufffd", {});
        new Named("a", { peer: z });
        new Named("b", { peers: { x: [z, z] }, text: z.arn });
    });
    assert.deepEqual(
        found.map(([key]) => key),
        ["c", "z", "a", "b", "\ufffd", "\u{1f600}"].map((name) => urn("Named", name)),
    );
});

test("the graph does not depend on the order of construction of named resources", async () => {
    const make = { a: () => new Named("a", {}), b: () => new Named("b", { text: "1" }), c: () => new Named("c", {}) };
    const of = async (order) =>
        JSON.stringify(await lumi.evaluateProgram(names, () => order.forEach((name) => make[name]())));
    assert.equal(await of(["c", "a", "b"]), await of(["b", "c", "a"]));
});

test("the data key __proto__ is an ordinary key", async () => {
    const data = JSON.parse('{"__proto__":{"x":1}}');
    const graph = await lumi.evaluateProgram(names, () => new Named("a", { data }));
    assert.match(JSON.stringify(graph), /"data":\{"__proto__":\{"x":1\}\}/);
});

test("properties are read after the program has ended", async () => {
    const [[, properties]] = await resources(async () => {
        const a = new Named("a", { text: "early", data: 1 });
        await null;
        a.text = "late";
        a.data = undefined;
    });
    assert.deepEqual(properties, { name: "a", text: "late" });
});

test("assigned values are checked again", async () => {
    const error = await refusal(
        lumi.evaluateProgram(names, () => {
            const a = new Named("a", {});
            a.text = 5;
            a.login = { user: "u", password: 6 };
            new Unnamed({}).peer = "x";
        }),
    );
    assert.deepEqual(error, [
        'error: test:index:Named "a": 2 arguments are wrong\n  text: expected a string, found a number 5\n' +
            "  login.password: expected a string, found a number",
        '  in: new Named("a", {});',
        'error: test:index:Unnamed: peer: expected a resource, found a string "x"',
        '  in: new Unnamed({}).peer = "x";',
    ]);
});

test("assignments to unknown properties are rejected", async () => {
    const error = await refusal(
        lumi.evaluateProgram(names, () => {
            const a = new Named("a", {});
            a.txet = "x";
            a.text = 5;
            Object.assign(a, { unlike: true, pears: { x: [] } });
            a.login = { user: "u", pasword: "p" };
            Object.defineProperty(new Unnamed({}), "tetx", { value: "x", enumerable: true });
            new Proxy(new Unnamed({}), {}).txt = "x";
        }),
    );
    assert.deepEqual(error, [
        'error: test:index:Named "a": 6 arguments are wrong\n  text: expected a string, found a number 5\n' +
            "  login.password: is required, but missing\n" +
            '  login.pasword: no such property; did you mean "password"?\n' +
            '  pears: no such property; did you mean "peers"?\n  txet: no such property; did you mean "text"?\n  unlike: no such property',
        '  in: new Named("a", {});',
        'error: test:index:Unnamed: tetx: no such property; did you mean "text"?',
        '  in: new Unnamed({}), "tetx", { value: "x", enumerable: true });',
        'error: test:index:Unnamed: txt: no such property; did you mean "text"?',
        "  in: new Unnamed({}), {}).txt = \"x\";",
    ]);
});

test("properties with symbols as keys are ignored", async () => {
    const [[, properties]] = await resources(() => {
        Object.assign(new Named("a", {}), { [Symbol("text")]: 1 });
    });
    assert.deepEqual(properties, { name: "a" });
});

test("absent values do not count as assigned", async () => {
    const [[, properties]] = await resources(() => {
        const a = new Named("a", {});
        a.txet = undefined;
        a.tetx = null;
        a.unlike = 1;
        delete a.unlike;
        a.__proto__ = Unnamed.prototype;
    });
    assert.deepEqual(properties, { name: "a" });
});

test("a class may add fields to a class of resources", async () => {
    class Mine extends Named {
        txet = 1;
        #hidden = 2;
        static unlike = 3;
        constructor(name) {
            super(name, {});
            this.txet++;
            this.#hidden++;
        }
        get sum() {
            return this.txet + this.#hidden;
        }
        set sum(value) {
            this.#hidden = value - this.txet;
        }
    }
    Mine.prototype.late = () => 0;
    const [[, properties]] = await resources(() => {
        const mine = new Mine("a");
        mine.txet = 5;
        mine.sum = 7;
        mine.late = () => mine.sum;
        mine[Symbol("s")] = 1;
        mine.text = `${mine.late()}`;
        assert.ok(mine instanceof Object);
    });
    assert.deepEqual(properties, { name: "a", text: "7" });
});

test("compilers may turn fields into assignments", async () => {
    // This is the code generated by esbuild for the fields of a class with decorators.
    const field = (object, key, value) =>
        key in object ? Object.defineProperty(object, key, { value, writable: true }) : (object[key] = value);
    class Mine extends Named {
        constructor(name) {
            super(name, {});
            field(this, "visits", 0);
            field(this, "txet", 0);
        }
        count() {
            this.tetx ??= this.txet++;
        }
    }
    const [[, properties]] = await resources(() => new Mine("a").count());
    assert.deepEqual(properties, { name: "a" });
});

test("names are unique among the resources of a type", async () => {
    class Cousin extends lumi.NamedResource {
        constructor(name) {
            super("test:index:Cousin", name, {}, {});
        }
    }
    const error = await refusal(
        lumi.evaluateProgram(names, () => {
            const first = new Named("a", {});
            new Cousin("a");
            new Named("a", { peer: first });
            new Named("a\u0007", {});
        }),
    );
    assert.deepEqual(error, [
        'error: test:index:Named "a": there is another resource of this type and name',
        '  in: new Named("a", { peer: first });',
        "  note: the other one is constructed here",
        '  in: new Named("a", {});',
        String.raw`error: test:index:Named "a\u0007": name: must not contain control characters`,
        String.raw`  in: new Named("a\u0007", {});`,
    ]);
});

test("dependency cycles are rejected", async () => {
    const error = await refusal(
        lumi.evaluateProgram(names, () => {
            const c = new Named("c", {});
            const b = new Unnamed({ token: { secret: c.arn } });
            const a = new Named("a", { peers: { hush: [b] } });
            c.peer = a;
            new Named("user", { peer: a });
            const self = new Named("self", {});
            self.text = self.arn;
        }),
    );
    assert.deepEqual(error, [
        'error: test:index:Named "a": is part of a dependency cycle',
        '  in: new Named("a", { peers: { hush: [b] } });',
        '  note: test:index:Named "a" refers to test:index:Unnamed #1 in peers',
        '  in: new Named("a", { peers: { hush: [b] } });',
        '  note: test:index:Unnamed #1 refers to test:index:Named "c" in token',
        "  in: new Unnamed({ token: { secret: c.arn } });",
        '  note: test:index:Named "c" refers to test:index:Named "a" in peer',
        '  in: new Named("c", {});',
        'error: test:index:Named "self": is part of a dependency cycle',
        '  in: new Named("self", {});',
        '  note: test:index:Named "self" refers to test:index:Named "self" in text',
        '  in: new Named("self", {});',
    ]);
});

test("resources of another program cannot be referred to", async () => {
    let earlier;
    await lumi.evaluateProgram(names, () => (earlier = new Named("earlier", {})));
    const error = await refusal(lumi.evaluateProgram(names, () => new Named("a", { text: earlier.arn })));
    assert.deepEqual(error, [
        'error: test:index:Named "a": text: refers to a resource in another program',
        '  in: new Named("a", { text: earlier.arn })));',
    ]);
});

test("constructors throw after the program has ended", async () => {
    let late;
    await lumi.evaluateProgram(names, () => {
        late = Promise.resolve().then(() => new Promise(setImmediate)).then(() => new Named("late", {}));
    });
    await assert.rejects(late, (error) => {
        const message = 'test:index:Named "late": the evaluation of the program has already ended';
        assert.equal(error.message, message);
        assert.match(error.stack.split("\n")[1], /program\.test\.js/, "the stack must start in the program");
        return true;
    });
    assert.throws(() => lumi.configure("late", {}, {}), {
        message: "late: the evaluation of the program has already ended",
    });
});

test("incompatible copies of the package are detected", async () => {
    // The recorder of another version has the same global name.
    const place = Symbol.for("@lumi/lumi/recorder");
    const before = Object.getOwnPropertyDescriptor(globalThis, place);
    Object.defineProperty(globalThis, place, { value: { protocol: 0 }, configurable: true });
    try {
        assert.throws(() => new Named("a", {}), {
            message:
                'test:index:Named "a": this copy of @lumi/lumi has another version than the one that evaluates the ' +
                'program; "npm ls @lumi/lumi" lists the versions',
        });
    } finally {
        Object.defineProperty(globalThis, place, before ?? { value: undefined, configurable: true });
    }
});

test("errors thrown by the program are passed on", async () => {
    const wrong = new Error("wrong");
    await assert.rejects(lumi.evaluateProgram(names, () => Promise.reject(wrong)), (error) => error === wrong);
    await assert.rejects(
        lumi.evaluateProgram(names, () => new Named("a", { text: 1 })),
        (error) => {
            assert.equal(error.name, "ArgumentError");
            assert.match(error.stack.split("\n")[1], /program\.test\.js/, "the stack must start in the program");
            return true;
        },
    );
});

test("programs are evaluated one at a time", async () => {
    const inner = lumi.evaluateProgram(names, () =>
        assert.rejects(
            lumi.evaluateProgram(names, () => {}),
            { message: "another program is being evaluated; await that first" },
        ),
    );
    assert.deepEqual(await inner, { package: "my/cluster", resources: {} });
});

test("the graph contains the configurations of providers", async () => {
    const config = { region: lumi.required(lumi.string), key: lumi.optional(lumi.string, lumi.secretProperty) };
    const graph = await lumi.evaluateProgram(names, () => {
        lumi.configure("zoo", { region: "r", key: "k" }, config);
        lumi.configure("ape", { region: "s" }, config);
        new Named("a", {});
    });
    assert.deepEqual(Object.keys(graph), ["package", "configuration", "resources"]);
    assert.deepEqual(Object.entries(graph.configuration), [
        ["ape", { region: "s" }],
        [
            "zoo",
            {
                region: "r",
                key: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "k" },
            },
        ],
    ]);
});
