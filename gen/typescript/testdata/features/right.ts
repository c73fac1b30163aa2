// A program that uses the features package in every way it can be used. It must type-check, and run.

import * as lumi from "@lumi/lumi";
import * as features from "./pack/index.js";
import { Size, my_mod, net } from "./pack/index.js";

features.configure({ region: "here", proxy: { host: "p" } });

export const network: net.Network = new net.Network("n", { range: "10.0.0.0/8" });

export const kinds: features.Kinds = new features.Kinds("k", {
    flag: true,
    count: 1.5,
    text: "text",
    level: features.Level.Low,
    mode: "class",
    free: { deep: [1, null, network.assignedID] },
    alias: "name",
    tree: { a: { tree: { b: { tree: {} } } } },
    nest: [{ low: { tree: {} } }, {}],
    levels: ["low", "high"],
    rule: { from: 1, inner: { from: 2, to: 3 } },
    other: { allow: true, on: network },
    asset: lumi.Asset.fromText("hello"),
    archive: lumi.Archive.fromAssets({ "a.txt": lumi.Asset.fromFile("a.txt"), sub: lumi.Archive.fromFile("b.zip") }),
    peer: new features.Options().outPeer,
    network,
    any: network,
    list: ["a", "b"],
    lists: [[{ allow: false }], []],
    map: { one: 1 },
    maps: { a: { b: { allow: true } } },
    keyed: { low: { from: 1 } },
    weights: { w: 2 },
    peers: [],
    near: { n: network },
});

// An output may stand for a value at any depth.
export const options: features.Options = new features.Options({
    optional: network.assignedID,
    network: undefined,
    list: ["a", lumi.id(network), lumi.urn(kinds)],
    proxy: { host: network.assignedID },
    secretMap: { key: Size.S1 },
    NewName: "renamed",
});
export const fed: features.Options = new features.Options({
    free: options.outAny,
    optional: options.outSecret,
    proxy: { host: "h", port: options.outOptional },
});
export const computed: features.Computed = new features.Computed({});
new features.AResourceWithANameThatTakesALine("a", { empty: {} });

// Lists may be read-only, and arguments put together.
const constant = { list: ["a", "b"], secretMap: { a: "s1" } } as const;
new features.Options(constant);
const names: readonly string[] = constant.list;
new features.Options({ list: names, ...(names.length > 2 ? { level: features.Level.New } : {}) });
const some: features.OptionsArgs = options;
some.list = names.map((name): lumi.Input<string> => (name === "a" ? network.assignedID : name));
const rule: lumi.Input<features.Rule> = { from: 1 };
rule.to = 2;
kinds.rule = rule;
const { list } = options;
export const known: readonly lumi.Input<string>[] = list instanceof lumi.Output ? [] : (list ?? []);

// Programs build on generated classes, and are generic over them.
class Private extends net.Network {
    constructor(name: string) {
        super(name, { range: "10.0.0.0/8" });
    }
}
new features.Options({ network: new Private("private") });
class Arguments implements net.NetworkArgs {
    range: lumi.Input<string> = "10.0.0.0/16";
}
new net.Network("spread", { ...new Arguments() });
interface Sized extends features.Rule {
    size: features.Size;
}
const sized: Sized = { from: 1, size: features.Size.S1 };
kinds.rule = { from: sized.from, level: "low" };
type Constructor<Args, R> = new (name: string, args: Args) => R;
function create<Args, R extends lumi.NamedResource>(type: Constructor<Args, R>, args: Args): R {
    return new type("created", args);
}
export const created: net.Network = create(net.Network, { range: "10.0.0.0/8" });

kinds.other = options.outRule;
kinds.peers = [kinds, options.outPeer];
kinds.map = { two: 2 };

// Properties that do not replace can change, and are what the arguments were.
options.optional = "changed";
options.list = undefined;
const count: lumi.Input<number> = kinds.count;
kinds.count = count;

