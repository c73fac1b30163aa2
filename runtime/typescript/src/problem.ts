import type { Position } from "./position.js";

/** Something that is wrong with a program. */
export interface Problem {
    readonly message: string;
    /** Where, if that is known. */
    readonly position?: Position | undefined;
    /** What else there is to see, and where. */
    readonly notes?: readonly { readonly message: string; readonly position?: Position | undefined }[];
}

/** Thrown where a program does not evaluate to a graph. It has all that is wrong with the program. */
export class EvaluationError extends Error {
    readonly problems: readonly Problem[];

    constructor(problems: readonly Problem[]) {
        super(problems.map((problem) => format(problem)).join("\n"));
        this.name = "EvaluationError";
        this.problems = problems;
    }
}

/** Puts a problem in words, as compilers do. Rename says how to call a file. */
export function format(problem: Problem, rename: (file: string) => string = (file) => file): string {
    const place = (position: Position | undefined) =>
        position === undefined ? "" : `${rename(position.file)}:${position.line}:${position.column}: `;
    const lines = [`${place(problem.position)}error: ${problem.message}`];
    for (const { message, position } of problem.notes ?? []) {
        lines.push(`  ${place(position)}note: ${message}`);
    }
    return lines.join("\n");
}
