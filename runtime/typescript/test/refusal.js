import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { EvaluationError } from "../dist/index.js";

/** Returns the messages of a program's EvaluationError, each followed by the source line at its position. */
export async function refusal(evaluation) {
    const error = await evaluation.then(() => assert.fail("expected an error"), (error) => error);
    assert.ok(error instanceof EvaluationError, error);
    return error.problems.flatMap(({ message, position, notes = [] }) => [
        `error: ${message}`,
        ...source(position),
        ...notes.flatMap((note) => [`  note: ${note.message}`, ...source(note.position)]),
    ]);
}

function source(position) {
    assert.ok(position, "every problem must have a position");
    const line = readFileSync(position.file, "utf8").split("\n")[position.line - 1];
    return [`  in: ${line.slice(position.column - 1)}`];
}
