#!/usr/bin/env node
// The command lumi-program. It runs the program in another process and redirects that process's standard output to
// standard error, so that output of the program or its children never mixes with the graph.

import { spawn } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, relative, resolve } from "node:path";
import type { Writable } from "node:stream";
import { json } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type Names, nameProblem } from "../names.js";
import { didYouMean } from "../suggest.js";
import { version } from "../version.js";
import { secretSignature } from "../wire.js";
import { check } from "./check.js";
import { Failure } from "./failure.js";
import { type Flags, parseFlags, usage } from "./flags.js";
import { type Configuration, type Workspace, readWorkspace } from "./workspace.js";
import { write } from "./write.js";

try {
    process.exitCode = await main(process.argv.slice(2));
} catch (error) {
    process.stderr.write(`lumi-program: ${error instanceof Failure ? error.message : (error as Error).stack}\n`);
    process.exitCode = error instanceof Failure ? error.exitCode : 2;
}

/** Runs the command and returns its exit code. Throws a `Failure` if the command fails with a message for the user. */
async function main(args: readonly string[]): Promise<number> {
    const flags = parseFlags(args);
    if (flags.help || flags.version) {
        await write("-", flags.help ? usage : `lumi-program ${version}\n`, false);
        return 0;
    }
    const target = targetOf(flags, flags.workspaceStdin ? await receiveWorkspace() : undefined);
    const { program, file, workspace } = target;
    const loader = loaderOf(target);
    const names = namesOf(flags, target);
    if (flags.check && !check(program, file)) {
        return 1; // The compiler has printed the errors.
    }
    // Node resolves symbolic links in the names of files, so the folder's must be resolved, too.
    const folder = realpathSync(dirname(workspace.file ?? file));
    const stdin = flags.workspaceStdin ? "ignore" : "inherit";
    const { config, providers } = flags.workspaceStdin ? workspace : {};
    const graph = await evaluate(loader, [JSON.stringify(names), folder, file, ...flags.arguments], stdin, { config, providers });
    if (graph === undefined) {
        return 1; // The program's process has printed the errors.
    }
    const secret = graph.includes(secretSignature);
    if (secret && flags.out === "-" && process.stdout.isTTY) {
        throw new Failure(
            `the graph of ${program} has secrets, and standard output is a terminal; name a file with --out`,
        );
    }
    await write(flags.out, graph, secret);
    return 0;
}

/** The program to run. */
interface Target {
    /** The program's name in messages. */
    readonly program: string;
    readonly file: string;
    readonly workspace: Workspace;
    /** The module of the program in the workspace, or `undefined` unless there is exactly one. */
    readonly module: string | undefined;
}

/**
 * Reads the workspace from standard input. lumi writes it, and runs this command in the folder of `Lumi.yaml`. Throws a
 * `Failure` if the input is invalid.
 */
async function receiveWorkspace(): Promise<Workspace> {
    const workspace = (await json(process.stdin).catch(() => undefined)) as Workspace | null | undefined;
    const isText = (value: unknown) => value === undefined || typeof value === "string";
    if (
        typeof workspace !== "object" ||
        workspace === null ||
        ![workspace.package, workspace.environment, ...Object.values(workspace.modules ?? {})].every(isText)
    ) {
        // Do not quote the input, which may contain secrets.
        throw new Failure("--workspace-stdin is for lumi: standard input is not a workspace in JSON");
    }
    return { config: [], ...workspace, file: resolve("Lumi.yaml") };
}

/**
 * Returns the program named on the command line by its path or module. Reads the nearest `Lumi.yaml` unless a workspace
 * is given. Throws a `Failure` if there is no such program.
 */
function targetOf({ program }: Flags, given: Workspace | undefined): Target {
    if (program !== undefined && /[^a-z0-9_/-]/.test(program)) {
        const file = resolve(program);
        const workspace = given ?? readWorkspace(dirname(file));
        const { modules = {} } = workspace;
        const names = Object.keys(modules).filter((name) => programOf(workspace, name) === file);
        return { program, file, workspace, module: names.length === 1 ? names[0] : undefined };
    }
    const workspace = given ?? readWorkspace(process.cwd());
    const { file = "", modules = {}, models = {} } = workspace;
    const names = Object.keys(modules).sort();
    const module = program ?? (names.length === 1 ? names[0] : undefined);
    if (module === undefined) {
        const which = names.length === 0 ? 'program? Run "lumi-program --help" for the usage.' : `module? ${file} has `;
        throw new Failure(`which ${which}${names.join(", ")}`);
    }
    if (Object.hasOwn(models, module)) {
        throw new Failure(`${module} is an object model in ${file}, not a program; lumi evaluates it: lumi plan ${module}`);
    }
    if (names.length === 0) {
        throw new Failure(`no file ${module}${file && `, and ${file} has no modules`}`);
    }
    if (!Object.hasOwn(modules, module)) {
        throw new Failure(`${file} has no module ${module}${didYouMean(module, names) || `; it has ${names.join(", ")}`}`);
    }
    const found = programOf(workspace, module);
    if (!statSync(found, { throwIfNoEntry: false })?.isFile()) {
        throw new Failure(`no file ${found}, which ${file} names as the program of ${module}`);
    }
    return { program: relative(process.cwd(), found), file: found, workspace, module };
}

