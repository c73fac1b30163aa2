// The type check of --check.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";

import { Failure } from "./failure.js";

const standardError = 2;

/**
 * Runs the TypeScript compiler on the program's project. Prints errors to standard error and returns whether there
 * were none. Throws a `Failure` if the project does not include the program.
 */
export function check(program: string, file: string): boolean {
    if (/^\.[cm]?js$/.test(extname(file))) {
        throw new Failure(`--check is for TypeScript, but ${program} is JavaScript; pass the .ts file instead`);
    }
    const compiler = compilerOf(file);
    const project = projectOf(dirname(file));
    const { stdout } = run(compiler, project, "--listFilesOnly", "pipe");
    if (!stdout.split(/\r?\n/).some((name) => name !== "" && isSame(resolve(name), file))) {
        // The configuration may be invalid, in which case the compiler prints an error.
        if (!run(compiler, project, "--noEmit", standardError).ok) {
            return false;
        }
        throw new Failure(`${project} does not include ${program}; add it to "include" or "files"`);
    }
    return run(compiler, project, "--noEmit", standardError).ok;
}

/** Returns the path of the compiler installed for a file. */
function compilerOf(file: string): string {
    let manifest: string;
    try {
        manifest = createRequire(file).resolve("typescript/package.json");
    } catch {
        throw new Failure(
            "--check needs TypeScript, which is not installed:\n" +
                `  run "npm install --save-dev typescript" in ${dirname(file)} or above`,
        );
    }
    const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: { tsc: string } };
    return join(dirname(manifest), bin.tsc);
}

/** Returns the nearest tsconfig.json, in a folder or one of its parents. */
function projectOf(folder: string, start = folder): string {
    const file = join(folder, "tsconfig.json");
    if (existsSync(file)) {
        return file;
    }
    const parent = dirname(folder);
    if (parent === folder) {
        throw new Failure(`--check needs a tsconfig.json in ${start} or above; "npx tsc --init" writes one`);
    }
    return projectOf(parent, start);
}

/** Runs the compiler, whose output goes to standard error or is returned. */
function run(compiler: string, project: string, flag: string, output: "pipe" | 2): { ok: boolean; stdout: string } {
    const args = [compiler, "--project", project, flag];
    const { status, signal, stdout, error } = spawnSync(process.execPath, args, {
        stdio: ["ignore", output, standardError],
        encoding: "utf8",
        maxBuffer: 1 << 28,
    });
    if (status === null) {
        throw new Failure(error === undefined ? `tsc was killed by ${signal}` : `cannot run tsc: ${error.message}`);
    }
    return { ok: status === 0, stdout: stdout ?? "" };
}

function isSame(a: string, b: string): boolean {
    return a === b || (existsSync(a) && realpathSync(a) === realpathSync(b));
}
