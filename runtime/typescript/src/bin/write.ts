import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Failure, messageOf } from "./failure.js";

/**
 * Writes a text to a file, replacing the file atomically, or to standard output for `-`. Files with secrets are
 * readable only by their owner.
 */
export async function write(out: string, text: string, secret: boolean): Promise<void> {
    try {
        if (out === "-") {
            await pipeline(Readable.from([text]), process.stdout, { end: false });
        } else {
            replace(out, text, secret);
        }
    } catch (error) {
        throw new Failure(`cannot write to ${out === "-" ? "standard output" : out}: ${messageOf(error)}`);
    }
}

/**
 * Replaces a file. A link's target, which may be missing, is replaced instead of the link. Devices such as /dev/null
 * are rejected.
 */
function replace(out: string, text: string, secret: boolean): void {
    const found = statSync(out, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) {
        throw new Error("not a regular file");
    }
    const target = targetOf(out);
    const mode = secret ? 0o600 : 0o666;
    const temporary = `${target}.${randomBytes(8).toString("hex")}.tmp`;
    try {
        // An existing file would keep its mode, so "wx" requires a new one.
        writeFileSync(temporary, text, { mode, flag: "wx" });
        if (found !== undefined && !secret) {
            chmodSync(temporary, found.mode & 0o777);
        }
        renameSync(temporary, target);
    } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
    }
}

/** Follows symbolic links. realpathSync fails if the target does not exist yet. */
function targetOf(path: string): string {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? targetOf(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
}
