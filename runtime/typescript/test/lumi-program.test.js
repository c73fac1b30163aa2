// Tests of the command lumi-program in a process.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { formatGraph } from "../dist/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const command = join(root, "dist/bin/lumi-program.js");
const names = ["--environment=dev", "--package=p"];
const urn = (name) => `urn:lumi:dev::p:index::test:index:Thing::${name}`;

const folders = [];
after(() => folders.forEach((folder) => fs.rmSync(folder, { recursive: true })));

const thing = `import * as lumi from "@lumi/lumi";

interface Args { text?: lumi.Input<string>; peer?: Thing; password?: string; }

export class Thing extends lumi.NamedResource<"test:index:Thing"> {
    declare text?: lumi.Input<string>;
    declare peer?: Thing;
    constructor(name: string, args: Args = {}) {
        super("test:index:Thing", name, args, {
            text: lumi.optional(lumi.string),
            peer: lumi.optional(lumi.resource("test:index:Thing")),
            password: lumi.optional(lumi.string, lumi.secretProperty),
        });
    }
}
`;

/** Creates a project with the given files and the dependencies needed to run it. */
function project(files, { tsx = true } = {}) {
    const folder = fs.mkdtempSync(join(tmpdir(), "lumi program "));
    folders.push(folder);
    fs.mkdirSync(join(folder, "node_modules/@lumi"), { recursive: true });
    fs.symlinkSync(root, join(folder, "node_modules/@lumi/lumi"));
    if (tsx) {
        fs.symlinkSync(join(root, "node_modules/tsx"), join(folder, "node_modules/tsx"));
    }
    const all = { "package.json": '{ "type": "module" }', "thing.ts": thing, ...files };
    for (const [name, text] of Object.entries(all)) {
        fs.mkdirSync(dirname(join(folder, name)), { recursive: true });
        fs.writeFileSync(join(folder, name), text);
    }
    return folder;
}

/** Runs the command in a folder. */
function run(cwd, ...args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { cwd, encoding: "utf8" });
    return { status, stdout, stderr };
}

/** Runs a TypeScript program with the given lines after an import of the class Thing. */
function runMain(lines, ...args) {
    const main = ['import { Thing } from "./thing.js";', ...lines].join("\n");
    return run(project({ "main.ts": main }), ...names, "main.ts", ...args);
}

/** Returns the graph of resources with their positions. */
const graph = (...resources) => ({
    package: "p",
    resources: Object.fromEntries(
        resources.map(([source, { name, ...more }]) => [
            urn(name),
            { type: "test:index:Thing", source, properties: { name, ...more } },
        ]),
    ),
});

test("a TypeScript program evaluates to its graph", () => {
    const lines = [
        "const text: string = process.argv.slice(2).join();",
        "await new Promise((resolve) => setTimeout(resolve, 5));",
        'new Thing("a", { text, peer: new Thing("b") });',
        'void Promise.resolve().then(() => setImmediate(() => new Thing("pending")));',
    ];
    const first = runMain(lines, "x", "--", "--out=y");
    assert.deepEqual([first.status, first.stderr], [0, ""]);
    const a = { name: "a", text: "x,--out=y", peer: { "#ref": urn("b") } };
    const pending = ["main.ts:5:54", { name: "pending" }];
    const expected = graph(["main.ts:4:30", { name: "b" }], ["main.ts:4:1", a], pending);
    assert.equal(first.stdout, formatGraph(expected));
    assert.deepEqual(runMain(lines, "x", "--", "--out=y"), first, "the output must be deterministic");
});

test("a graph contains positions relative to the workspace", () => {
    const folder = project({
        "Lumi.yaml": "package: p\nenvironment: dev\n",
        "src/lib/make.ts": 'import { Thing } from "../../thing.js";\nexport const make = (s: string) =>\n    new Thing(s);\n',
        "src/deep/main.ts":
            'import { make } from "../lib/make.js";\nimport { Thing } from "../../thing.js";\nimport { b } from "p";\n' +
            'make("a");\nb(Thing);\n' +
            "Error.prepareStackTrace = () => 'mine';\nnew Thing('c'); if (new Error().stack !== 'mine') throw 1;\n",
        "node_modules/p/package.json": '{ "type": "module", "exports": "./index.js" }',
        "node_modules/p/index.js": "export const b = (Thing) => new Thing('b');\n",
    });
    const link = `${folder} link`;
    fs.symlinkSync(folder, link);
    folders.push(link);
    for (const cwd of [folder, join(link, "src")]) {
        const { stdout, stderr } = run(cwd, join(cwd, cwd === folder ? "src" : "", "deep/main.ts"));
        assert.equal(stderr, "");
        const sources = Object.values(JSON.parse(stdout).resources).map(({ source }) => source);
        assert.deepEqual(sources, ["src/lib/make.ts:3:5", "src/deep/main.ts:5:1", "src/deep/main.ts:7:1"]);
    }
});

test("a program's output does not mix with its graph", () => {
    const found = runMain([
        'import { execSync } from "node:child_process";',
        'console.log("log"); console.error("error"); process.stdout.write("write\\n");',
        'execSync("echo child", { stdio: "inherit" });',
        'process.on("exit", () => console.log("exit"));',
    ]);
    assert.deepEqual(found, {
        status: 0,
        stdout: formatGraph(graph()),
        stderr: "log\nerror\nwrite\nchild\nexit\n",
    });
});

