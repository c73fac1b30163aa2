// The process that runs a program: node host.js NAMES WORKSPACE PROGRAM [ARGUMENT …]. It writes errors to standard
// error and the graph to file descriptor 3. It reads the configuration from file descriptor 4.

import { closeSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

import { formatGraph } from "../canonical.js";
import type { Names } from "../names.js";
import { type Position, positionOf, positionsOf } from "../position.js";
import { EvaluationError, type Problem, format } from "../problem.js";
import { Evaluation } from "../program.js";
import type { Configuration } from "./workspace.js";

const standardError = 2;
/** The file descriptor to which the graph is written. */
const output = 3;
/** The file descriptor with the configuration, which may contain secrets. It is closed before the program runs. */
const input = 4;

const [names, workspace, program] = process.argv.splice(2, 3) as [string, string, string];
// Arguments look as if Node had been called with the program.
process.argv[1] = program;

const nameOf = (file: string): string => relative(workspace, file).replaceAll(sep, "/");
const { config, providers } = JSON.parse(readFileSync(input, "utf8")) as Configuration;
closeSync(input);
const evaluation = new Evaluation(JSON.parse(names) as Names, config, providers, nameOf);
let graph: string | undefined;
let loaded = false;
let failed = false;

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
// The event loop is empty, so no more resources can be constructed.
process.once("beforeExit", () => {
    if (!loaded) {
        report([{ message: `${shorten(program)}: a top-level await never settles` }]);
        return;
    }
    try {
        graph = formatGraph(evaluation.end());
    } catch (error) {
        fail(error);
    }
});
// Write the graph at exit, when the program can no longer fail.
process.on("exit", (code) => {
    if (failed) {
        process.exitCode = 1;
    } else if (code !== 0) {
        report([{ message: `${shorten(program)}: the program exited with code ${code}` }]);
    } else if (graph === undefined) {
        report([{ message: `${shorten(program)}: the program called process.exit before it had been evaluated` }]);
    } else {
        writeFileSync(output, graph);
    }
});

import(pathToFileURL(program).href).then(() => (loaded = true), fail);

/** Reports the program's error and exits. */
function fail(error: unknown): void {
    evaluation.abandon();
    if (isEvaluationError(error)) {
        report(error.problems);
    } else if (error instanceof SyntaxError && positionOf(error.stack) === undefined) {
        // Throw the error again, uncaught, since only Node knows its position and prints it.
        failed = true;
        process.off("uncaughtException", fail);
        process.nextTick(() => {
            throw error;
        });
        return;
    } else {
        report(problemsOf(error));
    }
    process.exit(1);
}

/** Reports whether an error is an EvaluationError of any copy of this package. */
function isEvaluationError(error: unknown): error is EvaluationError {
    return error instanceof Error && error.name === "EvaluationError" && "problems" in error;
}

function problemsOf(error: unknown): readonly Problem[] {
    if (!(error instanceof Error)) {
        return [{ message: `the program threw ${inspect(error)}, which has no position; throw an Error instead` }];
    }
    const { name, message, stack } = error;
    if (name === "TransformError") {
        return syntaxProblems(message);
    }
    const importer = /^Cannot find package '@lumi\/lumi' imported from (.+)$/.exec(message)?.[1];
    if (importer !== undefined) {
        return [{ message: `${message}\n  ${whereToInstall(importer)}` }];
    }
    const said = name === "Error" || name === "ArgumentError" ? message : `${name}: ${message}`;
    const [position, ...callers] = linesOf(positionsOf(stack));
    return [{ message: said, position, notes: callers.map((position) => ({ message: "called from here", position })) }];
}

/**
 * Returns advice on where to install the base package. Node searches the folder of the importing file and its parents,
 * which fails for a generated package outside the program's project.
 */
function whereToInstall(importer: string): string {
    const shared = importer === program ? shorten(program) : `both that file and ${shorten(program)}`;
    return `install @lumi/lumi in a folder above ${shared}, so that all of them share one copy`;
}

/** Returns positions without duplicates of the previous line. */
function linesOf(positions: readonly Position[]): readonly Position[] {
    return positions.filter(({ file, line }, i) => {
        const inner = positions[i - 1];
        return inner === undefined || inner.file !== file || inner.line !== line;
    });
}

/** Parses a message of tsx about syntax errors. Its columns start at 0. */
function syntaxProblems(message: string): readonly Problem[] {
    const lines = [...message.matchAll(/^(?<file>.+):(?<line>\d+):(?<column>\d+): ERROR: (?<message>.*)$/gm)];
    if (lines.length === 0) {
        return [{ message }];
    }
    return lines.map(({ groups }) => ({
        message: groups!["message"]!,
        position: { file: groups!["file"]!, line: Number(groups!["line"]), column: Number(groups!["column"]) + 1 },
    }));
}

function report(problems: readonly Problem[]): void {
    failed = true;
    process.exitCode = 1;
    say(problems.map((problem) => `${format(problem, shorten)}\n`).join(""));
}

/** Writes to standard error synchronously, since the process may be about to exit. */
function say(text: string): void {
    let rest = Buffer.from(text);
    while (rest.length > 0) {
        try {
            rest = rest.subarray(writeSync(standardError, rest));
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "EAGAIN") {
                return; // The reader has closed the pipe.
            }
            // The pipe is full. Wait for the reader.
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        }
    }
}

/** Returns the path of a file, relative to the working directory if it is inside. */
function shorten(file: string): string {
    const short = relative(process.cwd(), file);
    return short.startsWith("..") || isAbsolute(short) ? file : short;
}