// Files may refer to one another in circles.
const a = new features.A("a", { holders: [{ a: { b: {} } }] });
const b = new features.B("b", { peer: a, data: { a } });
a.peer = b;

export const thing: my_mod.Thing = new my_mod.Thing("t", { deep: { depth: 1 } });
export const bare: lumi.Resource[] = [new features.Bare(), new features.Bare({}), new features.BareNamed("bare")];
export const mixed: features.Mixed = new features.Mixed("m", { owner: "me", own: "mine" });
export const promise: features.Promise = new features.Promise("p", { array: { items: [{ key: "k" }] }, date: "today" });
export const words: features.Words = new features.Words({ class: "a", default: "b", in: "c", this: "d" });
export const type: "features:index:Kinds" = features.Kinds.type;
export const level: features.Level = "high";
export const low: "low" = features.Level.Low;
export const capabilities: lumi.Resource[] = [network, kinds, ...bare];
export const awkward: string = features.Awkward;
const { Huge, Large, Max, Minus, Third, Tiny } = features;
export const numbers: number[] = [Large, Huge, Third, Tiny, Max, Minus];

const folders = features.words;
export const folderWords: string[] = [folders.class.Word, folders._default.Word, folders._static.Word];

// Expressions over outputs, and secrets of the program's own, are values of their types.
const part: lumi.Output<boolean> = lumi.get(options.outRule, "allow");
new features.Options({
    optional: lumi.interpolate`${network.assignedID}/${1}/${options.outOptional as lumi.Output<number>}`,
    list: lumi.secret(["a", network.assignedID]),
    level: lumi.secret("low"),
    size: lumi.get({ sizes: ["s1", features.Size.S1] }, "sizes[1]"),
    proxy: lumi.secret({ host: lumi.interpolate`h`, port: 1 }),
    secret: lumi.jsonStringify({ a: network.assignedID, rule: lumi.get(options.outRule, "allow"), secret: lumi.secret("s") }),
    secretMap: { key: lumi.secret("s1") },
    free: [part, lumi.secret({ deep: [part] })],
});
export const parts: [lumi.Output<number>, lumi.Output<number | undefined>, lumi.Output<any>, lumi.Output<string | undefined>] = [
    lumi.get(kinds.map, "one"),
    lumi.get(kinds.rule, "inner.to"),
    lumi.get(options.outAny, 'a[1]["b c"].d'),
    lumi.get(options.proxy, "host"),
];
kinds.lists = lumi.get({ lists: [[[{ allow: true }]]] }, "lists[0]");
kinds.other = lumi.get({ a: [{ "b c": options.outRule }] }, 'a[0]["b c"]');
kinds.any = lumi.get({ a: network }, "a");

// Options come last.
const protect: lumi.ResourceOptions = { protect: true, dependsOn: [network, kinds], aliases: ["old"] };
new net.Network("o", { range: "10.0.0.0/8" }, { ...protect, ignoreChanges: ["range", "name"] });
new features.Options(undefined, {
    ignoreChanges: ["optional", "proxy.host", "list[0]", 'secretMap["a b"]', "free.x[*].y"],
    replaceOnChanges: ["secretMap[*]"],
    timeouts: { create: "1h30m", update: undefined },
    import: "id",
    deleteBeforeReplace: true,
    retainOnDelete: false,
});
new features.Bare({}, protect);

