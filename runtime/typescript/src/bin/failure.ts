/** What ends the command with a message for its user, and an exit code: 1 where the program is wrong, otherwise 2. */
export class Failure extends Error {
    readonly exitCode: 1 | 2;

    constructor(message: string, exitCode: 1 | 2 = 2) {
        super(message);
        this.exitCode = exitCode;
    }
}

/** Returns what an error says, in one line if it can. */
export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
