// Type checking for the flag --check.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";

import { Failure } from "./failure.js";

const standardError = 2;

/**
 * Runs the TypeScript compiler on the program's project and returns whether it succeeds. The compiler prints errors to
 * standard error. Throws a `Failure` if the program is not TypeScript or the project does not include it.
 */
export function check(program: string, file: string): boolean {
    if (/^\.[cm]?js$/.test(extname(file))) {
        throw new Failure(`--check is for TypeScript, but ${program} is JavaScript; pass the .ts file instead`);
    }
    const compiler = compilerOf(file);
    const project = projectOf(dirname(file));
    const { stdout } = run(compiler, project, "--listFilesOnly", "pipe");
    if (!stdout.split(/\r?\n/).some((name) => name !== "" && isSame(resolve(name), file))) {
        // If the configuration is invalid, let the compiler print the error.
        if (!run(compiler, project, "--noEmit", standardError).ok) {
            return false;
        }
        throw new Failure(`${project} does not include ${program}; add it to "include" or "files"`);
    }
    return run(compiler, project, "--noEmit", standardError).ok;
}

/** Returns the path of the TypeScript compiler that is installed for a file. Throws a `Failure` if there is none. */
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

/** Returns the path of the `tsconfig.json` in a folder or its nearest parent. Throws a `Failure` if there is none. */
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

/** Runs the compiler. Its output is written to standard error or, for `"pipe"`, returned as `stdout`. */
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