// What other modules provide has the types that a program names.
const address = { host: lumi.required(lumi.string), port: lumi.optional(lumi.number) };
export function share(module: lumi.Module): void {
    const host: lumi.Output<{ host: string; port?: number | undefined }> = module.use("host", lumi.struct(() => address));
    const level: lumi.Output<features.Level> = module.use("level", lumi.enum(() => features.Level));
    const other: lumi.Output<net.Network> = module.use("network", lumi.resource<net.Network>("features:net:Network"));
    const any: lumi.Output<lumi.Resource<"a:b:C">> = module.use("any", lumi.resource("a:b:C"));
    const verb: lumi.Output<lumi.Verb<string, number[]>> = module.use("f", lumi.verb(lumi.string, lumi.list(lumi.number)));
    new features.Options({ proxy: { host: verb }, network: other, level });
    lumi.provide("host", { host: lumi.get(host, "host") }, lumi.struct(() => address));
    lumi.provide("f", "https://example.com", lumi.verb(lumi.string, lumi.number));
    lumi.provide("names", ["a", verb] as const, lumi.list(lumi.string));
    lumi.provide("c", any, lumi.resource("a:b:C"));
    const type: lumi.Type = lumi.string;
    const unknown: lumi.Output<unknown> = module.use("unknown", type);
    lumi.provide("free", [unknown, { deep: [1] }], lumi.any);
}

// Unions: of resources, any of them; of structs, an object with one key.
export const route: features.Route = new features.Route("r", {
    target: network,
    others: [network, new features.Bare()],
    action: { forward: { host: options.outSecret } },
    actions: { a: { select: { from: 1 } }, b: { branch: { left: { forward: { host: "h" } }, to: network } } },
});
export const onward: features.Route = new features.Route("on", { target: route, action: route.current });

export const physical: lumi.Resource[] = [
    new features.Bare(),
    new features.BareNamed("text", { name: "physical" }),
    new features.BareNamed("output", { name: network.name }),
    new features.BareNamed("absent", { name: undefined }, { ignoreChanges: ["name"] }),
    new features.BareNamed("unique", { name: lumi.uniqueName("base", { length: 12 }) }, { deleteBeforeReplace: false }),
];

export function nameOf(target: features.Target): string {
    if (target instanceof net.Network || target instanceof features.Route) {
        return lumi.evaluate(target).name!;
    }
    if (target instanceof features.Bare) {
        return "bare";
    }
    const never: never = target;
    return never;
}

export function kindOf(action: features.Action): string {
    if (action.forward !== undefined) {
        return action.forward.host;
    }
    if (action.select !== undefined) {
        return String(action.select.from);
    }
    if (action.branch !== undefined) {
        return "branch";
    }
    const never: never = action;
    return never;
}

// The other variants are undefined, and no outputs of that: messages of the compiler would be about outputs.
type Other = NonNullable<Extract<lumi.Input<features.Action>, { forward: unknown }>["select"]>;
export const noOther: [Other] extends [never] ? true : false = true;

// The values of configuration have their declared types, and secrets are outputs.
export function configured(): string {
    const c = lumi.config({
        count: lumi.number,
        level: lumi.enum(() => features.Level),
        proxy: lumi.struct(() => ({ host: lumi.required(lumi.string), port: lumi.optional(lumi.number) })),
        note: lumi.optional(lumi.string),
        pw: lumi.required(lumi.string, lumi.secretProperty),
        tokens: lumi.optional(lumi.list(lumi.string), lumi.replaces, lumi.secretProperty),
    });
    const level: features.Level = c.level;
    const port: number | undefined = c.proxy.port;
    const note: string | undefined = c.note;
    const secret: lumi.Output<string> = c.pw;
    const secrets: lumi.Output<string[]> | undefined = c.tokens;
    new net.Network(`${lumi.environment}-${lumi.moduleName}`, { range: c.pw });
    return [c.count.toFixed(), level, port, note, c.proxy.host.length, secret, secrets, typeof lumi.environment].join();
}

// What other programs manage is looked up, and functions are called.
export const shared: net.Network = net.Network.get("shared", "net-1");
export const found: features.FindImageResult = features.findImage({
    filters: [{ name: "n", values: [shared.range] }],
    network: shared,
    key: lumi.secret("k"),
});
export const time: lumi.Output<number> = features.now().time;
export const sibling: features.Options = features.Options.get(found.imageID);
new net.Network("found", { range: found.account });
features.findImage({ family: shared.assignedID });
