/**
 * An error that ends the command. Its message is for the user. The exit code is 1 if the program is invalid, else 2.
 */
export class Failure extends Error {
    readonly exitCode: 1 | 2;

    constructor(message: string, exitCode: 1 | 2 = 2) {
        super(message);
        this.exitCode = exitCode;
    }
}

/** Returns the message of a file system error without the system call and its paths, which may be temporary. */
export function messageOf(error: unknown): string {
    return (error as Error).message.replace(/, \w+(?: '.*)?$/s, "");
}
