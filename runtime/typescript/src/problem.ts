import { compare } from "./names.js";
import type { Position } from "./position.js";

/** An error in a program. */
export interface Problem {
    readonly message: string;
    /** The position, if known. */
    readonly position?: Position | undefined;
    /** Related messages and positions. */
    readonly notes?: readonly { readonly message: string; readonly position?: Position | undefined }[];
}

/** An error that lists all problems of a program. */
export class EvaluationError extends Error {
    readonly problems: readonly Problem[];

    constructor(problems: readonly Problem[]) {
        super(problems.map((problem) => format(problem)).join("\n"));
        this.name = "EvaluationError";
        this.problems = problems;
    }
}

/** Returns problems sorted by position. Problems without a position are first. */
export function inOrder(problems: readonly Problem[]): Problem[] {
    return [...problems].sort(({ position: a }, { position: b }) =>
        compare(a?.file ?? "", b?.file ?? "") || (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0));
}

/** Formats a problem like a compiler's error. `rename` maps a file to its displayed name. */
export function format(problem: Problem, rename: (file: string) => string = (file) => file): string {
    const place = (position: Position | undefined) =>
        position === undefined ? "" : `${rename(position.file)}:${position.line}:${position.column}: `;
    const lines = [`${place(problem.position)}error: ${problem.message}`];
    for (const { message, position } of problem.notes ?? []) {
        lines.push(`  ${place(position)}note: ${message}`);
    }
    return lines.join("\n");
}