test("errors have positions in the TypeScript source", () => {
    for (const [lines, stderr] of [
        [
            ["function make(): Thing {", '    return new Thing("a", { text: 5 as never });', "}", "make();"],
            'main.ts:3:12: error: test:index:Thing "a": text: expected a string, found a number 5\n' +
                "  main.ts:5:1: note: called from here\n",
        ],
        [
            ['const a = new Thing("a");', 'const b = new Thing("a", { password: "hush" });', "a.text = 7 as never;"],
            'main.ts:3:11: error: test:index:Thing "a": there is another resource of this type and name\n' +
                "  main.ts:2:11: note: the other one is constructed here\n" +
                'main.ts:2:11: error: test:index:Thing "a": text: expected a string, found a number 7\n',
        ],
        [
            ['const a = new Thing("a");', 'a.peer = new Thing("b", { peer: a });'],
            'main.ts:2:11: error: test:index:Thing "a": is part of a dependency cycle\n' +
                '  main.ts:2:11: note: test:index:Thing "a" refers to test:index:Thing "b" in peer\n' +
                '  main.ts:3:10: note: test:index:Thing "b" refers to test:index:Thing "a" in peer\n',
        ],
        [
            ["interface Padding { x: number }", 'void Promise.reject(new RangeError("too far"));'],
            "main.ts:3:21: error: RangeError: too far\n",
        ],
        [
            ["interface Padding { x: number }", 'setTimeout((): void => { throw new Error("later"); }, 1);'],
            "main.ts:3:32: error: later\n",
        ],
        [
            ['process.on("beforeExit", () => new Thing("late"));'],
            'main.ts:2:32: error: test:index:Thing "late": the evaluation of the program has already ended\n',
        ],
        [
            ['const { peer } = new Thing("a", { peer: new Thing("b") });', "console.log(`${peer}`);"],
            'main.ts:3:16: error: TypeError: test:index:Thing "b" cannot be turned into a string or a number; ' +
                "lumi.id and lumi.urn return its id and its URN as outputs\n",
        ],
        [["const b = ;"], 'main.ts:2:11: error: Unexpected ";"\n'],
        [
            ["void Promise.reject({ code: 5 });"],
            "error: the program threw { code: 5 }, which has no position; throw an Error instead\n",
        ],
        [["await new Promise(() => {});"], "error: main.ts: a top-level await never settles\n"],
        [["process.exit();"], "error: main.ts: the program called process.exit before it had been evaluated\n"],
        [["process.exit(3);"], "error: main.ts: the program exited with code 3\n"],
        [["process.exitCode = 4;"], "error: main.ts: the program exited with code 4\n"],
    ]) {
        assert.deepEqual(runMain(lines), { status: 1, stdout: "", stderr }, lines.at(-1));
    }
});

test("fields added by a TypeScript subclass are not properties", () => {
    const main = `import { Thing } from "./thing.js";
        function logged(method: any, context: ClassMethodDecoratorContext) {}
        class Mine extends Thing {
            visits = 1;
            texts?: string[];
            constructor(readonly label: string) { super(label, {}); this.visits++; }
            @logged visit() { (this.texts ??= []).push(this.label); }
        }
        const mine = new Mine("a");
        mine.visit();
        mine.visits += mine.label.length;
        mine.text = String(mine.visits) + mine.texts;`;
    for (const target of ["es2020", "es2022"]) {
        const options = JSON.stringify({ compilerOptions: { target } });
        const folder = project({ "main.ts": main, "tsconfig.json": options });
        assert.deepEqual(
            run(folder, ...names, "main.ts"),
            { status: 0, stdout: formatGraph(graph(["main.ts:9:22", { name: "a", text: "3a" }])), stderr: "" },
            target,
        );
    }
    assert.deepEqual(runMain(['const a = new Thing("a");', "(a as any).pasword = 4;"]), {
        status: 1,
        stdout: "",
        stderr: 'main.ts:2:11: error: test:index:Thing "a": pasword: no such property; did you mean "password"?\n',
    });
});

test("a program compiled by tsc evaluates to its graph", () => {
    const folder = project(
        {
            "tsconfig.json": JSON.stringify({
                compilerOptions: {
                    target: "es2022", module: "nodenext", strict: true, types: [], outDir: "out", sourceMap: true,
                },
            }),
            "Lumi.yaml": "package: p\nenvironment: dev\n",
            "main.ts": 'interface Padding {\n    x: number;\n}\nimport { Thing } from "./thing.js";\nnew Thing("a");\n',
            "wrong.ts": 'interface Padding {\n    x: number;\n}\nimport { Thing } from "./thing.js";\nnew Thing("");\n',
        },
        { tsx: false },
    );
    const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), { cwd: folder, encoding: "utf8" });
    assert.equal(tsc.status, 0, tsc.stdout);
    const found = run(folder, "out/main.js");
    assert.deepEqual([found.status, found.stderr, JSON.parse(found.stdout)], [0, "", graph(["main.ts:5:1", { name: "a" }])]);
    assert.deepEqual(run(folder, "out/wrong.js"), {
        status: 1,
        stdout: "",
        stderr: "wrong.ts:5:1: error: test:index:Thing: name: must not be empty\n",
    });
    assert.deepEqual(run(folder, "main.ts"), {
        status: 2,
        stdout: "",
        stderr:
            "lumi-program: main.ts is TypeScript and needs tsx, which is not installed:\n" +
            `  run "npm install --save-dev tsx" in ${folder} or above;\n` +
            "  or compile the program with tsc and pass the .js file that tsc writes\n",
    });
});

