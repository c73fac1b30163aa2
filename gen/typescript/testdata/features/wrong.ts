// Programs that must not type-check. Each line after a @ts-expect-error has to be an error.

import * as lumi from "@lumi/lumi";
import * as features from "./pack/index.js";
import { net } from "./pack/index.js";
import { kinds, mixed, network, options } from "./right.js";

// A required argument is missing.
// @ts-expect-error
new net.Network("n", {});
// @ts-expect-error
new net.Network("n");
// @ts-expect-error
new net.Network({ range: "r" });
// @ts-expect-error
new features.Options({ proxy: { port: 1 } });

// A value is of the wrong kind.
// @ts-expect-error
new net.Network("n", { range: 1 });
// @ts-expect-error
new net.Network(1, { range: "r" });
// @ts-expect-error
new features.Options({ list: "a" });
// @ts-expect-error
new features.Options({ list: [1] });
// @ts-expect-error
new features.Options({ proxy: { host: "h", port: "1" } });
// @ts-expect-error
new features.Options({ optional: null });
// @ts-expect-error
new features.Options("name", {});

// No such argument, enum value or key.
// @ts-expect-error
new features.Options({ optionl: "a" });
// @ts-expect-error
new features.Options({ proxy: { host: "h", prt: 1 } });
// @ts-expect-error
new features.Options({ level: "lo" });
// @ts-expect-error
new features.Options({ newName: "a" });
// @ts-expect-error
kinds.keyed = { middle: { from: 1 } };
// @ts-expect-error
new net.Network("n", { name: 5, range: "r" });

// Nothing is what it takes.
// @ts-expect-error
new features.Bare({ a: 1 });
// @ts-expect-error
new features.Bare("name");
// @ts-expect-error
new features.BareNamed("name", { a: 1 });
// @ts-expect-error
new features.Computed({ value: "a" });
// @ts-expect-error
new features.AResourceWithANameThatTakesALine("name", { empty: { a: 1 } });
// @ts-expect-error
new features.AResourceWithANameThatTakesALine("name", { empty: "a" });

// A resource, a promise, a set or a map is no list, object or text.
// @ts-expect-error
new features.Options(network);
// @ts-expect-error
new features.Options({ list: new Set(["a"]) });
// @ts-expect-error
new features.Options({ secretMap: new Map([["a", "s1"]]) });
// @ts-expect-error
new net.Network("n", { range: Promise.resolve("r") });
// @ts-expect-error
new features.Options({ list: [null] });
// @ts-expect-error
new features.Options({ secretMap: { a: undefined } });
// @ts-expect-error
new net.Network("n", { range: undefined });

// An output property is not for programs to set.
// @ts-expect-error
new features.Options({ out: "a" });
// @ts-expect-error
options.out = "a";
// @ts-expect-error
options.outPeer = options.outPeer;

// A property that replaces, or the name, cannot be assigned.
// @ts-expect-error
options.replaces = "a";
// @ts-expect-error
mixed.owner = "a";
// @ts-expect-error
mixed.name = "a";

// An output is not what it will be, nor an output of something else.
// @ts-expect-error
export const text: string = network.assignedID;
// @ts-expect-error
export const name: string = network.name;
// @ts-expect-error
new features.Options({ proxy: { host: options.outRule } });
// @ts-expect-error
new net.Network("n", { range: options.outOptional });
// @ts-expect-error
new features.Options({ optional: options.outOptional });
// @ts-expect-error
network.assignedID.length;

// A capability is one of the right type, even where the properties agree.
// @ts-expect-error
kinds.network = kinds;
// @ts-expect-error
kinds.network = { name: "n", range: "r" };
// @ts-expect-error
export const bare: features.Bare = new features.BareNamed("b");
// @ts-expect-error
export const other: lumi.Resource<"features:net:Network"> = kinds;
// @ts-expect-error
kinds.asset = kinds.archive;

// A capability is the resource itself, not its id.
// @ts-expect-error
kinds.network = lumi.id(network);

// What is plain data holds no output, and nobody but the base package makes one.
// @ts-expect-error
export const proxy: features.Proxy = { host: network.assignedID };
// @ts-expect-error
export const made: lumi.Output<string> = new lumi.Output();

// What must be known at once cannot be an output.
// @ts-expect-error
features.configure({ region: network.assignedID });
// @ts-expect-error
features.configure({});

// Unexported declarations are in no barrel, and constants are constant.
// @ts-expect-error
features.hidden;
// @ts-expect-error
features.mode;
// @ts-expect-error
features.Level.Low = "high";
// @ts-expect-error
export const minus: 42 = features.Minus;