function programOf({ file = "", modules = {} }: Target["workspace"], module: string): string {
    return resolve(dirname(file), modules[module]!);
}

/** Returns the arguments for Node to load the program. Throws a `Failure` if it cannot be loaded. */
function loaderOf({ program, file }: Target): readonly string[] {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
        throw new Failure(`no file ${program}`);
    }
    const extension = extname(file);
    if (/^\.[cm]?js$/.test(extension)) {
        return [];
    }
    if (!/^\.[cm]?ts$/.test(extension)) {
        throw new Failure(`${program} is not a program: its name must end in .ts or .js`);
    }
    try {
        return ["--import", pathToFileURL(createRequire(file).resolve("tsx")).href];
    } catch {
        throw new Failure(
            `${program} is TypeScript and needs tsx, which is not installed:\n` +
                `  run "npm install --save-dev tsx" in ${dirname(file)} or above;\n` +
                "  or compile the program with tsc and pass the .js file that tsc writes",
        );
    }
}

/** Returns names from the flags or the workspace. Throws a `Failure` if one is missing or invalid. */
function namesOf(flags: Flags, { program, workspace, module }: Target): Names {
    const { file, environments } = workspace;
    const nameOf = (key: "environment" | "package", known: string | undefined): string => {
        const name = flags[key] ?? known;
        if (name === undefined) {
            const listed = key === "package" && workspace.modules !== undefined;
            const where = file ?? "a Lumi.yaml next to the program";
            const what = listed ? `name ${program} in modules of ${file}` : `write "${key}: NAME" into ${where}`;
            throw new Failure(`which ${key}? Pass --${key}=NAME, or ${what}`);
        }
        return name;
    };
    const environment = nameOf("environment", workspace.environment);
    const names = { environment, package: nameOf("package", module ?? workspace.package), module: flags.module };
    const problem = nameProblem(names);
    if (problem !== undefined) {
        throw new Failure(problem);
    }
    if (environments !== undefined && !environments.includes(environment)) {
        const help = didYouMean(environment, environments) || `; it has ${environments.join(", ")}`;
        throw new Failure(`${file} has no environment ${environment}${help}`);
    }
    return names;
}

/**
 * Runs `host.js` in a new process and returns the graph, or `undefined` if the program is invalid. Throws a `Failure`
 * if the process is killed or cannot run.
 */
function evaluate(
    loader: readonly string[],
    args: readonly string[],
    stdin: "ignore" | "inherit",
    configuration: Configuration,
): Promise<string | undefined> {
    const host = fileURLToPath(new URL("host.js", import.meta.url));
    const standardError = 2;
    const child = spawn(
        process.execPath,
        [...process.execArgv, "--enable-source-maps", ...loader, host, ...args],
        { stdio: [stdin, standardError, "inherit", "pipe", "pipe"] },
    );
    const input = child.stdio[4] as Writable;
    input.on("error", () => {}); // The process exited, which is reported below.
    input.end(JSON.stringify(configuration));
    const parts: Buffer[] = [];
    child.stdio[3]!.on("data", (part: Buffer) => parts.push(part));
    // Forward the first signal, which the program may ignore. On the second, kill it.
    let signaled: NodeJS.Signals | undefined;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.on(signal, () => {
            child.kill(signaled === undefined ? signal : "SIGKILL");
            signaled ??= signal;
        });
    }
    return new Promise((accept, refuse) => {
        child.on("error", (error) => refuse(new Failure(`cannot run Node: ${error.message}`)));
        child.on("close", (code, signal) => {
            if (signaled !== undefined) {
                refuse(new Failure(`stopped by ${signaled} before the program exited`));
            } else if (code === null) {
                refuse(new Failure(`the program was killed by ${signal}`));
            } else if (code > 1) {
                refuse(new Failure(`Node exited with code ${code}`));
            } else {
                accept(code === 0 ? Buffer.concat(parts).toString() : undefined);
            }
        });
    });
}