test("configuration errors have the position of the program's call", () => {
    const folder = project({
        "config.ts":
            'import * as lumi from "@lumi/lumi";\n' +
            "export function configure(args: object): void {\n" +
            '    lumi.configure("zoo", args, { region: lumi.required(lumi.string) }, configure);\n' +
            "}\n",
        "main.ts": 'import { configure } from "./config.js";\nconfigure({ regoin: "r" });\n',
    });
    assert.deepEqual(run(folder, ...names, "main.ts"), {
        status: 1,
        stdout: "",
        stderr:
            "main.ts:2:1: error: zoo: 2 arguments are wrong\n  region: is required, but missing\n" +
            '  regoin: no such property; did you mean "region"?\n',
    });
});

test("load errors are reported by Node or lumi-program", () => {
    const folder = project({
        "syntax.js": "const a = 1;\nconst b = ;\n",
        "missing.js": 'import "./nowhere.js";\n',
        "missing.ts": 'import "nowhere";\n',
        "old.cjs": "setImmediate(() => { throw new Error('old'); });\n",
    });
    const syntax = run(folder, ...names, "syntax.js");
    assert.deepEqual([syntax.status, syntax.stdout], [1, ""]);
    assert.match(syntax.stderr, /syntax\.js:2\nconst b = ;\n {10}\^\n\nSyntaxError: Unexpected token ';'\n/);
    const missing = run(folder, ...names, "missing.js");
    assert.equal(missing.status, 1);
    assert.match(missing.stderr, /^error: Cannot find module '.*nowhere\.js' imported from .*missing\.js\n$/);
    const typed = run(folder, ...names, "missing.ts");
    assert.equal(typed.status, 1);
    assert.match(typed.stderr, /^error: Cannot find package 'nowhere' imported from .*missing\.ts\n$/);
    assert.deepEqual(run(folder, ...names, "old.cjs"), { status: 1, stdout: "", stderr: "old.cjs:1:28: error: old\n" });
});

test("flags take precedence over Lumi.yaml", () => {
    const source = (name) =>
        'import * as lumi from "@lumi/lumi";\n' +
        'class T extends lumi.Resource { constructor() { super("test:index:T", {}, {}); } }\n' +
        `new T();\n// ${name}`;
    const folder = project({
        "Lumi.yaml": "package: outer\nenvironment: dev\n",
        "a/main.js": source("a"),
        "b/Lumi.yaml": "package: inner\n",
        "b/main.js": source("b"),
    });
    const urns = ({ stdout }) => Object.keys(JSON.parse(stdout).resources);
    assert.deepEqual(urns(run(folder, "a/main.js")), ["urn:lumi:dev::outer:index::test:index:T::#1"]);
    assert.deepEqual(urns(run(folder, "--environment=prod", "--module=m", "b/main.js")), [
        "urn:lumi:prod::inner:m::test:index:T::#1",
    ]);
    const manifest = join(folder, "b", "Lumi.yaml");
    fs.mkdirSync(join(folder, "c/Lumi.yaml"), { recursive: true });
    fs.writeFileSync(join(folder, "c/main.js"), "");
    assert.deepEqual(run(folder, "c/main.js"), {
        status: 2,
        stdout: "",
        stderr: `lumi-program: cannot read ${join(folder, "c/Lumi.yaml")}: EISDIR: illegal operation on a directory\n`,
    });
    assert.deepEqual(run(folder, "b/main.js"), {
        status: 2,
        stdout: "",
        stderr:
            'lumi-program: which environment? Pass --environment=NAME, or write "environment: NAME" into ' +
            `${manifest}\n`,
    });
    fs.writeFileSync(manifest, "package: 7\nenvironment:\n");
    assert.deepEqual(run(folder, ...names, "b/main.js"), {
        status: 2,
        stdout: "",
        stderr:
            `lumi-program: ${manifest}:1:10: package must be a string, got a number; write package: NAME\n` +
            `${manifest}:2:1: environment has no value; write environment: NAME\n`,
    });
});

