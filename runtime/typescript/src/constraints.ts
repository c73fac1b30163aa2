// Constraints on values. internal/constraint is the same in Go; both are tested with its testdata/cases.json, message by
// message.

/** What an IDL says about the values of a type beyond their kind. */
export interface Constraints {
    readonly min?: number;
    readonly max?: number;
}

/** Takes what is wrong with a value. */
export type Fail = (message: string) => void;

/** Checks a number. The messages do not quote a secret. */
export function checkNumber(limits: Constraints, value: number, secret: boolean, fail: Fail): void {
    const found = `, found ${secret ? "another number" : String(value)}`;
    if (limits.min !== undefined && value < limits.min) {
        fail(`must be at least ${limits.min}${found}`);
    }
    if (limits.max !== undefined && value > limits.max) {
        fail(`must be at most ${limits.max}${found}`);
    }
}
