import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Failure, messageOf } from "./failure.js";

/**
 * Writes a text to standard output if `out` is `-`, or replaces the file atomically. If `secret` is set, only the
 * file's owner may read it. Throws a `Failure` if writing fails.
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
 * Replaces a file atomically. If it is a symbolic link, replaces the link's target, which may be missing. Throws if it
 * is not a regular file but, for instance, /dev/null.
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
        // "wx" fails if the file exists, since an existing file would keep its mode.
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

/** Returns a path with symbolic links resolved. Unlike realpathSync, the target need not exist. */
function targetOf(path: string): string {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? targetOf(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
}