test("a module can be run by name", () => {
    const source = 'import { Thing } from "../thing.js";\nnew Thing(process.argv.slice(2).join() || "none");\n';
    const folder = project({
        "Lumi.yaml":
            "modules:\n  network: network/main.ts\n  my/cluster: cluster/main.ts\n  gone: gone.ts\n" +
            "environment: dev\nenvironments: {dev: , prod: }\n",
        "network/main.ts": source,
        "cluster/main.ts": source,
        "extra/main.ts": source,
        "one/Lumi.yaml": "package: single\nprogram: src/main.ts\nenvironment: e\n",
        "one/src/main.ts": source.replace("../", "../../"),
        "none/Lumi.yaml": "",
        "model/Lumi.yaml": "modules: {shop: {model: env.json, classes: classes}}",
    });
    const file = join(folder, "Lumi.yaml");
    const first = ({ stdout, stderr }) => {
        assert.equal(stderr, "");
        const [[found, { source }]] = Object.entries(JSON.parse(stdout).resources);
        return `${found.replace(":index::test:index:Thing::", " ")} ${source}`;
    };
    const inOne = (path) => join(folder, "one", path);
    for (const [cwd, args, expected] of [
        [folder, ["network"], "urn:lumi:dev::network none network/main.ts:2:1"],
        [join(folder, "extra"), ["my/cluster", "a", "--environment=prod", "--", "-b"],
            "urn:lumi:prod::my/cluster a,-b cluster/main.ts:2:1"],
        [join(folder, "cluster"), ["main.ts"], "urn:lumi:dev::my/cluster none cluster/main.ts:2:1"],
        [folder, ["--package=p", "extra/main.ts"], "urn:lumi:dev::p none extra/main.ts:2:1"],
        [inOne("src"), [], "urn:lumi:e::single none src/main.ts:2:1"],
        [inOne(""), ["--", "main.ts"], "urn:lumi:e::single main.ts src/main.ts:2:1"],
        [inOne(""), ["single"], "urn:lumi:e::single none src/main.ts:2:1"],
        [inOne(""), ["../extra/main.ts", "--package=q"], "urn:lumi:dev::q none extra/main.ts:2:1"],
    ]) {
        assert.equal(first(run(cwd, ...args)), expected);
    }
    for (const [cwd, args, message] of [
        [folder, [], `which module? ${file} has gone, my/cluster, network`],
        [folder, ["netwrok"], `${file} has no module netwrok; did you mean "network"?`],
        [folder, ["xyz"], `${file} has no module xyz; it has gone, my/cluster, network`],
        [folder, ["gone"], `no file ${join(folder, "gone.ts")}, which ${file} names as the program of gone`],
        [folder, ["extra/main.ts"], `which package? Pass --package=NAME, or name extra/main.ts in modules of ${file}`],
        [folder, ["network", "--environment=prdo"], `${file} has no environment prdo; did you mean "prod"?`],
        [folder, ["network", "--environment=x"], `${file} has no environment x; it has dev, prod`],
        [join(folder, "none"), [], 'which program? Run "lumi-program --help" for the usage.'],
        [
            join(folder, "none"),
            ["network"],
            `no file network, and ${join(folder, "none", "Lumi.yaml")} has no modules`,
        ],
        [join(folder, "model"), ["shop"],
            `shop is an object model in ${join(folder, "model/Lumi.yaml")}, not a program; lumi evaluates it: lumi plan shop`],
    ]) {
        assert.deepEqual(run(cwd, ...args), { status: 2, stdout: "", stderr: `lumi-program: ${message}\n` });
    }
});

test("lumi passes the workspace on standard input", () => {
    const folder = project({
        "Lumi.yaml": "not read: [",
        "network/main.js":
            'import * as lumi from "@lumi/lumi";\nimport { readFileSync } from "node:fs";\n' +
            "class T extends lumi.Resource {\n" +
            '    constructor(args) { super("test:index:T", args, { text: lumi.required(lumi.string) }); }\n}\n' +
            'new T({ text: `<${readFileSync(0, "utf8")}>` + process.argv.slice(2) });\n',
    });
    const file = join(folder, "Lumi.yaml");
    const workspace = {
        modules: { network: "network/main.js", gone: "gone.js" },
        models: { shop: { model: "env.json", classes: ["classes"] } },
        environment: "dev",
        environments: ["dev", "prod"],
        plugins: { aws: "bin/hush" },
    };
    const give = (input, ...args) => {
        const all = [command, "--workspace-stdin", ...args];
        const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: folder, encoding: "utf8", input });
        return { status, stdout, stderr };
    };
    for (const [args, name] of [
        [["network"], "urn:lumi:dev::network:index::test:index:T::#1"],
        [["network", "--environment=prod"], "urn:lumi:prod::network:index::test:index:T::#1"],
        [["network/main.js"], "urn:lumi:dev::network:index::test:index:T::#1"],
    ]) {
        const { status, stdout, stderr } = give(JSON.stringify(workspace), ...args, "--", "-x");
        assert.deepEqual([status, stderr], [0, ""]);
        const [[found, { source, properties }]] = Object.entries(JSON.parse(stdout).resources);
        assert.deepEqual([found, source, properties], [name, "network/main.js:6:1", { text: "<>-x" }]);
    }
    const noJSON = "--workspace-stdin is for lumi: standard input is not a workspace in JSON";
    for (const [input, args, message] of [
        ["hush", ["network"], noJSON],
        ["", ["network"], noJSON],
        ["null", ["network"], noJSON],
        [{ modules: { network: 3 } }, ["network"], noJSON],
        [{ ...workspace, environment: [] }, ["network"], noJSON],
        ["{}", [], 'which program? Run "lumi-program --help" for the usage.'],
        [workspace, [], `which module? ${file} has gone, network`],
        [workspace, ["gone"], `no file ${join(folder, "gone.js")}, which ${file} names as the program of gone`],
        [workspace, ["shop"], `shop is an object model in ${file}, not a program; lumi evaluates it: lumi plan shop`],
        [workspace, ["network", "--environment=prdo"], `${file} has no environment prdo; did you mean "prod"?`],
    ]) {
        const text = typeof input === "string" ? input : JSON.stringify(input);
        assert.deepEqual(give(text, ...args), { status: 2, stdout: "", stderr: `lumi-program: ${message}\n` });
    }
});