// An expression has a type, and a path leads somewhere.
// @ts-expect-error
kinds.count = lumi.interpolate`${1}`;
// @ts-expect-error
lumi.interpolate`${options.outOptional}`;
// @ts-expect-error
lumi.interpolate`${network}`;
// @ts-expect-error
lumi.interpolate`${options.outRule}`;
// @ts-expect-error
kinds.level = lumi.jsonStringify([1]);
// @ts-expect-error
kinds.count = lumi.get(options.outRule, "alow");
// @ts-expect-error
kinds.count = lumi.get(kinds.list, "a");
// @ts-expect-error
kinds.count = lumi.get(kinds.list, "[a]");
// @ts-expect-error
kinds.count = lumi.get(kinds.list, "[0]");
// @ts-expect-error
kinds.count = lumi.get(network, "range");
// @ts-expect-error
export const problem: lumi.PathProblem<"there is no property allow"> = lumi.get(options.outRule, "alow");

// A secret has the type of its value.
// @ts-expect-error
kinds.count = lumi.secret("1");
// @ts-expect-error
kinds.level = lumi.secret("lo");
// @ts-expect-error
export const secret: string = lumi.secret("s");

// Options are known, and their paths begin with properties that a program sets.
// @ts-expect-error
new features.Options({}, { protct: true });
// @ts-expect-error
new features.Options({}, { protect: "yes" });
// @ts-expect-error
new features.Options({}, { ignoreChanges: ["lst"] });
// @ts-expect-error
new features.Options({}, { ignoreChanges: ["out"] });
// @ts-expect-error
new features.Options({}, { replaceOnChanges: ["lists[0]"] });
// @ts-expect-error
new features.Options({}, { dependsOn: network });
// @ts-expect-error
new features.Options({}, { dependsOn: [options.out] });
// @ts-expect-error
new features.Options({}, { import: network.assignedID });
// @ts-expect-error
new features.Options({}, { timeouts: { creat: "1s" } });
// @ts-expect-error
new features.Options({}, {}, {});

// What is none of the variants of a union, or several of them.
// @ts-expect-error
new features.Route("r", { target: kinds, action: { forward: { host: "h" } } });
// @ts-expect-error
new features.Route("r", { target: network, action: {} });
// @ts-expect-error
new features.Route("r", { target: network, action: { forward: { host: "h" }, select: { from: 1 } } });
// @ts-expect-error
new features.Route("r", { target: network, action: { forward: { from: 1 } } });
// @ts-expect-error
new features.Route("r", { target: network, action: { other: { host: "h" } } });
// @ts-expect-error
new features.Route("r", { target: network, action: network });

// A variant is not dealt with.
export function unfinished(action: features.Action): string {
    if (action.forward !== undefined) {
        return action.forward.host;
    }
    if (action.select !== undefined) {
        return "select";
    }
    // @ts-expect-error
    const never: never = action;
    return never;
}

// Configuration is not of the declared type, a secret, optional, or not declared.
export function configured(): void {
    const c = lumi.config({
        count: lumi.number,
        note: lumi.optional(lumi.string),
        pw: lumi.required(lumi.string, lumi.secretProperty),
    });
    // @ts-expect-error
    c.count.length;
    // @ts-expect-error
    c.note.length;
    // @ts-expect-error
    c.pw.length;
    // @ts-expect-error
    c.other;
    // @ts-expect-error
    c.count = 1;
    // @ts-expect-error
    lumi.config({ count: "number" });
    // @ts-expect-error
    lumi.environment = "prod";
}

// Ids and arguments are of the wrong kind, or missing.
// @ts-expect-error
net.Network.get("n");
// @ts-expect-error
net.Network.get("n", 5);
// @ts-expect-error
features.Options.get("name", "id");
// @ts-expect-error
features.findImage({ family: 5 });
// @ts-expect-error
features.findImage({ famly: "a" });
// @ts-expect-error
features.findImage({ imageID: "i" });
// @ts-expect-error
features.now({ zone: "a" });

// Results are outputs, and neither they nor the properties of other types can take their places.
const found = features.findImage({ family: "linux" });
// @ts-expect-error
found.imageID = "i";
// @ts-expect-error
found.imageID.length;
// @ts-expect-error
for (const tag of found.tags) { tag; }
// @ts-expect-error
new net.Network("n", { range: found });
// @ts-expect-error
new net.Network("n", { range: features.now().time });
// @ts-expect-error
new net.Network("n", { range: "r" }, { dependsOn: [found] });
// @ts-expect-error
net.Network.get("n", "id").assignedID = "a";
