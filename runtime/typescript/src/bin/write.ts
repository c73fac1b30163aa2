import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Failure, messageOf } from "./failure.js";

/** Writes a text to a file, which is replaced as a whole, or to standard output, which is called `-`. */
export async function write(out: string, text: string): Promise<void> {
    try {
        if (out === "-") {
            await pipeline(Readable.from([text]), process.stdout, { end: false });
        } else {
            replace(out, text);
        }
    } catch (error) {
        throw new Failure(`cannot write to ${out === "-" ? "standard output" : out}: ${messageOf(error)}`);
    }
}

/** Replaces a file. Of a link it replaces what the link leads to, and of devices nothing: /dev/null would be lost. */
function replace(out: string, text: string): void {
    const found = statSync(out, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) {
        throw new Error("it is not a regular file");
    }
    const target = found === undefined ? out : realpathSync(out);
    const temporary = `${target}.${process.pid}.tmp`;
    try {
        writeFileSync(temporary, text);
        renameSync(temporary, target);
    } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
    }
}