test("lumi passes the configuration on standard input", () => {
    const folder = project({
        "main.js":
            'import * as lumi from "@lumi/lumi";\nimport { readFileSync } from "node:fs";\n' +
            "const c = lumi.config({ port: lumi.number, pw: lumi.required(lumi.string, lumi.secretProperty) });\n" +
            'lumi.configure("aws", { region: "eu" }, { region: lumi.required(lumi.string) });\n' +
            'let fd = ""; try { readFileSync(4); fd = "open" } catch { fd = "closed" }\n' +
            'lumi.provide("seen", `${lumi.environment} ${lumi.moduleName} ${c.port} ${fd} ` +\n' +
            "    JSON.stringify([process.argv, process.env]).includes('hush'), lumi.string);\n",
        "none.js": "",
        "copy/main.js": 'import * as lumi from "@lumi/lumi";\nlumi.config({ port: lumi.number });\n',
    });
    for (const part of ["dist", "package.json"]) {
        fs.cpSync(join(root, part), join(folder, "copy/node_modules/@lumi/lumi", part), { recursive: true });
    }
    const at = (line) => ({ file: join(folder, "Lumi.yaml"), line, column: 5 });
    const pw = { key: "pw", value: "hush", secret: true, ...at(4) };
    const give = (module, config, providers) => {
        const input = JSON.stringify({ modules: { main: "main.js", none: "none.js", copy: "copy/main.js" }, environment: "dev", config, providers });
        const all = [command, module, "--workspace-stdin"];
        return spawnSync(process.execPath, all, { cwd: folder, encoding: "utf8", input });
    };
    const { stdout, stderr } = give("main", [{ key: "port", value: 80, ...at(3) }, pw]);
    assert.equal(stderr, "");
    const { config, resources } = JSON.parse(stdout);
    assert.deepEqual(config, { port: 80, pw: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "hush" } });
    assert.equal(Object.values(resources)[0].properties.provides.seen.value, "dev main 80 closed false");
    for (const [module, config, providers, message] of [
        ["main", [{ key: "port", value: "x", ...at(3) }, pw], {}, [
            'Lumi.yaml:3:5: error: port: expected a number, found a string "x"',
            "  main.js:3:16: note: the program declares its configuration here",
        ]],
        ["copy", [{ key: "port", value: "x", ...at(3) }], {}, [
            'Lumi.yaml:3:5: error: port: expected a number, found a string "x"',
            "  copy/main.js:2:6: note: the program declares its configuration here",
        ]],
        ["main", undefined, {}, [
            "main.js:3:16: error: lumi.config: 2 arguments are wrong",
            "  port: is required, but missing; add it to config in Lumi.yaml",
            "  pw: is required, but missing; add it to config in Lumi.yaml",
        ]],
        ["none", [{ ...pw, own: true }], {}, ["Lumi.yaml:4:5: error: pw: the program declares no configuration; declare it with lumi.config"]],
        ["main", [{ key: "port", value: 80, ...at(3) }, pw], { aws: at(9), gcp: at(10) }, [
            "main.js:4:6: error: aws: the package is also configured in Lumi.yaml; remove one of the two",
            "  Lumi.yaml:9:5: note: the other configuration is here",
        ]],
    ]) {
        const { status, stdout, stderr } = give(module, config, providers);
        assert.deepEqual([status, stdout, stderr], [1, "", message.map((line) => `${line}\n`).join("")]);
    }
    const { status, stderr: refusal } = run(folder, "--environment=dev", "--package=p", "main.js");
    const message = "lumi-program does not read configuration from Lumi.yaml; run the program with 'lumi plan'";
    assert.deepEqual([status, refusal], [1, `main.js:3:16: error: lumi.config: ${message}\n`]);
});

test("--check runs the compiler first", () => {
    const config = {
        compilerOptions: { target: "es2022", module: "nodenext", strict: true, types: [] },
        include: ["*.ts"],
    };
    const folder = project({
        "tsconfig.json": JSON.stringify(config),
        "main.ts": 'import { Thing } from "./thing.js";\nnew Thing("a");\n',
        "wrong.ts": 'const s: string = 7;\nconsole.log("ran");\n',
        "main.js": "",
        "other/main.ts": "export {};\n",
    });
    const args = [...names, "--check"];
    const missing = (name) => ({
        status: 2,
        stdout: "",
        stderr:
            "lumi-program: --check needs TypeScript, which is not installed:\n" +
            `  run "npm install --save-dev typescript" in ${join(folder, name)} or above\n`,
    });
    assert.deepEqual(run(folder, ...args, "other/main.ts"), missing("other"));
    fs.symlinkSync(join(root, "node_modules/typescript"), join(folder, "node_modules/typescript"));
    assert.deepEqual(run(folder, ...args, "wrong.ts"), {
        status: 1,
        stdout: "",
        stderr:
            "wrong.ts(1,7): error TS2322: Type 'number' is not assignable to type 'string'.\n",
    });
    assert.equal(run(folder, ...names, "wrong.ts").stderr, "ran\n", "tsx must not check types");
    fs.rmSync(join(folder, "wrong.ts"));
    const text = formatGraph(graph(["main.ts:2:1", { name: "a" }]));
    const link = `${folder} checked`;
    fs.symlinkSync(folder, link);
    folders.push(link);
    for (const cwd of [folder, link]) {
        assert.deepEqual(run(cwd, ...args, "main.ts"), { status: 0, stdout: text, stderr: "" });
    }
    for (const [program, message] of [
        ["other/main.ts", `${join(folder, "tsconfig.json")} does not include other/main.ts; add it to "include" or "files"`],
        ["main.js", "--check is for TypeScript, but main.js is JavaScript; pass the .ts file instead"],
    ]) {
        assert.deepEqual(run(folder, ...args, program), { status: 2, stdout: "", stderr: `lumi-program: ${message}\n` });
    }
    fs.writeFileSync(join(folder, "tsconfig.json"), '{ "compilerOptions": { "strcit": true } }');
    const { status, stderr } = run(folder, ...args, "main.ts");
    assert.equal(status, 1);
    assert.match(stderr, /^tsconfig\.json\(1,24\): error TS\d+: Unknown compiler option 'strcit'/);
    fs.rmSync(join(folder, "tsconfig.json"));
    assert.deepEqual(run(folder, ...args, "main.ts"), {
        status: 2,
        stdout: "",
        stderr: `lumi-program: --check needs a tsconfig.json in ${folder} or above; "npx tsc --init" writes one\n`,
    });
});

