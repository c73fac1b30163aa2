#!/usr/bin/env node
// The command line. It runs the program in a process of its own, whose standard output is this one's standard error:
// whatever the program prints, or a program that it starts, never mixes with the graph.

import { spawn } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type Names, nameProblem } from "../names.js";
import { version } from "../version.js";
import { secretSignature } from "../wire.js";
import { Failure } from "./failure.js";
import { type Flags, parseFlags, usage } from "./flags.js";
import { type Manifest, readManifest } from "./manifest.js";
import { write } from "./write.js";

try {
    process.exitCode = await main(process.argv.slice(2));
} catch (error) {
    process.stderr.write(`lumi-program: ${error instanceof Failure ? error.message : (error as Error).stack}\n`);
    process.exitCode = error instanceof Failure ? error.exitCode : 2;
}

/** Runs the command, and returns its exit code. Throws a `Failure` where there is something to say. */
async function main(args: readonly string[]): Promise<number> {
    const flags = parseFlags(args);
    if (flags.help || flags.version) {
        await write("-", flags.help ? usage : `lumi-program ${version}\n`, false);
        return 0;
    }
    const [program, ...rest] = flags.command;
    if (program === undefined) {
        throw new Failure('which program? Run "lumi-program --help" for the usage.');
    }
    const file = resolve(program);
    const loader = loaderOf(program, file);
    const manifest = readManifest(dirname(file));
    const names = namesOf(flags, manifest);
    // Node knows files by the names that no symbolic links lead to.
    const workspace = realpathSync(dirname(manifest.file ?? file));
    const graph = await evaluate(loader, [JSON.stringify(names), workspace, file, ...rest]);
    if (graph === undefined) {
        return 1; // The program's process has said why.
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

/** Returns the arguments of Node that make it run the program. */
function loaderOf(program: string, file: string): readonly string[] {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
        throw new Failure(`there is no file ${program}`);
    }
    const extension = extname(file);
    if (/^\.[cm]?js$/.test(extension)) {
        return [];
    }
    if (!/^\.[cm]?ts$/.test(extension)) {
        throw new Failure(`${program} is no program: its name must end in .ts or .js`);
    }
    try {
        return ["--import", pathToFileURL(createRequire(file).resolve("tsx")).href];
    } catch {
        throw new Failure(
            `${program} is TypeScript, and tsx, which runs it, is not installed:\n` +
                `  run "npm install --save-dev tsx" in ${dirname(file)} or above;\n` +
                "  or compile the program with tsc, and name the .js file that tsc writes",
        );
    }
}

/** Puts the names of the flags and of the manifest together. */
function namesOf(flags: Flags, manifest: Manifest): Names {
    const nameOf = (key: "environment" | "package"): string => {
        const name = flags[key] ?? manifest[key];
        if (name === undefined) {
            const where = manifest.file ?? "a file Lumi.yaml beside the program";
            throw new Failure(`which ${key}? Pass --${key}=NAME, or write "${key}: NAME" into ${where}`);
        }
        return name;
    };
    const names = { environment: nameOf("environment"), package: nameOf("package"), module: flags.module };
    const problem = nameProblem(names);
    if (problem !== undefined) {
        throw new Failure(problem);
    }
    return names;
}

/** Runs host.ts with arguments, and returns the graph, or `undefined` if the program is wrong. */
function evaluate(loader: readonly string[], args: readonly string[]): Promise<string | undefined> {
    const host = fileURLToPath(new URL("host.js", import.meta.url));
    const standardError = 2;
    const child = spawn(
        process.execPath,
        [...process.execArgv, "--enable-source-maps", ...loader, host, ...args],
        { stdio: ["inherit", standardError, "inherit", "pipe"] },
    );
    const parts: Buffer[] = [];
    child.stdio[3]!.on("data", (part: Buffer) => parts.push(part));
    // The first signal asks the program to end, which it may refuse; the second one does not ask.
    let signalled: NodeJS.Signals | undefined;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.on(signal, () => {
            child.kill(signalled === undefined ? signal : "SIGKILL");
            signalled ??= signal;
        });
    }
    return new Promise((accept, refuse) => {
        child.on("error", (error) => refuse(new Failure(`cannot run Node: ${error.message}`)));
        child.on("close", (code, signal) => {
            if (signalled !== undefined) {
                refuse(new Failure(`stopped by ${signalled} before the program had ended`));
            } else if (code === null) {
                refuse(new Failure(`the program was ended by ${signal}`));
            } else if (code > 1) {
                refuse(new Failure(`Node ended with code ${code}`));
            } else {
                accept(code === 0 ? Buffer.concat(parts).toString() : undefined);
            }
        });
    });
}
