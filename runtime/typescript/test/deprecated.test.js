import assert from "node:assert/strict";
import { mock, test } from "node:test";

import * as lumi from "../dist/index.js";

const Eviction = { Oldest: "oldest", Random: "random", Odd: "toString" };
lumi.deprecate(Eviction, { random: "use Oldest" });

const Disk = {};
lumi.deprecate(Disk, "caches are in memory");

const shape = {
    gigabytes: lumi.optional(lumi.number, lumi.deprecated("use size")),
    size: lumi.optional(lumi.number),
    eviction: lumi.optional(lumi.enum(() => Eviction)),
    disks: lumi.optional(lumi.list(lumi.struct(() => Disk))),
};
lumi.deprecate(shape, "use Store");

class Cache extends lumi.NamedResource {
    constructor(name, args) {
        super("test:index:Cache", name, args, shape);
    }
}

class Store extends lumi.Resource {
    constructor(args) {
        super("test:index:Store", args, { gigabytes: lumi.optional(lumi.number, lumi.deprecated("use size")) });
    }
}

/** Returns the warnings printed by an action. */
function warnings(action) {
    const warn = mock.method(console, "warn", () => {});
    try {
        action();
        return warn.mock.calls.map(({ arguments: [text] }) => text);
    } finally {
        warn.mock.restore();
    }
}

test("deprecation warnings are printed once for each type and property", () => {
    assert.deepEqual(warnings(() => new Store({})), []);
    assert.deepEqual(
        warnings(() => new Cache("a", { size: 1, eviction: "toString" })),
        ['warning: test:index:Cache "a": the type is deprecated: use Store'],
    );
    assert.deepEqual(
        warnings(() => new Cache("b", { gigabytes: 1, eviction: "random", disks: [{}, {}] })),
        [
            'warning: test:index:Cache "b": gigabytes: is deprecated: use size',
            'warning: test:index:Cache "b": eviction: the value is deprecated: use Oldest',
            'warning: test:index:Cache "b": disks[0]: the type is deprecated: caches are in memory',
        ],
    );
    assert.deepEqual(warnings(() => new Cache("c", { gigabytes: 1, disks: [{}] })), []);
    assert.deepEqual(warnings(() => assert.throws(() => new Store({ gigabytes: "1" }))), []);
    const store = new Store({});
    store.gigabytes = 2;
    assert.deepEqual(
        warnings(() => lumi.evaluate(store)),
        ["warning: test:index:Store: gigabytes: is deprecated: use size"],
    );
});

test("warnings contain no secret values", () => {
    class Secretive extends lumi.Resource {
        constructor(args) {
            super("test:index:Secretive", args, { eviction: lumi.required(lumi.enum(() => Eviction), lumi.secretProperty) });
        }
    }
    assert.deepEqual(warnings(() => new Secretive({ eviction: "random" })), []);
    assert.deepEqual(warnings(() => new Cache("d", { eviction: lumi.secret("random") })), []);
});

test("configurations cause deprecation warnings", () => {
    assert.deepEqual(
        warnings(() => lumi.configure("old", { region: "a" }, { region: lumi.optional(lumi.string, lumi.deprecated("use zone")) })),
        ["warning: old: region: is deprecated: use zone"],
    );
});