test("an invalid command line runs nothing", () => {
    const folder = project({ "main.js": "console.log('ran');", "notes.txt": "" });
    for (const [args, message] of [
        [[], 'which program? Run "lumi-program --help" for the usage.'],
        [["--env=dev", "main.js"], "unknown flag --env; did you mean --environment?"],
        [[...names, "-"], "no file -"],
        [[...names, "nowhere.ts"], "no file nowhere.ts"],
        [[...names, "node_modules"], "no file node_modules"],
        [[...names, "notes.txt"], "notes.txt is not a program: its name must end in .ts or .js"],
        [
            ["--environment=a b", "--package=p", "main.js"],
            'environment "a b": must be a word without colons or spaces',
        ],
        [
            ["--package=p", "main.js"],
            'which environment? Pass --environment=NAME, or write "environment: NAME" into a Lumi.yaml next to ' +
                "the program",
        ],
    ]) {
        assert.deepEqual(run(folder, ...args), { status: 2, stdout: "", stderr: `lumi-program: ${message}\n` });
    }
    const help = run(folder, "--help", "main.js");
    assert.deepEqual([help.status, help.stderr], [0, ""]);
    assert.match(help.stdout, /^lumi-program runs a program and prints the graph/);
    const { version } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8"));
    assert.deepEqual(run(folder, "--version"), { status: 0, stdout: `lumi-program ${version}\n`, stderr: "" });
});

test("flags after the program belong to lumi-program", () => {
    const folder = project({ "main.js": "console.log(...process.argv.slice(2));" });
    const args = ["main.js", "a", ...names, "--out=graph.json", "b", "--", "--out=c", "--"];
    assert.deepEqual(run(folder, ...args), { status: 0, stdout: "", stderr: "a b --out=c --\n" });
    assert.equal(fs.readFileSync(join(folder, "graph.json"), "utf8"), formatGraph(graph()));
});

test("secrets are not written to a terminal", () => {
    const folder = project({
        "plain.ts": 'import { Thing } from "./thing.js";\nnew Thing("a");\n',
        "secret.ts": 'import { Thing } from "./thing.js";\nnew Thing("a", { password: "hush" });\n',
    });
    const onTerminal = (...args) => {
        const terminal = "data:text/javascript,process.stdout.isTTY=true";
        const all = ["--import", terminal, command, ...names, ...args];
        const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: folder, encoding: "utf8" });
        return { status, stdout, stderr };
    };
    assert.deepEqual(onTerminal("secret.ts"), {
        status: 2,
        stdout: "",
        stderr:
            "lumi-program: the graph of secret.ts has secrets, and standard output is a terminal; " +
            "name a file with --out\n",
    });
    assert.deepEqual(onTerminal("plain.ts"), { status: 0, stdout: formatGraph(graph(["plain.ts:2:1", { name: "a" }])), stderr: "" });
    assert.deepEqual(onTerminal("--out=graph.json", "secret.ts"), { status: 0, stdout: "", stderr: "" });
    assert.match(fs.readFileSync(join(folder, "graph.json"), "utf8"), /"hush"/);
    assert.match(run(folder, ...names, "secret.ts").stdout, /"hush"/);
});

test("the error about a missing base package says where to install it", () => {
    const outside = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "lumi pack ")));
    folders.push(outside);
    const queue = join(outside, "queue.ts");
    fs.writeFileSync(join(outside, "package.json"), '{ "type": "module" }');
    fs.writeFileSync(queue, thing);
    const folder = project({ "main.ts": `import "${pathToFileURL(queue).href}";\n` });
    assert.deepEqual(run(folder, ...names, "main.ts"), {
        status: 1,
        stdout: "",
        stderr:
            `error: Cannot find package '@lumi/lumi' imported from ${queue}\n` +
            "  install @lumi/lumi in a folder above both that file and main.ts, so that " +
            "all of them share one copy\n",
    });
    const alone = join(outside, "alone.mjs");
    fs.writeFileSync(alone, 'import "@lumi/lumi";\n');
    assert.deepEqual(run(outside, ...names, "alone.mjs"), {
        status: 1,
        stdout: "",
        stderr:
            `error: Cannot find package '@lumi/lumi' imported from ${alone}\n` +
            "  install @lumi/lumi in a folder above alone.mjs, so that all of them share one copy\n",
    });
});

test("the output file is replaced atomically", () => {
    const folder = project({ "main.js": "", "wrong.js": "throw new Error('wrong');" });
    fs.writeFileSync(join(folder, "graph.json"), "old");
    assert.deepEqual(run(folder, ...names, "--out=graph.json", "wrong.js"), {
        status: 1,
        stdout: "",
        stderr: "wrong.js:1:7: error: wrong\n",
    });
    assert.equal(fs.readFileSync(join(folder, "graph.json"), "utf8"), "old");
    assert.deepEqual(run(folder, ...names, "--out=graph.json", "main.js"), { status: 0, stdout: "", stderr: "" });
    assert.deepEqual(JSON.parse(fs.readFileSync(join(folder, "graph.json"), "utf8")), graph());
    const before = fs.readdirSync(folder);
    assert.deepEqual(run(folder, ...names, "--out=no/where.json", "main.js"), {
        status: 2,
        stdout: "",
        stderr: "lumi-program: cannot write to no/where.json: ENOENT: no such file or directory\n",
    });
    fs.mkdirSync(join(folder, "folder"));
    assert.deepEqual(run(folder, ...names, "--out=folder", "main.js"), {
        status: 2,
        stdout: "",
        stderr: "lumi-program: cannot write to folder: not a regular file\n",
    });
    fs.rmdirSync(join(folder, "folder"));
    assert.deepEqual(fs.readdirSync(folder), before);
});

test("replacing a link's target keeps the link", { skip: process.platform === "win32" }, () => {
    const folder = project({ "main.js": "", "there.json": "old" });
    fs.symlinkSync("there.json", join(folder, "graph.json"));
    assert.deepEqual(run(folder, ...names, "--out=graph.json", "main.js"), { status: 0, stdout: "", stderr: "" });
    assert.equal(fs.readlinkSync(join(folder, "graph.json")), "there.json");
    assert.equal(fs.readFileSync(join(folder, "there.json"), "utf8"), formatGraph(graph()));

    fs.mkdirSync(join(folder, "deep/er"), { recursive: true });
    fs.symlinkSync("deep/er", join(folder, "short"));
    fs.symlinkSync("../next.json", join(folder, "short/first.json"));
    fs.symlinkSync("new.json", join(folder, "deep/next.json"));
    assert.deepEqual(run(folder, ...names, "--out=short/first.json", "main.js"), { status: 0, stdout: "", stderr: "" });
    assert.equal(fs.readlinkSync(join(folder, "short/first.json")), "../next.json");
    assert.equal(fs.readFileSync(join(folder, "deep/new.json"), "utf8"), formatGraph(graph()));

    fs.symlinkSync("loop.json", join(folder, "loop.json"));
    assert.deepEqual(run(folder, ...names, "--out=loop.json", "main.js"), {
        status: 2,
        stdout: "",
        stderr: "lumi-program: cannot write to loop.json: ELOOP: too many symbolic links encountered\n",
    });
});

test("only its owner can read a graph with secrets", { skip: process.platform === "win32" }, () => {
    const folder = project({
        "plain.ts": 'import { Thing } from "./thing.js";\nnew Thing("a");\n',
        "secret.ts": 'import { Thing } from "./thing.js";\nnew Thing("a", { password: "hush" });\n',
    });
    const inFolder = (name) => join(folder, name);
    const modeAfter = (program, name, target = name) => {
        const expected = new Set([...fs.readdirSync(folder), target]);
        assert.deepEqual(run(folder, ...names, `--out=${name}`, program), { status: 0, stdout: "", stderr: "" });
        assert.deepEqual(new Set(fs.readdirSync(folder)), expected, "no temporary file may remain");
        return (fs.statSync(inFolder(name)).mode & 0o777).toString(8);
    };
    const umask = process.umask(0o022);
    try {
        assert.equal(modeAfter("plain.ts", "plain.json"), "644");
        assert.equal(modeAfter("secret.ts", "secret.json"), "600");
        assert.equal(modeAfter("plain.ts", "secret.json"), "600", "the file must not become readable to more users");
        fs.writeFileSync(inFolder("team.json"), "old");
        fs.chmodSync(inFolder("team.json"), 0o664);
        assert.equal(modeAfter("plain.ts", "team.json"), "664");

        fs.writeFileSync(inFolder("shared.json"), "old", { mode: 0o644 });
        fs.linkSync(inFolder("shared.json"), inFolder("other.json"));
        assert.equal(modeAfter("secret.ts", "shared.json"), "600");
        assert.equal(fs.readFileSync(inFolder("other.json"), "utf8"), "old", "what others could read has no secrets");

        fs.writeFileSync(inFolder("there.json"), "old", { mode: 0o644 });
        fs.symlinkSync("there.json", inFolder("link.json"));
        assert.equal(modeAfter("secret.ts", "link.json"), "600");
        assert.equal(fs.readlinkSync(inFolder("link.json")), "there.json");
        assert.match(fs.readFileSync(inFolder("there.json"), "utf8"), /"hush"/);

        fs.symlinkSync("nowhere.json", inFolder("dangling.json"));
        assert.equal(modeAfter("secret.ts", "dangling.json", "nowhere.json"), "600");
    } finally {
        process.umask(umask);
    }
});

test("a large graph is not truncated", () => {
    const folder = project({
        "main.js":
            'import * as lumi from "@lumi/lumi";\n' +
            "class T extends lumi.Resource {\n" +
            '    constructor(args) { super("test:index:T", args, { text: lumi.required(lumi.string) }); }\n}\n' +
            'for (let i = 0; i < 2000; i++) new T({ text: "x".repeat(1000) });\n',
    });
    const { status, stdout } = spawnSync(process.execPath, [command, ...names, "main.js"], {
        cwd: folder,
        encoding: "utf8",
        maxBuffer: 2 ** 26,
    });
    assert.equal(status, 0);
    assert.equal(Object.keys(JSON.parse(stdout).resources).length, 2000);
});

test("a graph may contain resources of two copies of the package", () => {
    const folder = project({
        "other/package.json": '{ "type": "module" }',
        "main.js":
            'import * as ours from "@lumi/lumi";\n' +
            'import * as theirs from "./other/dist/index.js";\n' +
            "const make = (lumi, name, args) =>\n" +
            '    new (class extends lumi.NamedResource {})("test:index:Thing", name, args, {\n' +
            "        peer: lumi.optional(lumi.anyResource), text: lumi.optional(lumi.string),\n    });\n" +
            'make(ours, "b", { peer: make(ours, "c", {}) });\n' +
            'make(theirs, "a", { text: theirs.id(make(theirs, "d", {})) });\n' +
            "if (process.argv[2] === 'same') make(theirs, 'b', {});\n" +
            "if (process.argv[2] === 'mixed') make(theirs, 'e', { peer: make(ours, 'f', {}) });\n",
    });
    fs.cpSync(join(root, "dist"), join(folder, "other/dist"), { recursive: true });
    const { stdout } = run(folder, ...names, "main.js");
    assert.deepEqual(
        JSON.parse(stdout),
        graph(
            ["main.js:4:5", { name: "c" }],
            ["main.js:4:5", { name: "b", peer: { "#ref": urn("c") } }],
            ["main.js:4:5", { name: "d" }],
            ["main.js:4:5", { name: "a", text: { "#ref": urn("d"), property: "id" } }],
        ),
    );
    assert.deepEqual(run(folder, ...names, "main.js", "same"), {
        status: 1,
        stdout: "",
        stderr:
            'main.js:4:5: error: test:index:Thing "b": there is another resource of this type and name\n' +
            "  main.js:4:5: note: the other one is constructed here\n",
    });
    assert.deepEqual(run(folder, ...names, "main.js", "mixed"), {
        status: 1,
        stdout: "",
        stderr:
            'main.js:4:5: error: test:index:Thing "e": peer: expected a resource, found a resource not made by this copy ' +
            'of @lumi/lumi; "npm ls @lumi/lumi" shows all copies\n' +
            "  main.js:10:34: note: called from here\n",
    });
});

test("a signal stops a program that never ends", { skip: process.platform === "win32" }, async () => {
    const folder = project({
        "patient.js": "setInterval(() => {}, 1000); console.log('runs');",
        "stubborn.js":
            "setInterval(() => {}, 1000); process.on('SIGINT', () => console.log('no')); console.log('runs');",
    });
    for (const [program, signal, expected] of [
        ["patient.js", "SIGINT", "runs\nlumi-program: stopped by SIGINT before the program exited\n"],
        ["patient.js", "SIGTERM", "runs\nlumi-program: stopped by SIGTERM before the program exited\n"],
        ["stubborn.js", "SIGINT", "runs\nno\nlumi-program: stopped by SIGINT before the program exited\n"],
    ]) {
        const child = spawn(process.execPath, [command, ...names, "--out=graph.json", program], { cwd: folder });
        let stderr = "";
        child.stderr.setEncoding("utf8").on("data", (text) => {
            stderr += text;
            if (/(?:runs|no)\n$/.test(stderr)) {
                child.kill(signal);
            }
        });
        const status = await new Promise((resolve) => child.on("close", resolve));
        assert.deepEqual([status, stderr], [2, expected]);
        assert.ok(!fs.existsSync(join(folder, "graph.json")));
    }
});

test("a killed program has no graph", { skip: process.platform === "win32" }, () => {
    const folder = project({ "main.js": "process.kill(process.pid, 'SIGKILL');" });
    assert.deepEqual(run(folder, ...names, "main.js"), {
        status: 2,
        stdout: "",
        stderr: "lumi-program: the program was killed by SIGKILL\n",
    });
});

test("messages contain no secrets", () => {
    for (const lines of [
        ['new Thing("a", { password: "hush", text: 5 as never });'],
        ['const a = new Thing("a", { password: "hush" });', "throw a;"],
        ['const a = new Thing("a", { password: "hush" });', "console.log(a); throw { a };"],
        ['const a = new Thing("a", { password: "hush" });', 'new Thing("a", { password: "hush" });'],
        ['const a = new Thing("a");', 'Object.assign(a, { password: { hush: "hush" } });'],
        ['new Thing("a", { password: "hush\\ud800" });'],
    ]) {
        const { status, stdout, stderr } = runMain(lines);
        assert.deepEqual([status, stdout], [1, ""]);
        assert.match(stderr, /test:index:Thing/);
        assert.doesNotMatch(stderr, /hush/);
    }
});

test("only the command imports Node modules", () => {
    const seen = new Set();
    const visit = (url) => {
        if (!seen.has(url.href)) {
            seen.add(url.href);
            for (const [, imported] of fs.readFileSync(url, "utf8").matchAll(/\bfrom "([^"]+)"|\bimport\("/g)) {
                assert.match(imported, /^\.\//, `${url} imports ${imported}`);
                visit(new URL(imported, url));
            }
        }
    };
    visit(new URL("../dist/index.js", import.meta.url));
    assert.ok(seen.size > 10);
});
